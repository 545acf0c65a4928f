/** What came of one question to a model, from the first moment to the last. */
import { type AnswerContent, nothingSaid } from './completion.js'

export interface ModelAnswer {
  readonly state:
    | 'waiting'
    | 'arriving'
    | 'whole'
    /** By hand. */
    | 'stopped'
    /** Before its end, by the server. */
    | 'cut'
    | 'refused'
  /** The body of the request, as it was sent. */
  readonly request: string
  /** Whether a credential was sent. */
  readonly hadCredential: boolean
  readonly status: number | undefined
  readonly completion: AnswerContent
  /** What went wrong, in a sentence. */
  readonly trouble: string | undefined
  /** In seconds or as a date, as the header says it. */
  readonly retryAfter: string | undefined
  /** The body of the answer as it came; of a long one the beginning. */
  readonly raw: string
  /** How many characters of it are not kept. */
  readonly leftOut: number
  /** From the question to the first thing that was said. */
  readonly firstTokenMs: number | undefined
  readonly totalMs: number | undefined
}

/** How much of an answer is kept as it came. */
const KEPT = 262_144

export const awaited = (request: string, hadCredential: boolean): ModelAnswer => ({
  ...{ state: 'waiting', request, hadCredential, status: undefined, completion: nothingSaid, trouble: undefined },
  ...{ retryAfter: undefined, raw: '', leftOut: 0, firstTokenMs: undefined, totalMs: undefined },
})

export const isOver = ({ state }: ModelAnswer) => state !== 'waiting' && state !== 'arriving'

/** The answer with more of its body. */
export function withRaw(answer: ModelAnswer, text: string): Pick<ModelAnswer, 'raw' | 'leftOut'> {
  const kept = text.slice(0, Math.max(0, KEPT - answer.raw.length))
  return { raw: answer.raw + kept, leftOut: answer.leftOut + text.length - kept.length }
}
