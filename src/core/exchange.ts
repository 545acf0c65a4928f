/** The words of the product: one noun for each thing that travels along the line. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Caller, CredentialKind } from './caller.js'
import type { Violation } from './finding.js'
import type { Description } from './operation.js'
import type { Outcome, Reply } from './reply.js'

export { anonymous, type Caller, type CredentialKind, callerKinds, credentialKinds, userCaller } from './caller.js'
export type {
  Answer,
  Forward,
  Outcome,
  Paced,
  Reply,
  ResponseObserver,
  UpstreamResponse,
} from './reply.js'

/** Where answers come from. */
export const modes = ['emulate', 'proxy', 'record', 'replay'] as const
export type Mode = (typeof modes)[number]

/** Whether answers of this mode come from the live platform. */
export const asksLive = (mode: Mode) => mode === 'proxy' || mode === 'record'

/** Whether this mode has to do with recordings. */
export const usesRecordings = (mode: Mode) => mode === 'record' || mode === 'replay'

/** Who may call: anyone at all, or holders of one of these kinds of credential. */
export type Access = 'anyone' | readonly CredentialKind[]

/** What is asked: one method on one path. It turns an exchange into a reply, and throws a PlatformError when it cannot. */
export interface Endpoint {
  readonly method: string
  /** A part in braces, such as `{id}`, stands for any one part. */
  readonly path: string
  readonly access: Access
  /** Whether a JSON body is read before `reply` is called. */
  readonly takesBody: boolean
  /** Whether it stands for a path that is not documented, and that only the live platform or a recording may know; its body may be of any kind. */
  readonly isElsewhere?: true
  /** What the document says of it in this mode; worked out when the document is asked for. */
  says?(mode: Mode): Promise<Description>
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
  /** When the request's headers were there, by `passedMs` of core/stopwatch.ts. */
  readonly startedMs: number
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
  chat?: { readonly model: string; readonly messages: readonly { readonly content?: unknown }[] }
  /** What OpenAI says to the request, where it is known to refuse it with a 400 and it was answered all the same. */
  openaiRefuses?: string | undefined
  outcome: Outcome | undefined
  /** What its answer has against the contract, once that was judged. */
  violations?: readonly Violation[]
}
