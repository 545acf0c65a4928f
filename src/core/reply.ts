/** What is answered, what gave it and what actually left: as data, and in words. */
import { type Fault, faultInWords } from './fault.js'
import type { Pace } from './pace.js'

/** What to send: a reply of ours, or the live platform's. */
export type Answer = Reply | Forward

/** An answer of our own. */
export interface Reply {
  readonly kind: 'reply'
  readonly status: number
  readonly contentType: string
  /** A text goes out with its length; bytes are a stream that is complete already, and go out as streams do, without. */
  readonly body: string | Buffer | Paced
  /** Called when a body of bytes has left: its maker may then use them again. */
  readonly sent?: (() => void) | undefined
  /** Such bytes once more, for readers that come when they have been used again. */
  readonly again?: (() => Buffer) | undefined
  /** Further headers, as node's flat array of names and values. */
  readonly headers?: readonly string[] | undefined
  readonly answeredBy?: AnsweredBy | undefined
  /** What is known of it beyond that, for the log; worked out when it is read. */
  readonly remark?: (() => string | undefined) | undefined
  /** The fault on its way. */
  readonly fault?: Fault | undefined
  /** Whether it is played from a recording: then its headers are those of the live platform alone. */
  readonly isRecorded?: true
  /** What the recording has, where that is an error that had to be made to fit the document. */
  readonly upstream?: UpstreamResponse | undefined
  /** What it costs of a limit on tokens. */
  readonly tokens?: { readonly prompt: number; readonly completion: number } | undefined
}

/** A reply whose body is a text. */
export type TextReply = Reply & { readonly body: string }

/** A 200 whose body is `value` as JSON. */
export const jsonReply = (value: unknown): Reply => ({
  kind: 'reply',
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(value),
})

/** A body that leaves piece by piece. Its pieces are shared by many exchanges; what differs is the frame around each. */
export interface Paced {
  /** Goes out with the first piece. */
  readonly head: string
  /** Stands before each piece. */
  readonly before: string
  readonly pieces: readonly string[]
  /** Stands behind each piece. */
  readonly after: string
  /** Goes out with the last piece. */
  readonly tail: string
  readonly pace: Pace
  /** How long the prompt was; what a pace with `promptTokensPerSecond` reads before it begins. */
  readonly promptTokens?: number
  /** What the variation of the pauses is drawn from. */
  readonly seed?: number
  /** When each piece is due after the start, in place of the pace: a recorded rhythm. */
  readonly atMs?: readonly number[]
  /** Whether each character is one byte, as in ASCII: then they go out as they are, without counting bytes for every piece. */
  readonly bytewise?: boolean
}

/** Carry the request to the live platform. */
export interface Forward {
  readonly kind: 'forward'
  /** The fault of the answer on its way back. */
  readonly fault?: Fault | undefined
  /** The recording that is made of the answer. */
  readonly recordedAs?: string | undefined
  /** Sees what the live platform says, as it comes. */
  readonly witness?: ResponseObserver | undefined
}

/** Sees an answer go by, and must not hold it up. It is called in this order; `end` always, and last. */
export interface ResponseObserver {
  /** The status and the headers as they came, as node's flat array of names and values, without those between neighbours. */
  head(status: number, headers: readonly string[]): void
  /** Bytes of the body, as the network delivered them. */
  bytes(bytes: Buffer): void
  /** True when the answer of the live platform is complete; false when it or the client broke off, or there never was an answer. */
  end(complete: boolean): void
}

/** What gave an answer. */
export type AnsweredBy =
  /** `title` is what people call it: `rule "weather"`; `reply` says which of its `replies`, where it has several. */
  | {
      readonly kind: 'rule'
      readonly title: string
      readonly place: string
      readonly reply?: number
      readonly replies?: number
    }
  /** No rule: made up from the request and the seed. */
  | { readonly kind: 'canned'; readonly form: 'reply' | 'JSON' | 'tool call' }
  /** Magic words in the prompt. */
  | { readonly kind: 'magic'; readonly words: readonly string[] }
  | { readonly kind: 'recording'; readonly file: string }
  /** The live platform, and the recording that was made of its answer. */
  | { readonly kind: 'live'; readonly recordedAs?: string }

/** A fault on its way with an answer. */
export interface FaultDone {
  readonly fault: Fault
  /** What asked for it: a header, a call, an option, or a rule whose answer it replaced. */
  readonly by: string | AnsweredBy | undefined
  /** False where the answer was too short for it. */
  readonly happened: boolean
  /** Whether it has changed the body: then `said` is what would have left. */
  readonly isSpoilt: boolean
}

/** An answer of the live platform, as far as it is kept to be looked at. */
export interface UpstreamResponse {
  readonly kind: 'heard'
  /** As node's flat array. */
  readonly headers: readonly string[]
  /** The beginning of the body. */
  readonly beginning: Buffer[]
  /** All of the body. */
  bytes: number
}

/** What was actually sent. */
export interface Outcome {
  /** 0 where a fault saw to it that none left. */
  readonly status: number
  readonly answeredBy: AnsweredBy | undefined
  /** The fault that was in its way. */
  readonly fault?: FaultDone
  /** What went wrong, in the words that the client got. */
  readonly error: string | undefined
  /** How that error is called in code: `no_rule_matches`. */
  readonly code?: string | undefined
  /** What only the log says of it. */
  readonly hint?: string | undefined
  /** What else is known of it, for the log; worked out when it is read. */
  readonly remark?: (() => string | undefined) | undefined
  /** The header x-request-id of an answer that was made here. */
  readonly requestId?: string | undefined
  /** What was answered: a reply of ours, or as much of the live platform's as is kept. */
  readonly said?: Reply | UpstreamResponse | undefined
  /** What the live platform answered, where that was an error that had to be made to fit the document. */
  readonly upstream?: UpstreamResponse | undefined
  /** When the head left, by `passedMs` of core/stopwatch.ts. */
  readonly beganMs?: number
  /** When pieces of a stream left, after the head, in milliseconds; the first thousand. */
  readonly piecesAtMs?: number[] | undefined
  /** False while the answer is on its way, and for good when the client left or the stream was cut. */
  complete: boolean
}

/** `rule "weather" (2 of 3)`, `recording a.yaml`, `live + fault cutAfterBytes=3 (one-shot)`; nothing for an error of ours. */
export function sourceOf({ answeredBy, fault }: Partial<Outcome> = {}): string | null {
  const parts = [answeredBy && inWords(answeredBy), fault && faultDoneInWords(fault)].filter(Boolean)
  return parts.length === 0 ? null : parts.join(' + ')
}

/** What gave an answer, in words. */
export function inWords(by: AnsweredBy): string {
  switch (by.kind) {
    case 'rule':
      return by.replies === undefined ? by.title : `${by.title} (${by.reply} of ${by.replies})`
    case 'canned':
      return `canned ${by.form}`
    case 'magic':
      return `magic ${by.words.join(' ')}`
    case 'recording':
      return `recording ${by.file}`
    case 'live':
      return by.recordedAs === undefined ? 'live' : `live, recorded as ${by.recordedAs}`
  }
}

/** A fault and what asked for it, in words. */
export function faultDoneInWords({ fault, by, happened }: FaultDone): string {
  const cause = typeof by === 'object' ? inWords(by) : by
  const words = `fault ${faultInWords(fault)}${cause === undefined ? '' : ` (${cause})`}`
  return happened ? words : `${words}, which did not come about`
}
