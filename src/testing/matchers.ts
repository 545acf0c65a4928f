/** Matchers for `expect.extend` of vitest and jest. */
import type { ExchangeQuery } from './exchange-filter.js'
import {
  type Diff,
  judged,
  type MatcherResult,
  type Receiver,
  type RemoteReceiver,
  received,
  receivedLast,
} from './received.js'
import { callOf } from './tools.js'

/** The context that test runners pass to their matchers. */
interface Context {
  readonly isNot?: boolean | undefined
  readonly utils: { readonly diff: Diff }
}

/** A promise if the receiver is in another process. */
type Outcome<R, T> = 0 extends 1 & T ? R : T extends RemoteReceiver ? Promise<void> : R

/**
 * For `expect(platform)` or `expect(scope)`. A query is a path, the parts of an exchange that matter, or a function that decides.
 * Must be awaited for platforms and scopes from `connect()`.
 */
export interface ReceivedMatchers<R = void, T = unknown> {
  /** The platform received this request at least once since the last reset. */
  toHaveReceived(query?: ExchangeQuery): Outcome<R, T>
  /** It received this request exactly this many times. */
  toHaveReceivedTimes(times: number, query?: ExchangeQuery): Outcome<R, T>
  /** The last request was this one. */
  toHaveReceivedLast(query: ExchangeQuery): Outcome<R, T>
  /** A tool of an MCP server was called at least once since the last reset, with at least these arguments. */
  toHaveCalledTool(name: string, args?: Readonly<Record<string, unknown>>): Outcome<R, T>
}

export const matchers = {
  toHaveReceived(this: Context, receiver: unknown, query: ExchangeQuery = {}) {
    const judge = titled('toHaveReceived', this, one => received(one, query, this.utils))
    return judged(journaling(receiver), query, judge)
  },
  toHaveReceivedTimes(this: Context, receiver: unknown, times: number, query: ExchangeQuery = {}) {
    const { diff } = this.utils
    const judge = titled('toHaveReceivedTimes', this, one => received(one, query, { times, diff }))
    return judged(journaling(receiver), query, judge)
  },
  toHaveReceivedLast(this: Context, receiver: unknown, query: ExchangeQuery) {
    const judge = titled('toHaveReceivedLast', this, one => receivedLast(one, query, this.utils.diff))
    return judged(journaling(receiver), query, judge)
  },
  toHaveCalledTool(this: Context, receiver: unknown, name: string, args?: Readonly<Record<string, unknown>>) {
    const query = callOf(name, args)
    const judge = titled('toHaveCalledTool', this, one => received(one, query, this.utils))
    return judged(journaling(receiver), query, judge)
  },
}

const titled =
  (name: string, { isNot }: Context, judge: (one: Receiver) => MatcherResult) =>
  (receiver: Receiver) => {
    const { pass, message } = judge(receiver)
    return { pass, message: () => `expect(platform)${isNot ? '.not' : ''}.${name}(…)\n\n${message()}` }
  }

function journaling(receiver: unknown): Receiver | RemoteReceiver {
  if (typeof receiver === 'object' && receiver !== null && 'journal' in receiver) return receiver as Receiver
  throw new TypeError('This matcher needs a platform or one of its scopes: expect(platform).toHaveReceived(…).')
}
