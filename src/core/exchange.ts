/** A request on its way through Standin, and the endpoints that answer it. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import * as v from 'valibot'
import type { check } from '../check/check.js'
import type { ClosestRecording, Violation } from '../check/finding.js'
import { list, word } from '../check/forms.js'
import { type Caller, type CredentialKind, credentialKinds } from './caller.js'
import type { PlatformError } from './errors.js'
import type { Fault } from './fault.js'
import {
  type AnsweredBy,
  type AppliedFault,
  appliedFaultInWords,
  type Reply,
  sourceInWords,
  type UpstreamResponse,
} from './reply.js'

export { anonymous, type Caller, type CredentialKind, callerKinds, credentialKinds, userCaller } from './caller.js'

/** Where answers come from. */
export const modes = ['emulate', 'proxy', 'record', 'replay'] as const
export type Mode = (typeof modes)[number]

/** Whether answers in this mode come from the live platform. */
export const usesLive = (mode: Mode) => mode === 'proxy' || mode === 'record'

/** Whether this mode uses recordings. */
export const usesRecordings = (mode: Mode) => mode === 'record' || mode === 'replay'

/** Who may call: anyone, or callers with one of these kinds of credential. */
export type Access = 'anyone' | readonly CredentialKind[]

/** Who may call, as it is configured. */
export const access = v.union(
  [
    v.literal('anyone', 'anyone, or a list of credential kinds'),
    v.pipe(list(word(credentialKinds), 'credential kinds'), v.nonEmpty('anyone, or a list with at least one kind')),
  ],
  `anyone, or a list of ${credentialKinds.join(', ')}`,
)

/** Which credentials give access to paths below a documented prefix (platform-api.md, "Authentication", rules 4 and 5). */
const documentedAccess: readonly (readonly [prefix: string, access: Access])[] = [
  ['/v1/', ['apiKey', 'user']],
  ['/api/v1/', ['anon', 'service', 'user']],
]

/** Who may use a path below a documented prefix; `undefined` for any other path. */
export const accessBelow = (path: string): Access | undefined =>
  documentedAccess.find(([prefix]) => path.startsWith(prefix))?.[1]

/** Who may use a configured path that has no `access` of its own. */
export const defaultAccess = (path: string): Access => accessBelow(path) ?? ['apiKey', 'user']

/** Allows callers that either of the two allows. */
export const combinedAccess = (one: Access, other: Access): Access =>
  one === 'anyone' || other === 'anyone' ? 'anyone' : [...new Set([...one, ...other])]

/** An endpoint of platform-api.md as one record: all that is known about it, whatever is configured. */
export interface DocumentedEndpoint extends Pick<OwnPath, 'method' | 'path' | 'access'> {
  /** Its name below the option `access`, in the journal and on the dashboard. */
  readonly name: string
  /** Whether it calls a model: its body is a chat, which rules, limits and the contract's judge read. */
  readonly callsModel?: true
  /** Whether it lists the paths of the platform, to which the user's own are added. */
  readonly listsPaths?: true
  /** Whether its requests do not count towards the limits of a credential. */
  readonly isUnlimited?: true
  /** The form of its answers with status 200; of a stream, that of the whole. */
  readonly answer: DocumentedForm
  /** The clause of the contract that says that it exists. */
  readonly clause: string
  /** How it replies with the parts of the platform that it needs. */
  replyWith(parts: never): Endpoint['reply']
}

/** The form that answers must have, and whether platform-api.md defines it or only the section in which they are JSON. */
export interface DocumentedForm {
  readonly form: Parameters<typeof check>[0]
  readonly section: string
  readonly isDocumented: boolean
}

/** What requests know of the record of their endpoint. */
type OfRecord = Partial<Pick<DocumentedEndpoint, 'name' | 'callsModel' | 'listsPaths' | 'isUnlimited' | 'answer'>>

/** One method on one path. Turns an exchange into a reply, or throws a PlatformError. */
export interface Endpoint extends OwnPath, OfRecord {
  /** Whether a body is read before `reply` is called. */
  readonly takesBody: boolean
  /** Whether the user configured it, with a rule for example. Its body may be of any type. */
  readonly isConfigured?: true
  /** Whether its path is neither documented nor configured, so that only the live platform or a recording may know it. Its body may be of any type. */
  readonly isUndocumented?: true
  reply(exchange: Exchange): Reply | Promise<Reply>
}

/** A method on a path that the user configured, in addition to the documented ones. */
export interface OwnPath {
  readonly method: string
  /** A segment in braces, as in `/builder/projects/{id}`, matches any one segment. */
  readonly path: string
  readonly access: Access
  /** Whether it is answered here in every mode, because it concerns Standin itself. */
  readonly isLocal?: true
  /** The value of `WWW-Authenticate` on a 401; `Bearer` by default. */
  challenge?(exchange: Pick<Exchange, 'headers'>): string
}

/** Answers paths that the user configured. Rules, resources, OpenAPI documents and MCP servers are each a source. */
export interface PathSource {
  /** The files from which it was loaded. */
  readonly files?: readonly string[]
  /** What it answers on a path by any method, in one scope or in any. Returns the same objects each time. */
  at(path: string, scope?: string): readonly OwnPath[]
  /** All methods and paths that it answers. */
  paths(): readonly OwnPath[]
  /** Returns `undefined` if it has no answer to this request; the next source is then tried. Throws a PlatformError to refuse the request. */
  answer(exchange: Exchange): Reply | undefined | Promise<Reply | undefined>
  /** The error for a request that no source answered, if this source knows the reason. */
  refusal?(exchange: Exchange): Promise<PlatformError | undefined>
  /** The fault to apply to the answer, whichever source or mode it comes from. */
  faultFor?(exchange: Exchange): Promise<Fault | undefined>
}

/** A test that runs in the same process. */
export interface RunningTest {
  /** The absolute path of its file. */
  readonly file: string
  /** Missing if no test of the file is running, or several may be. */
  readonly name?: string | undefined
  /** Whether several may be. */
  readonly isConcurrent?: true | undefined
}

/** One request until its answer has been sent. The steps of the request line (http/handle.ts) fill in its fields. */
export interface Exchange {
  readonly method: string
  /** The requested path: undecoded, and without the query. */
  readonly path: string
  /** The part after the `?`, undecoded; may be empty. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  /** The address of a client of the auth backend. */
  ipAddress?: string | undefined
  /** Whether the request opens a WebSocket, which only the live platform can do. */
  isWebSocket?: true
  /** The Authorization header. On the auth backend, the one that the gateway passes on. */
  authorization: string | undefined
  /** When the request's headers had arrived, by `uptimeMs` of core/clock.ts. */
  readonly startedMs: number
  /** When it ended, by the same clock; set by the journal. */
  endedMs?: number | undefined
  caller: Caller
  /** The test that the request belongs to, where several share a server; empty for none. */
  scope: string
  /** The test that was running in this process when the request arrived; of tests that run at the same time, only their file. */
  running?: RunningTest | undefined
  /** The scopes to which it could belong, and what names each, if there is more than one. The first counts. */
  scopeCandidates?: readonly { readonly by: string; readonly scope: string }[] | undefined
  /** The endpoint, once it is known. */
  endpoint: Endpoint | undefined
  /** The mode of the answer, once it is decided. */
  mode: Mode | undefined
  /** The original body; `undefined` until it has been read. */
  body: Buffer | undefined
  /** Set if only the beginning of the body was read: its full size, as declared or as far as it arrived. */
  bodyCutFromBytes?: number
  /** The parsed chat request. chat/request.ts knows its fields. */
  chat?: { readonly model: string; readonly messages: readonly { readonly content?: unknown }[] } | undefined
  /** OpenAI's error for a request that it is known to refuse with a 400, although it was answered here. */
  openaiRefuses?: string | undefined
  outcome: Outcome | undefined
  /** The id of the message in the outbox that it sent. */
  message?: string | undefined
  /** The SQL that it ran on the tables, and as which role. */
  sql?: { readonly role: string; readonly text: string } | undefined
  /** The id of the exchange with which its agent's run began; set by the journal. */
  run?: number | undefined
  /** What a model said in it, or the tools that it asked for; set by the journal. */
  spoken?: string | undefined
  /** The closest recording, if there is none of the request. */
  nearest?: ClosestRecording | undefined
  /** How the answer violates the contract, once that was checked. */
  violations?: readonly Violation[]
}

/** A request that is under way: what node has of it, and its exchange. `Held` is what a hold has made of it. */
export interface RequestContext<Held = unknown> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly exchange: Exchange
  /** Its number among all requests. */
  readonly number: number
  /** Set if a hold has taken the request, which is then journaled when its response closes. */
  held: Held | undefined
}

/** What was actually sent to the client. */
export interface Outcome {
  /** 0 if a fault prevented an answer. */
  readonly status: number
  readonly answeredBy: AnsweredBy | undefined
  /** The fault that was applied. */
  readonly fault?: AppliedFault
  /** The error message that the client got. */
  readonly error: string | undefined
  /** The code of that error, such as `no_rule_matches`. */
  readonly code?: string | undefined
  /** A hint that only the log shows. */
  readonly hint?: string | undefined
  /** Further information for the log, computed when it is read. */
  readonly remark?: (() => string | undefined) | undefined
  /** The x-request-id header of our own answer. */
  readonly requestId?: string | undefined
  /** The answer: our own reply, or the part of the live platform's answer that is kept. */
  readonly answer?: Reply | UpstreamResponse | undefined
  /** The live platform's answer, if it was an error that was changed to fit the document. */
  readonly upstream?: UpstreamResponse | undefined
  /** When the head was sent, by `uptimeMs` of core/clock.ts. */
  readonly beganMs?: number
  /** When pieces of a stream were sent, in milliseconds after the head; the first thousand. */
  readonly piecesAtMs?: number[] | undefined
  /** How much of a reply's body was sent before it broke off. */
  sentBytes?: number | undefined
  /** False while the answer is being sent, and from then on if the client disconnected or the stream was cut. */
  complete: boolean
}

/** `rule "weather" (2 of 3)`, `recording a.yaml`, `live + fault cutBytes=3 (one-shot)`; `null` for our own errors. */
export function sourceOf({ answeredBy, fault }: Partial<Outcome> = {}): string | null {
  const parts = [answeredBy && sourceInWords(answeredBy), fault && appliedFaultInWords(fault)].filter(Boolean)
  return parts.length === 0 ? null : parts.join(' + ')
}
