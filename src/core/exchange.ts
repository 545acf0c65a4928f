/** The words of the product: one noun for each thing that travels along the line. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Caller, CredentialKind } from './caller.js'
import type { ChatRequest } from './chat.js'
import type { Fault } from './fault.js'
import type { Operation } from './operation.js'
import type { Pace } from './pace.js'
import type { Violation } from './violation.js'

export { anonymous, type Caller, type CredentialKind, callerKinds, credentialKinds, userCaller } from './caller.js'

/** Where answers come from. */
export const modes = ['emulate', 'proxy', 'record', 'replay'] as const
export type Mode = (typeof modes)[number]

/** Whether answers of this mode come from the live platform. */
export const asksLive = (mode: Mode) => mode === 'proxy' || mode === 'record'

/** Whether this mode has to do with recordings. */
export const usesRecordings = (mode: Mode) => mode === 'record' || mode === 'replay'

/** Who may: anyone at all, or whoever holds one of these kinds of credential. */
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
  /** What the document says of it in this mode; asked when somebody asks for the document. */
  says?(mode: Mode): Promise<Operation>
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
  /** Which of several tests that share a server asks; empty for whoever is in none. */
  scope: string
  /** What is asked, once that is known. */
  endpoint: Endpoint | undefined
  /** Where the answer comes from, once that is decided. */
  mode: Mode | undefined
  /** The body exactly as it came; `undefined` until it was read. */
  body: Buffer | undefined
  /** Set where only the beginning of the body was read: its size, as announced or as far as it came. */
  bodyCutFromBytes?: number
  /** What a body asks of a model, once somebody has read it. */
  chat?: ChatRequest
  /** What OpenAI says to the request, where it is known to refuse it with a 400 and it was answered all the same. */
  openaiRefuses?: string | undefined
  outcome: Outcome | undefined
  /** What its answer has against the contract, once that was judged. */
  violations?: readonly Violation[]
}

/** What is to be sent: ours, or the live platform's. */
export type Answer = Reply | Forward

/** An answer of our own. */
export interface Reply {
  readonly kind: 'reply'
  readonly status: number
  readonly contentType: string
  /** A text goes out with its length; bytes are a stream that is complete already, and go out as streams do, without. */
  readonly body: string | Buffer | Paced
  /** Called when a body of bytes has left; whoever made them may then use them again. */
  readonly sent?: (() => void) | undefined
  /** Such bytes once more, for whoever looks when they have been used again. */
  readonly again?: (() => Buffer) | undefined
  /** Further headers, as node's flat array of names and values. */
  readonly headers?: readonly string[] | undefined
  /** What gave the answer, for the log: a rule's name, for example. */
  readonly source?: string | undefined
  /** What is known of it beyond that, for whoever reads the log; worked out when somebody does. */
  readonly remark?: (() => string | undefined) | undefined
  /** What is to go wrong with it on its way. */
  readonly fault?: Fault | undefined
  /** Whether it is played from a recording: then its headers are those of the live platform alone. */
  readonly isRecorded?: true
  /** What the recording has, where that is an error that had to be made to fit the document. */
  readonly upstream?: Heard | undefined
  /** What it costs of a limit on tokens. */
  readonly tokens?: { readonly prompt: number; readonly completion: number } | undefined
}

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
  /** Whether each character is one byte, as in ASCII: then they go out as they are, and nobody has to count them for every piece. */
  readonly bytewise?: boolean
}

/** Carry the request to the live platform. */
export interface Forward {
  readonly kind: 'forward'
  /** What is to go wrong with the answer on its way back. */
  readonly fault?: Fault | undefined
  /** What the log calls its answer; `live` where nothing more is to be said. */
  readonly source?: string | undefined
  /** Sees what the live platform says, as it comes. */
  readonly witness?: Witness | undefined
}

/** Sees an answer go by, and must not hold it up. It is called in this order; `end` always, and last. */
export interface Witness {
  /** The status and the headers as they came, as node's flat array of names and values, without those between neighbours. */
  head(status: number, headers: readonly string[]): void
  /** Bytes of the body, as the network delivered them. */
  bytes(bytes: Buffer): void
  /** True when the live platform said all it had to say; false when it or the client broke off, or there never was an answer. */
  end(complete: boolean): void
}

/** An answer of the live platform, as far as it is kept to be looked at. */
export interface Heard {
  readonly kind: 'heard'
  /** As node's flat array. */
  readonly headers: readonly string[]
  /** The beginning of the body. */
  readonly beginning: Buffer[]
  /** All of the body. */
  bytes: number
}

/** What actually left. */
export interface Outcome {
  /** 0 where a fault saw to it that none left. */
  readonly status: number
  readonly source: string | undefined
  /** What went wrong, in the words that the client was told. */
  readonly error: string | undefined
  /** How that error is called in code: `no_rule_matches`. */
  readonly code?: string | undefined
  /** What only whoever reads the log is told of it. */
  readonly hint?: string | undefined
  /** What else is known of it, for the log; worked out when somebody looks. */
  readonly remark?: (() => string | undefined) | undefined
  /** Whether a fault has changed what left: then `said` is what would have. */
  readonly isSpoilt?: boolean
  /** The header x-request-id of an answer that was made here. */
  readonly requestId?: string | undefined
  /** What was said: a reply of ours, or as much of the live platform's as is kept. */
  readonly said?: Reply | Heard | undefined
  /** What the live platform said, where that was an error that had to be made to fit the document. */
  readonly upstream?: Heard | undefined
  /** When the head left, by `passedMs` of core/stopwatch.ts. */
  readonly beganMs?: number
  /** When pieces of a stream left, after the head, in milliseconds; the first thousand. */
  readonly piecesAtMs?: number[] | undefined
  /** False for as long as the answer is on its way, and for good when the client left or the stream was cut. */
  complete: boolean
}
