/** The entry point for node:test and other runners: `usePlatform` and the matchers, for hooks and an `expect` of one's own. */
import type { ExchangeQuery } from './testing/exchange-filter.js'
import { type Receiver, received } from './testing/received.js'

export { matchers, type ReceivedMatchers } from './testing/matchers.js'
export type { Receiver } from './testing/received.js'
export { createUsePlatform, type Runner, type UsePlatformOptions } from './testing/use-platform.js'

/**
 * The same as `expect(platform).toHaveReceived(query)`, where there is no `expect`; with `times` for just so many. Throws an Error that
 * shows the nearest of what was asked.
 */
export function assertReceived(
  receiver: Receiver,
  query: ExchangeQuery,
  { times }: { readonly times?: number } = {},
): void {
  const { pass, message } = received(receiver, query, times === undefined ? {} : { times })
  if (!pass) throw new Error(message())
}
