/** The entry point for node:test and other runners: `usePlatform` and the matchers, for hooks and an `expect` of one's own. */
import type { ExchangeQuery } from './testing/exchange-filter.js'
import { judged, type MatcherResult, type Receiver, type RemoteReceiver, received } from './testing/received.js'

export { matchers, type ReceivedMatchers } from './testing/matchers.js'
export type { Receiver, RemoteReceiver } from './testing/received.js'
export { createUsePlatform, type TestRunner as Runner, type UsePlatformOptions } from './testing/use-platform.js'

/**
 * The same as `expect(platform).toHaveReceived(query)`, where there is no `expect`; with `times` for exactly that many. Throws an Error that
 * shows the nearest of what was asked. With what `connect()` has given back, it has to be awaited, and rejects.
 */
export function assertReceived<T extends Receiver | RemoteReceiver>(
  receiver: T,
  query: ExchangeQuery,
  { times }: { readonly times?: number } = {},
): T extends RemoteReceiver ? Promise<void> : void {
  const options = times === undefined ? {} : { times }
  const verdict = judged(receiver, query, one => received(one, query, options))
  const settled = verdict instanceof Promise ? verdict.then(requirePass) : requirePass(verdict)
  return settled as never
}

function requirePass({ pass, message }: MatcherResult): void {
  if (!pass) throw new Error(message())
}
