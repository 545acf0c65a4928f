/** What the line is made of: stages, the visits that go from one to the next, and the surfaces that say how a prefix of paths answers. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PlatformError } from '../core/errors.js'
import type { Answer, Caller, Exchange, Reply } from '../core/exchange.js'
import type { Origins } from '../core/origins.js'
import type { Quota } from '../limits/index.js'
import type { Cors } from './cors.js'
import type { ModeOf } from './modes.js'
import type { Upstream } from './proxy.js'

/** One request on its way down the line. */
export interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly exchange: Exchange
  readonly surface: Surface
  /** Set where it may reach something live, and so must not come from a foreign page. */
  readonly live: Live | undefined
  /** What it may use of its credential's limits. */
  pass: Quota | undefined
  answer: Answer | undefined
  /** Whether a fault has come over it: that journals it then. */
  isStruck: boolean
}

export type Step = (visit: Visit) => void

/** What a stage may do with a visit beside handing it on. */
export interface Ends {
  /** Goes on with a value: at once where it is there, since waiting for a promise costs a turn. */
  when<T>(visit: Visit, value: T | Promise<T>, then: (value: T) => void): void
  fail(visit: Visit, cause: unknown): void
  /** Gives the answer that the visit has. */
  deliver: Step
  /** Journals it as it is, unless a fault is going to. */
  end: Step
  /** Journals it. */
  journal: Step
}

/** One part of the line: a step that hands on to the next one. */
export type Stage = (next: Step, ends: Ends) => Step

/** What lives below a prefix of paths: who may ask for what there, and the form of its answers. */
export interface Surface {
  /** Identifies the endpoint, which the exchange then names, and gives back the caller. Throws (or rejects) for unknown paths and bad credentials. */
  enter(exchange: Exchange): Caller | Promise<Caller>
  answer(exchange: Exchange): Answer | Promise<Answer>
  /** The answer to OPTIONS; nothing where that is treated like any other request. */
  options(exchange: Exchange, isPreflight: boolean): Options | undefined | Promise<Options | undefined>
  errorReply(error: PlatformError, exchange: Exchange): Reply
  readonly bodyLimitBytes: number
  /** Whether a body has to say that it is JSON. */
  readonly requiresJson: boolean
  /** What a fault with this status is called in code. */
  faultCode(status: number): string
  /** Where an answer comes from; absent where all of them are made here. */
  readonly modeOf?: ModeOf | undefined
  /** Whether its answers have an x-request-id. */
  readonly hasRequestIds: boolean
  /** Whether what is refused by a fault must not have happened: then chance is asked before the answer is made. */
  readonly failsBeforehand: boolean
  readonly cors: Cors
  /** Present where requests may reach something live. */
  readonly live?: Live | undefined
}

export interface Options {
  /** The methods on the path; nothing where it is not there. */
  readonly methods: readonly string[] | undefined
}

/** What is different for requests that may reach something live. */
export interface Live {
  mayReach(exchange: Exchange): boolean
  /** The CORS headers that pages get in its place. */
  readonly cors: Cors
  /** Which pages may go there. */
  readonly origins: Pick<Origins, 'requireOwn'>
  /** Whether links of other sites lead to a path on purpose. */
  mayBeLinked(path: string): boolean
  /** The way there. */
  readonly proxy: () => Promise<Upstream>
}

/** The methods of a path that only a live backend knows. */
export const everyMethod: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']
