/** The entry point for node:test and other runners: `usePlatform` and the matchers, for the hooks and `expect` of the runner. */
import type { ExchangeQuery } from './testing/exchange-filter.js'
import { judged, type MatcherResult, type Receiver, type RemoteReceiver, received } from './testing/received.js'

export { matchers, type ReceivedMatchers } from './testing/matchers.js'
export type { Receiver, RemoteReceiver } from './testing/received.js'
export { createUsePlatform, type TestRunner as Runner, type UsePlatformOptions } from './testing/use-platform.js'

/**
 * Does what `expect(platform).toHaveReceived(query)` does, for runners without `expect`; `times` requires an exact
 * number. Throws an Error that shows the closest request. For a platform from `connect()`, await it; it then rejects.
 */
export function assertReceived<T extends Receiver | RemoteReceiver>(
  receiver: T,
  query: ExchangeQuery,
  { times }: { readonly times?: number | undefined } = {},
): T extends RemoteReceiver ? Promise<void> : void {
  const options = times === undefined ? {} : { times }
  const verdict = judged(receiver, query, one => received(one, query, options))
  const settled = verdict instanceof Promise ? verdict.then(requirePass) : requirePass(verdict)
  return settled as never
}

function requirePass({ pass, message }: MatcherResult): void {
  if (!pass) throw new Error(message())
}
