/** Answers: our own replies with their bodies, the live platform's, and what produced them. */
import type { Fault } from './fault.js'
import { isPaced, type Pace, unpaced } from './pace.js'

/** What to send: our own reply, or the live platform's. */
export type Answer = Reply | Forward

export interface Reply {
  readonly kind: 'reply'
  readonly status: number
  /** The reason phrase, if it is not node's own for the status. */
  readonly statusText?: string | undefined
  readonly contentType: string
  /** A text is sent with its length. Bytes, and pieces without a pace, are a stream that is already complete, so they are sent without one. */
  readonly body: string | Buffer | PacedBody
  /** Further headers, as node's flat array of names and values. */
  readonly headers?: readonly string[] | undefined
  readonly answeredBy?: AnsweredBy | undefined
  /** Further information for the log, computed when it is read. */
  readonly remark?: (() => string | undefined) | undefined
  readonly fault?: Fault | undefined
  /** Whether it is a replayed recording. It then has only the live platform's headers. */
  readonly isRecorded?: true
  /** The recorded answer, if it was an error that was changed to fit the document. */
  readonly upstream?: UpstreamResponse | undefined
  /** How many tokens it counts toward a token limit. */
  readonly tokens?: { readonly prompt: number; readonly completion: number } | undefined
}

/** A reply whose body is a text. */
export type TextReply = Reply & { readonly body: string }

/** The type of a text that is sent as UTF-8, with that charset if it names one. */
export const asUtf8 = (contentType: string): string =>
  contentType.replace(/(;[ \t]*charset[ \t]*=[ \t]*)("[^"]*"|[^\s;]+)/i, '$1utf-8')

/** A 200 whose body is `value` as JSON. */
export const jsonReply = (value: unknown): TextReply => ({
  kind: 'reply',
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(value),
})

/** Always the same JSON. */
export function fixedReply(body: object): () => Reply {
  const reply = jsonReply(body)
  return () => reply
}

/** A body that is sent piece by piece. Many exchanges share the pieces; only the frame around each piece differs. */
export interface PacedBody {
  /** Sent with the first piece. */
  readonly head: string
  /** Sent before each piece. */
  readonly before: string
  readonly pieces: readonly string[]
  /** Sent after each piece. */
  readonly after: string
  /** Sent with the last piece. */
  readonly tail: string
  readonly pace: Pace
  /** The seed for the variation of pauses. */
  readonly seed?: number
  /** When each piece is due after the start. Replaces the pace, for a recorded rhythm. */
  readonly atMs?: readonly number[]
  /** Whether each character is sent as one byte. Pieces can then be sent without counting their bytes. */
  readonly isLatin1?: boolean
}

/** A body that is written while it is sent and may stay open, such as a stream of events. Other readers see the pieces written so far. */
export interface OpenBody extends PacedBody {
  /** The sender adds what was written, up to `MOST_WRITTEN_PIECES`. */
  readonly pieces: string[]
  /** Whether it counts as complete whenever the client disconnects. */
  readonly isEndless: boolean
  /** Called once, after the head was sent. Returns a function that is called once when the connection has closed. */
  play(sink: { write(text: string): void; end(): void }): () => void
}

/** A body that stays open. `play` writes to it and returns a function to call when the client has disconnected. */
export const openBody = (play: OpenBody['play'], isEndless = false): OpenBody => ({
  head: '',
  before: '',
  pieces: [],
  after: '',
  tail: '',
  pace: unpaced,
  isEndless,
  play,
})

export const MOST_WRITTEN_PIECES = 1000

/** Whether all of a body can be sent at once. */
export const isWholeBody = (body: Reply['body']): boolean =>
  typeof body === 'string' ||
  Buffer.isBuffer(body) ||
  (!isPaced(body.pace) && body.atMs === undefined && !isOpenBody(body))

export const isOpenBody = (body: Reply['body']): body is OpenBody => typeof body === 'object' && 'play' in body

/** The decision to send the request to the live platform. */
export interface Forward {
  readonly kind: 'forward'
  /** The fault to apply to the live platform's answer. */
  readonly fault?: Fault | undefined
  /** The file of the recording that is being made of the answer. */
  readonly recordedAs?: string | undefined
  /** Observes the live platform's answer as it arrives. */
  readonly observer?: ResponseObserver | undefined
}

/** Observes an answer as it is forwarded, and must not delay it. The methods are called in this order; `end` is always called, once and last. */
export interface ResponseObserver {
  /** The original status, headers, as node's flat array of names and values, without hop-by-hop headers, and reason phrase. */
  head(status: number, headers: readonly string[], statusText?: string): void
  /** In place of `head` if the live platform refuses our own credential. `why` is the end of a sentence. */
  refused?(why: string): void
  /** Bytes of the body, as the network delivered them. */
  bytes(bytes: Buffer): void
  /** The client has left. An observer that has this gets the rest of the answer, until it calls `stop`. */
  left?(stop: () => void): void
  /**
   * True if the live platform's answer is complete; false if it broke off, or there was no answer. `isLeft` is true if the client had
   * left, and the rest was not awaited.
   */
  end(complete: boolean, isLeft?: boolean): void
}

export type AnsweredBy =
  /** `title` is the rule's name for people: `rule "weather"`. `reply` says which of several `replies` was used. */
  | {
      readonly kind: 'rule'
      readonly title: string
      readonly place: string
      readonly reply?: number
      readonly replies?: number
    }
  /** No rule: generated from the request and the seed. */
  | { readonly kind: 'canned'; readonly form: 'reply' | 'JSON' | 'tool call' }
  /** Magic words in the prompt. */
  | { readonly kind: 'magic'; readonly words: readonly string[] }
  /** A resource, by its path in the configuration. */
  | { readonly kind: 'resource'; readonly path: string }
  /** An MCP server, by its path: a list, or a result without a rule. */
  | { readonly kind: 'mcp'; readonly path: string }
  /** The tables, as this role. */
  | { readonly kind: 'tables'; readonly role: string }
  /** `changed` if it is the nearest recording: what of the request it has otherwise. */
  | { readonly kind: 'recording'; readonly file: string; readonly changed?: 'prompt' | 'message' }
  /** An operation of an OpenAPI document, and the name of the example, if one was sent. */
  | { readonly kind: 'openapi'; readonly document: string; readonly operation: string; readonly example?: string }
  /** The live platform at this address, and the recording that was made of its answer. */
  | { readonly kind: 'live'; readonly baseUrl?: string; readonly recordedAs?: string }

/** A fault of an answer, whether or not it took effect. */
export interface AppliedFault {
  readonly fault: Fault
  /** What caused it: a header, a call, an option, or a rule whose answer it replaced. */
  readonly by: string | AnsweredBy | undefined
  /** False if the answer was too short for it. */
  readonly happened: boolean
  /** Whether it changed the body. `Outcome.answer` is then the unchanged answer. */
  readonly isSpoilt: boolean
}

/** An answer of the live platform, as far as it is kept for the journal. */
export interface UpstreamResponse {
  readonly kind: 'upstream'
  /** As node's flat array. */
  readonly headers: readonly string[]
  readonly beginning: Buffer[]
  bytes: number
}

/** Describes what produced an answer. */
export function sourceInWords(by: AnsweredBy): string {
  switch (by.kind) {
    case 'rule':
      return by.replies === undefined ? by.title : `${by.title} (${by.reply} of ${by.replies})`
    case 'canned':
      return `canned ${by.form}`
    case 'magic':
      return `magic ${by.words.join(' ')}`
    case 'resource':
      return `resource ${by.path}`
    case 'mcp':
      return `MCP server ${by.path}`
    case 'tables':
      return `tables as ${by.role}`
    case 'recording':
      return `recording ${by.file}${by.changed ? ` (changed ${by.changed})` : ''}`
    case 'openapi':
      return by.example ? `${by.document}, example ${by.example}` : by.document
    case 'live':
      return by.recordedAs === undefined ? 'live' : `live, recorded as ${by.recordedAs}`
  }
}

/** Describes a fault and its cause. */
export function appliedFaultInWords({ fault, by, happened }: AppliedFault): string {
  const cause = typeof by === 'object' ? sourceInWords(by) : by
  const words = `fault ${faultInWords(fault)}${cause === undefined ? '' : ` (${cause})`}`
  return happened ? words : `${words}, which had no effect`
}

/** `status=503; delayMs=200` or `hang`, as in the header. Omits the chance, which has been drawn, and the message, which is shown separately. */
export const faultInWords = (fault: Fault): string =>
  Object.entries(fault)
    .filter(([key, value]) => value !== undefined && key !== 'chance' && key !== 'message')
    .map(([key, value]) => (value === true ? key : `${key}=${value}`))
    .join('; ')
