/** The entry point for node:test and other runners: `usePlatform` and the matchers, for the hooks and `expect` of the runner. */
import './check/require-node.js'
import type { ExchangeQuery } from './testing/exchange-filter.js'
import {
  checkReceived,
  type MatcherResult,
  type Receiver,
  type RemoteReceiver,
  withJournal,
} from './testing/matchers.js'

export { matchers, type ReceivedMatchers, type Receiver, type RemoteReceiver } from './testing/matchers.js'
export { createUsePlatform, type TestRunner as Runner, type UsePlatformOptions } from './testing/use-platform.js'

/**
 * Does the same as `expect(platform).toHaveReceived(query)`, for runners without `expect`. `times` requires an exact number.
 * Throws an Error that shows the closest request. For a platform from `connect()` it must be awaited, and rejects instead.
 */
export function assertReceived<T extends Receiver | RemoteReceiver>(
  receiver: T,
  query: ExchangeQuery,
  { times }: { readonly times?: number | undefined } = {},
): T extends RemoteReceiver ? Promise<void> : void {
  const options = times === undefined ? {} : { times }
  const verdict = withJournal(receiver, query, one => checkReceived(one, query, options))
  const outcome = verdict instanceof Promise ? verdict.then(requirePass) : requirePass(verdict)
  return outcome as never
}

function requirePass({ pass, message }: MatcherResult): void {
  if (!pass) throw new Error(message())
}
