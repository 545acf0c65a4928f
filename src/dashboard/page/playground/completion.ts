/** A model's answer, from a whole completion or collected from the chunks of a stream. */
import {
  type Content,
  type ContentCall,
  chunkIn,
  completionIn,
  contentOf,
  createSum,
  type VendorCompletion,
} from '../../../chat/reader.js'

export interface AnswerContent extends Content {
  readonly id: string
  readonly model: string
  /** Empty until the model has reported why it stopped. */
  readonly finishReason: string
  readonly usage: { readonly prompt: number; readonly completion: number } | undefined
}

export type { ContentCall }

export const nothingSaid: AnswerContent = {
  id: '',
  model: '',
  text: '',
  reasoning: '',
  refusal: '',
  calls: [],
  finishReason: '',
  usage: undefined,
}

export const hasContent = ({ text, reasoning, refusal, calls }: Content) =>
  text !== '' || reasoning !== '' || refusal !== '' || calls.length > 0

/** Collects an answer. Ignores JSON that is not a completion, as a live platform may send anything. */
export function createGatherer() {
  const sum = createSum()
  return {
    chunk(json: unknown): AnswerContent {
      const chunk = chunkIn(json)
      if (chunk) sum.add(chunk)
      return answerContent(sum.completion())
    },
    whole(json: unknown): AnswerContent {
      const completion = completionIn(json)
      return completion ? answerContent(completion) : nothingSaid
    },
  }
}

export function contentIn(message: object): Content {
  const completion = completionIn({ choices: [{ index: 0, message }] })
  const [choice] = completion?.choices ?? []
  return choice ? contentOf(choice.message) : nothingSaid
}

function answerContent({ id, model, choices, usage }: VendorCompletion): AnswerContent {
  const [choice] = choices
  const content = choice ? contentOf(choice.message) : nothingSaid
  return {
    ...content,
    id: typeof id === 'string' ? id : '',
    model: typeof model === 'string' ? model : '',
    finishReason: choice?.finish_reason ?? '',
    usage: usageIn(usage ?? {}),
  }
}

function usageIn({ prompt_tokens: prompt, completion_tokens: completion }: Readonly<Record<string, unknown>>) {
  return typeof prompt === 'number' && typeof completion === 'number' ? { prompt, completion } : undefined
}
