/**
 * The building blocks of the line: stages, the requests that pass through them, and the surfaces that serve a prefix of
 * paths.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PlatformError } from '../core/errors.js'
import type { Answer, Caller, Exchange, Reply } from '../core/exchange.js'
import type { Origins } from '../core/origins.js'
import type { Quota } from '../limits/index.js'
import type { Cors } from './cors.js'
import type { ModeOf } from './modes.js'
import type { Upstream } from './proxy.js'

/** One request on its way through the line. */
export interface RequestContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly exchange: Exchange
  readonly surface: Surface
  /** Set if the request may reach something live. It is then refused if it comes from a foreign page. */
  readonly live: Live | undefined
  /** The request's share of its credential's limits. */
  quota: Quota | undefined
  answer: Answer | undefined
  /** Whether a fault applies to it. The fault then journals it. */
  hasFault: boolean
}

export type Step = (context: RequestContext) => void

/** What a stage may do with a request instead of passing it on. */
export interface Outlets {
  /** Continues with a value; without a promise it continues at once, since awaiting costs a turn of the event loop. */
  when<T>(context: RequestContext, value: T | Promise<T>, then: (value: T) => void): void
  fail(context: RequestContext, cause: unknown): void
  /** Sends the answer. */
  deliver: Step
  /** Journals the exchange, unless a fault is going to. */
  end: Step
  /** Journals the exchange. */
  journal: Step
}

/** One part of the line: creates a step that passes requests on to the next one. */
export type Stage = (next: Step, ends: Outlets) => Step

/** Serves the paths below a prefix: who may call what, and the form of the answers. */
export interface Surface {
  /**
   * Finds the endpoint, notes it in the exchange, and returns the caller. Throws or rejects for unknown paths and
   * invalid credentials.
   */
  enter(exchange: Exchange): Caller | Promise<Caller>
  answer(exchange: Exchange): Answer | Promise<Answer>
  /** What OPTIONS says about the path; `undefined` if OPTIONS is treated like any other request. */
  methodsOf(exchange: Exchange): Methods | Promise<Methods>
  errorReply(error: PlatformError, exchange: Exchange): Reply
  readonly bodyLimitBytes: number
  /** Whether a body must be declared as JSON. */
  readonly requiresJson: boolean
  /** The error code for a fault with this status. */
  faultCode(status: number): string
  /** Where an answer comes from; absent if all are emulated. */
  readonly modeOf?: ModeOf | undefined
  /** Whether its responses have an x-request-id. */
  readonly hasRequestIds: boolean
  /**
   * Whether a request that a fault refuses must have no effect. Random faults are then drawn before the answer is made.
   */
  readonly failsBeforehand: boolean
  readonly cors: Cors
  /** Present if requests may reach something live. */
  readonly live?: Live | undefined
}

type Methods = readonly string[] | undefined

/** What differs for requests that may reach something live. */
export interface Live {
  mayReach(exchange: Exchange): boolean
  /** The CORS headers used instead. */
  readonly cors: Cors
  /** Which pages may call it. */
  readonly origins: Pick<Origins, 'requireOwn'>
  /** Whether other sites link to a path on purpose. */
  mayBeLinked(path: string): boolean
  /** Whether a WebSocket on this path is carried to the live platform; absent if none is. */
  carriesWebSocket?(request: Pick<Exchange, 'method' | 'path'>): boolean
  readonly proxy: () => Upstream | Promise<Upstream>
}
