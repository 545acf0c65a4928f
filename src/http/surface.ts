/** What the request line consists of: surfaces, each of which serves a prefix of paths, and what else is switched on. */
import type { PlatformError } from '../core/errors.js'
import type { Caller, Exchange, RequestContext } from '../core/exchange.js'
import type { SessionFault } from '../core/fault.js'
import type { Origins } from '../core/origins.js'
import type { Answer, Reply } from '../core/reply.js'
import type { Hit } from '../faults/hit.js'
import type { Faults } from '../faults/index.js'
import type { HeldRequest } from '../holds/held.js'
import type { Holds } from '../holds/index.js'
import type { Limits, Quota } from '../limits/index.js'
import type { Cors } from './cors.js'
import type { ModeOf } from './modes.js'
import type { Pacer } from './pacer.js'
import type { Upstream } from './proxy.js'
import type { ScopeParts } from './scopes.js'

/** What the line consists of. What is switched off is not there. */
export interface LineParts extends ScopeParts {
  readonly platform: Surface
  /** The auth backend below /auth/v1. */
  readonly auth: Surface
  /** The tables below /rest/v1, if there are any. */
  readonly tables?: Surface | undefined
  /** Whether more than its headers may decide to which test a request belongs. */
  readonly isScoped: boolean
  /** The limits of each credential, if there are any. */
  readonly limits?: Limits | undefined
  /** The holds, while they wait for requests. */
  readonly holds?: Holds | undefined
  readonly faults: Faults
  /** Whether a fault may hit a request that does not ask for one. */
  readonly mayFail: boolean
  /** Plays a fault of the session of a request; absent if users are elsewhere. Resolves to whether the request is one that it concerns. */
  readonly disturb?: ((exchange: Exchange, what: SessionFault) => Promise<boolean>) | undefined
  /** The headers with the contract check's result for answers that are not emulated, as node's flat array. */
  readonly contractHeaders: () => readonly string[]
}

export interface LineServices {
  readonly pacer: Pacer
  /** Called with internal errors. */
  readonly report: (error: unknown) => void
  /** Adds an exchange that has ended to the journal. Does not throw. */
  readonly end: (context: LineContext) => void
}

/** One request on its way along the line. */
export interface LineContext extends RequestContext<HeldRequest> {
  readonly surface: Surface
  /** Set if the request may reach the live platform. It is then refused if it comes from a foreign page. */
  readonly live: Live | undefined
  /** What the limits of its credential allow the request. */
  quota: Quota | undefined
  /** The fault that has hit it. */
  hit: Hit | undefined
}

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
