/** Matchers for `expect.extend` of vitest and jest. */
import type { ExchangeQuery } from './exchange-filter.js'
import { type Diff, type Receiver, received, receivedLast, type Verdict } from './received.js'

/** What runners give their matchers. */
interface Context {
  readonly isNot?: boolean | undefined
  readonly utils: { readonly diff: Diff }
}

/** For `expect(platform)` or `expect(scope)`. A query is a path, the parts of an exchange that matter, or a function that decides. */
export interface ReceivedMatchers<R = void> {
  /** The platform was asked this since the last reset, once or more often. */
  toHaveReceived(query?: ExchangeQuery): R
  /** It was asked this just so many times. */
  toHaveReceivedTimes(times: number, query?: ExchangeQuery): R
  /** This is what it was asked last. */
  toHaveReceivedLast(query: ExchangeQuery): R
}

export const matchers = {
  toHaveReceived(this: Context, receiver: unknown, query: ExchangeQuery = {}): Verdict {
    return titled('toHaveReceived', this, received(journaling(receiver), query, { diff: this.utils.diff }))
  },
  toHaveReceivedTimes(this: Context, receiver: unknown, times: number, query: ExchangeQuery = {}): Verdict {
    return titled('toHaveReceivedTimes', this, received(journaling(receiver), query, { times, diff: this.utils.diff }))
  },
  toHaveReceivedLast(this: Context, receiver: unknown, query: ExchangeQuery): Verdict {
    return titled('toHaveReceivedLast', this, receivedLast(journaling(receiver), query, this.utils.diff))
  },
}

function titled(name: string, { isNot = false }: Context, { pass, message }: Verdict): Verdict {
  return { pass, message: () => `expect(platform)${isNot ? '.not' : ''}.${name}(…)\n\n${message()}` }
}

function journaling(receiver: unknown): Receiver {
  if (typeof receiver === 'object' && receiver !== null && 'journal' in receiver) return receiver as Receiver
  throw new TypeError('Only a platform or one of its scopes has received anything: expect(platform).toHaveReceived(…).')
}
