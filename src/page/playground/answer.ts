/** The answer to one question, from its first moment to its end. */
import type { JournalEntry } from '../../journal/operations.js'
import { type AnswerContent, nothingSaid } from './completion.js'

export interface ModelAnswer {
  readonly state:
    | 'waiting'
    | 'arriving'
    | 'whole'
    /** By the user. */
    | 'stopped'
    /** By the server, before its end. */
    | 'cut'
    | 'refused'
  /** The request body as sent; empty if the answer was part of a request that the playground was opened with. */
  readonly request: string
  readonly hadCredential: boolean
  readonly status: number | undefined
  readonly completion: AnswerContent
  readonly trouble: string | undefined
  /** In seconds or as a date, as in the header. */
  readonly retryAfter: string | undefined
  /** The raw body of the answer; only the beginning of a long one. */
  readonly raw: string
  readonly leftOut: number
  /** From the question to the first generated text. */
  readonly firstTokenMs: number | undefined
  readonly totalMs: number | undefined
}

/** What the journal says about an answer. */
export type AnswerOrigin = Pick<JournalEntry, 'id' | 'mode' | 'source' | 'remark' | 'hint'>

/** How many characters of a raw answer are kept. */
const KEPT = 262_144

export const awaited = (request: string, hadCredential: boolean): ModelAnswer => ({
  ...{ state: 'waiting', request, hadCredential, status: undefined, completion: nothingSaid, trouble: undefined },
  ...{ retryAfter: undefined, raw: '', leftOut: 0, firstTokenMs: undefined, totalMs: undefined },
})

export const isOver = ({ state }: ModelAnswer) => state !== 'waiting' && state !== 'arriving'

/** Adds text to the raw body. */
export function withRaw(answer: ModelAnswer, text: string): Pick<ModelAnswer, 'raw' | 'leftOut'> {
  const kept = text.slice(0, Math.max(0, KEPT - answer.raw.length))
  return { raw: answer.raw + kept, leftOut: answer.leftOut + text.length - kept.length }
}
