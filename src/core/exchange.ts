/** The words of the product: one noun for each thing that travels along the line, and what the OpenAPI document says of an endpoint. */
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

/** Whether answers of this mode come from the live platform. */
export const asksLive = (mode: Mode) => mode === 'proxy' || mode === 'record'

/** Whether this mode has to do with recordings. */
export const usesRecordings = (mode: Mode) => mode === 'record' || mode === 'replay'

/** Who may call: anyone at all, or holders of one of these kinds of credential. */
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
  /** A part in braces, such as `{id}`, stands for any one part. */
  readonly path: string
  readonly access: Access
  /** Whether a body is read before `reply` is called. */
  readonly takesBody: boolean
  /** Whether only rules answer it; its body may be of any kind. */
  readonly isByRule?: true
  /** Whether it stands for a path that is not documented, and that only the live platform or a recording may know; its body may be of any kind. */
  readonly isElsewhere?: true
  /** What the document says of it in this mode; worked out when the document is asked for. */
  says?(mode: Mode): Promise<EndpointDescription>
  reply(exchange: Exchange): Reply | Promise<Reply>
}

/** One request until its answer has left. Fills up from left to right along the line. */
export interface Exchange {
  readonly method: string
  /** The pathname as requested: not decoded, without the query. */
  readonly path: string
  /** What stands behind the `?`, not decoded; empty where nothing does. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** The Authorization header; on the auth backend as the gateway in front of it hands it on. */
  authorization: string | undefined
  /** When the request's headers were there, by `passedMs` of core/clock.ts. */
  readonly startedMs: number
  /** When it was over, by the same; set by the journal. */
  endedMs?: number | undefined
  caller: Caller
  /** Which of several tests that share a server asks; empty for a request in none. */
  scope: string
  /** What is asked, once that is known. */
  endpoint: Endpoint | undefined
  /** Where the answer comes from, once that is decided. */
  mode: Mode | undefined
  /** The body exactly as it came; `undefined` until it was read. */
  body: Buffer | undefined
  /** Set where only the beginning of the body was read: its size, as announced or as far as it came. */
  bodyCutFromBytes?: number
  /** What the body asks of a model, once it was read; completions/request.ts knows what is in it. */
  chat?: { readonly model: string; readonly messages: readonly { readonly content?: unknown }[] } | undefined
  /** Whether it is of the kind that neither the schema nor OpenAI finds anything wrong with. */
  isUsualChat?: boolean | undefined
  /** What OpenAI says to the request, where it is known to refuse it with a 400 and it was answered all the same. */
  openaiRefuses?: string | undefined
  outcome: Outcome | undefined
  /** The recording that comes nearest, where none answered it. */
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
  /** What stands behind `event:`, where there is such a line. */
  readonly name?: string
  /** What stands behind `data:`: JSON of this form, or the text itself. */
  readonly data: NamedForm | DocumentedSchema | string
}

/** Where platform-api.md says it. What has none is a decision of ours. */
interface Cited {
  /** The section, by its title. */
  readonly section?: string
  /** The fields that it names there; `messages[].role` is one of each element. */
  readonly fields?: readonly string[]
}

/** What the document says of one answer. */
export interface AnswerDescription extends Cited {
  readonly what: string
  /** The form of a JSON body; without it there is no body, or one of another `type`. */
  readonly schema?: JsonSchema | DocumentedSchema
  /** The same for a form that has a name. */
  readonly form?: NamedForm
  /** The content type of a body that is not JSON. */
  readonly type?: string
  /** The events of a stream. */
  readonly events?: readonly EventDescription[]
}

/** What the document says of one method on one path. */
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
  /** Whether the body may be left out. */
  readonly isBodyOptional?: true
  /** The kinds of credential that open it, where the endpoint finds that out by itself. */
  readonly access?: readonly string[]
  /** Further conditions on the body that its own schema does not know, as JSON Schema. */
  readonly narrowed?: JsonSchema
  /** By status. */
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
  /** A text goes out with its length; bytes are a stream that is complete already, and go out as streams do, without. */
  readonly body: string | Buffer | Paced
  /** Called when a body of bytes has left: its maker may then use them again. */
  readonly sent?: (() => void) | undefined
  /** Such bytes with `HEAD_ROOM` bytes of room before them and the end of a chunk behind them (core/http.ts), so that head and body can leave as one. */
  readonly framed?: Buffer | undefined
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
  /** The live platform at this address, and the recording that was made of its answer. */
  | { readonly kind: 'live'; readonly baseUrl?: string; readonly recordedAs?: string }

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
  /** When the head left, by `passedMs` of core/clock.ts. */
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

/** `status=503; delayMs=200` or `hang`, as the header would say it; without the chance, which is over once it has come about, and without the message, which is told beside it. */
export const faultInWords = (fault: Fault): string =>
  Object.entries(fault)
    .filter(([key, value]) => value !== undefined && key !== 'chance' && key !== 'message')
    .map(([key, value]) => (value === true ? key : `${key}=${value}`))
    .join('; ')
