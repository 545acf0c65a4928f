/**
 * The building blocks of the line: stages, the requests that pass through them, and the surfaces that serve a prefix of
 * paths.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PlatformError } from '../core/errors.js'
import type { Caller, Exchange, Outcome } from '../core/exchange.js'
import type { Origins } from '../core/origins.js'
import type { Answer, Reply } from '../core/reply.js'
import type { Holding } from '../holds/index.js'
import type { Quota } from '../limits/index.js'
import type { Cors } from './cors.js'
import type { ModeOf } from './modes.js'
import type { Upstream } from './proxy.js'

/** One request on its way through the line. */
export interface RequestContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly exchange: Exchange
  /** Its number among all requests. */
  readonly number: number
  readonly surface: Surface
  /** Set if the request may reach the live platform. It is then refused if it comes from a foreign page. */
  readonly live: Live | undefined
  /** What the limits of its credential allow the request. */
  quota: Quota | undefined
  answer: Answer | undefined
  /** Whether a fault is applied. The fault then journals the exchange. */
  hasFault: boolean
  /** Set if a hold has taken the request, which is then journaled when its response closes. */
  held: HeldRequest | undefined
}

/** A request that a hold has taken. */
export interface HeldRequest {
  /** The id of the hold. */
  readonly id: string
  readonly isWaiting: boolean
  /** Holds everything from now on. */
  holdNow(holding: Holding): void
  /** Called before the answer is written. */
  attach(): void
  /** Corrects the outcome of an answer of which not everything was sent. */
  correct(outcome: Outcome | undefined): void
}

export type Step = (context: RequestContext) => void

/** What a stage may do with a request besides passing it on to the next stage. */
export interface Exits {
  /** Calls `then` with a value or the result of a promise. A value is passed on at once, since awaiting costs a turn of the event loop. */
  when<T>(context: RequestContext, value: T | Promise<T>, then: (value: T) => void): void
  fail(context: RequestContext, cause: unknown): void
  /** Sends the answer. */
  deliver: Step
  /** Journals the exchange, unless a fault does so. */
  end: Step
  /** Journals the exchange. */
  journal: Step
}

/** One part of the line: creates a step that passes requests on to the next step. */
export type Stage = (next: Step, ends: Exits) => Step

/** Serves the paths of the platform or of the auth backend: finds endpoints and callers, and gets answers. */
export interface Surface {
  /**
   * Finds the endpoint, sets it in the exchange, and returns the caller. Throws or rejects with a PlatformError for
   * unknown paths and invalid credentials.
   */
  enter(exchange: Exchange): Caller | Promise<Caller>
  answer(exchange: Exchange): Answer | Promise<Answer>
  /** The methods that OPTIONS lists for the path; `undefined` if OPTIONS is treated like any other request. */
  methodsOf(exchange: Exchange): Methods | Promise<Methods>
  errorReply(error: PlatformError, exchange: Exchange): Reply
  readonly bodyLimitBytes: number
  /** Whether a body must be declared as JSON. */
  readonly requiresJsonType: boolean
  /** Returns the error code for a fault with this status. */
  faultCode(status: number): string
  /** The mode of a request; absent if all are emulated. */
  readonly modeOf?: ModeOf | undefined
  /** Whether its responses have an x-request-id. */
  readonly hasRequestIds: boolean
  /**
   * Whether random faults are drawn before the answer is made, so that a request that one refuses has no effect.
   */
  readonly drawsFaultsFirst: boolean
  readonly cors: Cors
  /** Present if requests may reach the live platform. */
  readonly live?: Live | undefined
}

type Methods = readonly string[] | undefined

/** What differs for requests that may reach the live platform. */
export interface Live {
  mayReach(exchange: Exchange): boolean
  /** The CORS headers used instead. */
  readonly cors: Cors
  /** Which pages may call it. */
  readonly origins: Pick<Origins, 'requireOwn'>
  /** Whether other sites link to a path on purpose. */
  mayBeLinked(path: string): boolean
  /** Whether a WebSocket on this path is forwarded to the live platform; absent if none is. */
  forwardsWebSocket?(request: Pick<Exchange, 'method' | 'path'>): boolean
  readonly proxy: () => Upstream | Promise<Upstream>
}
