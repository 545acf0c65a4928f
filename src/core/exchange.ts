/**
 * The vocabulary of the product: one type for each thing on the request line, and the description of an endpoint for
 * the OpenAPI document.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { check } from '../check/check.js'
import type { ClosestRecording, Violation } from '../check/finding.js'
import type { Caller, CredentialKind } from './caller.js'
import type { Fault } from './fault.js'
import type { Pace } from './pace.js'

export { anonymous, type Caller, type CredentialKind, callerKinds, credentialKinds, userCaller } from './caller.js'

/** Where answers come from. */
export const modes = ['emulate', 'proxy', 'record', 'replay'] as const
export type Mode = (typeof modes)[number]

/** Whether answers in this mode come from the live platform. */
export const asksLive = (mode: Mode) => mode === 'proxy' || mode === 'record'

/** Whether this mode uses recordings. */
export const usesRecordings = (mode: Mode) => mode === 'record' || mode === 'replay'

/** Who may call: anyone, or callers with one of these kinds of credential. */
export type Access = 'anyone' | readonly CredentialKind[]

/** Which credentials open what is below a documented prefix (platform-api.md, "Authentication", rules 4 and 5). */
const documentedAccess: readonly (readonly [prefix: string, access: Access])[] = [
  ['/v1/', ['apiKey', 'user']],
  ['/api/v1/', ['anon', 'service', 'user']],
]

/** Who may ask for a path whose prefix the platform's document has; `undefined` for any other. */
export const accessBelow = (path: string): Access | undefined =>
  documentedAccess.find(([prefix]) => path.startsWith(prefix))?.[1]

/** What is asked: one method on one path. It turns an exchange into a reply, and throws a PlatformError when it cannot. */
export interface Endpoint {
  readonly method: string
  /** A segment in braces, such as `{id}`, matches any one segment. */
  readonly path: string
  readonly access: Access
  /** Whether a body is read before `reply` is called. */
  readonly takesBody: boolean
  /** Whether only rules answer it; its body may be of any kind. */
  readonly isByRule?: true
  /** Whether it stands for a path that is not documented, and that only the live platform or a recording may know; its body may be of any kind. */
  readonly isElsewhere?: true
  /** The endpoint's description for the OpenAPI document in this mode, computed on request. */
  says?(mode: Mode): Promise<EndpointDescription>
  reply(exchange: Exchange): Reply | Promise<Reply>
}

/** One request until its answer has been sent. The stages of the line fill in its fields. */
export interface Exchange {
  readonly method: string
  /** The requested path: undecoded, and without the query. */
  readonly path: string
  /** The part after the `?`, undecoded; may be empty. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** The Authorization header. On the auth backend, the one that the gateway passes on. */
  authorization: string | undefined
  /** When the request's headers had arrived, by `passedMs` of core/clock.ts. */
  readonly startedMs: number
  /** When it was over, by the same; set by the journal. */
  endedMs?: number | undefined
  caller: Caller
  /** The endpoint, once it is known. */
  scope: string
  /** The mode of the answer, once it is decided. */
  endpoint: Endpoint | undefined
  /** The original body; `undefined` until it has been read. */
  mode: Mode | undefined
  /** Set if only the beginning of the body was read: its full size, as declared or as far as it arrived. */
  body: Buffer | undefined
  /** The parsed chat request. completions/request.ts knows its fields. */
  bodyCutFromBytes?: number
  /** Whether the chat request is of the usual kind, in which neither the schema nor OpenAI finds mistakes. */
  chat?: { readonly model: string; readonly messages: readonly { readonly content?: unknown }[] } | undefined
  /** OpenAI's error for a request that it is known to refuse with a 400, although it was answered here. */
  isUsualChat?: boolean | undefined
  /** What OpenAI says to the request, where it is known to refuse it with a 400 and it was answered all the same. */
  openaiRefuses?: string | undefined
  outcome: Outcome | undefined
  /** How the answer violates the contract, once that was checked. */
  nearest?: ClosestRecording | undefined
  /** What its answer has against the contract, once that was judged. */
  violations?: readonly Violation[]
}

/** What is checked, and what the document's schemas are made from. */
export type DocumentedSchema = Parameters<typeof check>[0]

/** As much of JSON Schema as answers need; what goes in is made from a `Schema`. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** A form that has a name of its own among the schemas of the document. */
export type NamedForm = readonly [name: string, form: DocumentedSchema | JsonSchema]

/** One kind of event of a stream. */
export interface EventDescription {
  readonly what: string
  /** The value of `data:`: JSON of this form, or a literal text. */
  readonly name?: string
  /** What stands behind `data:`: JSON of this form, or the text itself. */
  readonly data: NamedForm | DocumentedSchema | string
}

/** The title of the section. */
interface Cited {
  /** The fields that the section names. `messages[].role` is a field of each element. */
  readonly section?: string
  /** The fields that it names there; `messages[].role` is one of each element. */
  readonly fields?: readonly string[]
}

/** What the document says of one answer. */
export interface AnswerDescription extends Cited {
  readonly what: string
  /** The same for a named form. */
  readonly schema?: JsonSchema | DocumentedSchema
  /** The content type of a body that is not JSON. */
  readonly form?: NamedForm
  /** The events of a stream. */
  readonly type?: string
  /** The events of a stream. */
  readonly events?: readonly EventDescription[]
}

/** The operation id, for generated clients. */
export interface EndpointDescription extends Cited {
  /** Its name, for clients that are made from the document. */
  readonly id: string
  readonly does: string
  /** Further remarks. */
  readonly more?: string
  readonly query?: DocumentedSchema | JsonSchema | undefined
  /** What headers mean, by their names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: DocumentedSchema | JsonSchema | undefined
  /** The accepted kinds of credential, if the endpoint itself checks them. */
  readonly isBodyOptional?: true
  /** Further conditions on the body, as JSON Schema, that are not part of its own schema. */
  readonly access?: readonly string[]
  /** By status. */
  readonly narrowed?: JsonSchema
  /** Errors in addition to those that all endpoints have, by status. */
  readonly answers: Readonly<Record<number, AnswerDescription | readonly AnswerDescription[]>>
  /** Errors beyond those that others have as well, by status. */
  readonly errors?: Readonly<Record<number, string>>
}

/** What to send: a reply of ours, or the live platform's. */
export type Answer = Reply | Forward

/** An answer of our own. */
export interface Reply {
  readonly kind: 'reply'
  readonly status: number
  readonly contentType: string
  /** Called when a body of bytes has been sent. The bytes may then be reused. */
  readonly body: string | Buffer | Paced
  /** Produces the same bytes again, for readers that need them after they were reused. */
  readonly sent?: (() => void) | undefined
  /** Such bytes with `HEAD_ROOM` bytes of room before them and the end of a chunk behind them (core/http.ts), so that head and body can leave as one. */
  readonly framed?: Buffer | undefined
  /** Such bytes once more, for readers that come when they have been used again. */
  readonly again?: (() => Buffer) | undefined
  /** Further headers, as node's flat array of names and values. */
  readonly headers?: readonly string[] | undefined
  readonly answeredBy?: AnsweredBy | undefined
  /** The fault to apply. */
  readonly remark?: (() => string | undefined) | undefined
  /** Whether it is a replayed recording. It then has only the live platform's headers. */
  readonly fault?: Fault | undefined
  /** The recorded answer, if it was an error that was changed to fit the document. */
  readonly isRecorded?: true
  /** What it costs of a token limit. */
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

/** Sent with the first piece. */
export interface Paced {
  /** Sent before each piece. */
  readonly head: string
  /** Stands before each piece. */
  readonly before: string
  readonly pieces: readonly string[]
  /** Sent with the last piece. */
  readonly after: string
  /** Goes out with the last piece. */
  readonly tail: string
  readonly pace: Pace
  /** The seed for the variation of pauses. */
  readonly promptTokens?: number
  /** When each piece is due after the start, instead of the pace: a recorded rhythm. */
  readonly seed?: number
  /** Whether each character is one byte, as in ASCII. Pieces can then be sent without counting their bytes. */
  readonly atMs?: readonly number[]
  /** Whether each character is one byte, as in ASCII: then they go out as they are, without counting bytes for every piece. */
  readonly bytewise?: boolean
}

/** Carry the request to the live platform. */
export interface Forward {
  readonly kind: 'forward'
  /** The file of the recording that is being made of the answer. */
  readonly fault?: Fault | undefined
  /** Observes the live platform's answer as it arrives. */
  readonly recordedAs?: string | undefined
  /** Sees what the live platform says, as it comes. */
  readonly witness?: ResponseObserver | undefined
}

/** The original status and headers, as node's flat array of names and values, without hop-by-hop headers. */
export interface ResponseObserver {
  /** Bytes of the body, as the network delivered them. */
  head(status: number, headers: readonly string[]): void
  /**
   * True if the live platform's answer is complete; false if it broke off, the client disconnected, or there was no
   * answer.
   */
  bytes(bytes: Buffer): void
  /** True when the answer of the live platform is complete; false when it or the client broke off, or there never was an answer. */
  end(complete: boolean): void
}

/** `title` is the rule's name for people: `rule "weather"`. `reply` says which of several `replies` was used. */
export type AnsweredBy =
  /** `title` is what people call it: `rule "weather"`; `reply` says which of its `replies`, where it has several. */
  | {
      readonly kind: 'rule'
      readonly title: string
      readonly place: string
      readonly reply?: number
      readonly replies?: number
    }
  /** Magic words in the prompt. */
  | { readonly kind: 'canned'; readonly form: 'reply' | 'JSON' | 'tool call' }
  /** Magic words in the prompt. */
  | { readonly kind: 'magic'; readonly words: readonly string[] }
  | { readonly kind: 'recording'; readonly file: string }
  /** The live platform at this address, and the recording that was made of its answer. */
  | { readonly kind: 'live'; readonly baseUrl?: string; readonly recordedAs?: string }

/** A fault on its way with an answer. */
export interface FaultDone {
  readonly fault: Fault
  /** False if the answer was too short for it. */
  readonly by: string | AnsweredBy | undefined
  /** Whether it changed the body. `said` is then the unchanged answer. */
  readonly happened: boolean
  /** Whether it has changed the body: then `said` is what would have left. */
  readonly isSpoilt: boolean
}

/** An answer of the live platform, as far as it is kept to be looked at. */
export interface UpstreamResponse {
  readonly kind: 'heard'
  /** The beginning of the body. */
  readonly headers: readonly string[]
  /** The size of the whole body. */
  readonly beginning: Buffer[]
  /** All of the body. */
  bytes: number
}

/** 0 if a fault prevented an answer. */
export interface Outcome {
  /** 0 where a fault saw to it that none left. */
  readonly status: number
  readonly answeredBy: AnsweredBy | undefined
  /** The error message that the client got. */
  readonly fault?: FaultDone
  /** The code of that error, such as `no_rule_matches`. */
  readonly error: string | undefined
  /** A hint that only the log shows. */
  readonly code?: string | undefined
  /** Further information for the log, computed when it is read. */
  readonly hint?: string | undefined
  /** The header x-request-id of an answer that was made here. */
  readonly remark?: (() => string | undefined) | undefined
  /** The answer: our own reply, or the part of the live platform's answer that is kept. */
  readonly requestId?: string | undefined
  /** The live platform's answer, if it was an error that was changed to fit the document. */
  readonly said?: Reply | UpstreamResponse | undefined
  /** When the head was sent, by `passedMs` of core/clock.ts. */
  readonly upstream?: UpstreamResponse | undefined
  /** When pieces of a stream were sent, in milliseconds after the head; the first thousand. */
  readonly beganMs?: number
  /** False while the answer is being sent, and from then on if the client disconnected or the stream was cut. */
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

/** `status=503; delayMs=200` or `hang`, as the header would say it; without the chance, which is over once it has come about, and without the message, which is told beside it. */
export const faultInWords = (fault: Fault): string =>
  Object.entries(fault)
    .filter(([key, value]) => value !== undefined && key !== 'chance' && key !== 'message')
    .map(([key, value]) => (value === true ? key : `${key}=${value}`))
    .join('; ')
