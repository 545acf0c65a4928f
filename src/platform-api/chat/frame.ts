/** What stands around the words of every completion: its id, its time, its model and the marks of an event. */
import type { CompletionUsage } from '../../completions/completion.js'
import type { ChatRequest } from '../../completions/request.js'
import { promptTokens, type Tokenizer } from '../../completions/tokens/index.js'
import type { Paced, Reply } from '../../core/exchange.js'
import { createIds } from '../../core/random.js'
import type { UsageInput } from '../../replies/index.js'
import type { Spoken } from './trim.js'

/** The part of a reply that depends on its form. */
export type Form = Pick<Reply, 'contentType' | 'body' | 'framed' | 'sent' | 'again' | 'headers' | 'tokens'>

/** How a completion begins. */
export interface Opening {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
}

/** A stream in parts, not yet in a rhythm. */
export type Events = Pick<Paced, 'head' | 'before' | 'pieces' | 'after' | 'tail'>

/** Which back end made the answer, as OpenAI names it. There is only one here. */
export const FINGERPRINT = 'fp_standin'

// A proxy in between must neither keep nor collect a stream.
const streamHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no'] as const

/** What every stream leaves with. Some clients, such as Python's requests, read text without a charset as Latin-1. */
export const streamForm = { contentType: 'text/event-stream; charset=utf-8', headers: streamHeaders } as const

const nextId = createIds('chatcmpl-', 12)

export const openingOf = ({ model }: ChatRequest): Opening => ({
  id: nextId(),
  created: Math.floor(Date.now() / 1000),
  model,
})

/** How every object of a completion begins. */
export const start = ({ id, created, model }: Opening, object: string) =>
  `{"id":"${id}","object":"${object}","created":${created},"model":${JSON.stringify(model)},`

/** What stands before and behind the choice of each event, and what ends the stream; `usage` is JSON, where it was asked for. */
export function frame(opening: Opening, usage: string | undefined) {
  const before = `data: ${start(opening, 'chat.completion.chunk')}"system_fingerprint":"${FINGERPRINT}","choices":[`
  // With include_usage every chunk has the key, and it is null but in the last (OpenAI's reference, "stream_options").
  const after = usage === undefined ? ']}\n\n' : '],"usage":null}\n\n'
  const total = usage === undefined ? '' : `${before}],"usage":${usage}}\n\n`
  return { before, after, end: `${total}data: [DONE]\n\n` }
}

/** A stream without a rhythm. */
export function inOnePiece({ head, before, pieces, after, tail }: Events): string {
  const middle = pieces.length === 0 ? '' : before + pieces.join(after + before) + after
  return head + middle + tail
}

/**
 * A cost that is counted when it is asked for: a stream without usage does not wait for a long prompt to be read.
 * A class, because each answer has one, and an object that brings its own getters takes ten times as long to make.
 */
export class Cost {
  private counted: number | undefined

  constructor(
    private readonly request: ChatRequest,
    private readonly named: UsageInput | undefined,
    private readonly tokenizer: Tokenizer,
    private readonly ofAnswer: { readonly tokens: number },
  ) {}

  get prompt(): number {
    this.counted ??= this.named?.promptTokens ?? promptTokens(this.request, this.tokenizer)
    return this.counted
  }

  get completion(): number {
    return this.ofAnswer.tokens
  }
}

/** The tokens of all choices. Thoughts count as well, also those with only their number given. */
export function completionTokens(choices: readonly Spoken[], named: UsageInput = {}): number {
  const spoken = choices.reduce((sum, { tokens }) => sum + tokens.spoken, 0)
  return named.completionTokens ?? spoken + reasoningTokens(choices, named)
}

function reasoningTokens(choices: readonly Spoken[], { reasoningTokens }: UsageInput): number {
  return reasoningTokens ?? choices.reduce((sum, { tokens }) => sum + tokens.reasoning, 0)
}

const detailsOf = (cached_tokens: number, reasoning_tokens: number) => ({
  prompt_tokens_details: { cached_tokens, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
})

/** The usage of a completion. */
export function usageOf(
  { prompt, completion }: Cost,
  choices: readonly Spoken[],
  named: UsageInput = {},
): CompletionUsage {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...detailsOf(named.cachedTokens ?? 0, reasoningTokens(choices, named)),
  }
}

const noDetails = JSON.stringify(detailsOf(0, 0)).slice(1)

/** The same as JSON for a plain text, which has no details. */
export const plainUsage = ({ prompt, completion }: Pick<Cost, 'prompt' | 'completion'>) =>
  `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion},${noDetails}`
