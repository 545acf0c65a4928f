/** Matchers for `expect.extend` of vitest and jest. */
import {
  checkReceived,
  checkReceivedLast,
  type Diff,
  type MatcherResult,
  type Receiver,
  type RemoteReceiver,
  withJournal,
} from './check-received.js'
import type { ExchangeQuery } from './exchange-filter.js'
import { toolCallFilter } from './tools.js'

/** The context that test runners pass to their matchers. */
interface Context {
  readonly isNot?: boolean | undefined
  readonly utils: { readonly diff: Diff }
}

/** A promise if the receiver is in another process. */
type MatcherReturn<R, T> = 0 extends 1 & T ? R : T extends RemoteReceiver ? Promise<void> : R

/**
 * For `expect(platform)` or `expect(scope)`. A query is a path, the parts to match, or a function that returns whether an exchange
 * matches. Must be awaited for platforms and scopes from `connect()`.
 */
export interface ReceivedMatchers<R = void, T = unknown> {
  /** The platform received this request at least once since the last reset. */
  toHaveReceived(query?: ExchangeQuery): MatcherReturn<R, T>
  /** It received this request exactly this many times. */
  toHaveReceivedTimes(times: number, query?: ExchangeQuery): MatcherReturn<R, T>
  /** The last request was this one. */
  toHaveReceivedLast(query: ExchangeQuery): MatcherReturn<R, T>
  /** A tool of an MCP server was called at least once since the last reset, with at least these arguments. */
  toHaveCalledTool(name: string, args?: Readonly<Record<string, unknown>>): MatcherReturn<R, T>
}

export const matchers = {
  toHaveReceived(this: Context, receiver: unknown, query: ExchangeQuery = {}) {
    const check = withTitle('toHaveReceived', this, one => checkReceived(one, query, this.utils))
    return withJournal(requireReceiver(receiver), query, check)
  },
  toHaveReceivedTimes(this: Context, receiver: unknown, times: number, query: ExchangeQuery = {}) {
    const { diff } = this.utils
    const check = withTitle('toHaveReceivedTimes', this, one => checkReceived(one, query, { times, diff }))
    return withJournal(requireReceiver(receiver), query, check)
  },
  toHaveReceivedLast(this: Context, receiver: unknown, query: ExchangeQuery) {
    const check = withTitle('toHaveReceivedLast', this, one => checkReceivedLast(one, query, this.utils.diff))
    return withJournal(requireReceiver(receiver), query, check)
  },
  toHaveCalledTool(this: Context, receiver: unknown, name: string, args?: Readonly<Record<string, unknown>>) {
    const query = toolCallFilter(name, args)
    const check = withTitle('toHaveCalledTool', this, one => checkReceived(one, query, this.utils))
    return withJournal(requireReceiver(receiver), query, check)
  },
}

const withTitle =
  (name: string, { isNot }: Context, check: (one: Receiver) => MatcherResult) =>
  (receiver: Receiver) => {
    const { pass, message } = check(receiver)
    return { pass, message: () => `expect(platform)${isNot ? '.not' : ''}.${name}(…)\n\n${message()}` }
  }

function requireReceiver(receiver: unknown): Receiver | RemoteReceiver {
  if (typeof receiver === 'object' && receiver !== null && 'journal' in receiver) return receiver as Receiver
  throw new TypeError('This matcher needs a platform or one of its scopes: expect(platform).toHaveReceived(…).')
}
