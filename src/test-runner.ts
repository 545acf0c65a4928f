/** The entry point for node:test and other runners: `usePlatform` and the matchers, for the hooks and `expect` of the runner. */
import './check/require-node.js'
import type { ExchangeQuery } from './testing/exchange-filter.js'
import { checkReceived, type Receiver } from './testing/matchers.js'

export { matchers, type ReceivedMatchers, type Receiver } from './testing/matchers.js'
export { createUsePlatform, type TestRunner as Runner, type UsePlatformOptions } from './testing/use-platform.js'

/**
 * Does the same as `expect(platform).toHaveReceived(query)`, for runners without `expect`. `times` requires an exact number.
 * Rejects with an Error that shows the closest request.
 */
export async function assertReceived(
  receiver: Receiver,
  query: ExchangeQuery,
  { times }: { readonly times?: number | undefined } = {},
): Promise<void> {
  const { pass, message } = await checkReceived(receiver, query, { times })
  if (!pass) throw new Error(message())
}
