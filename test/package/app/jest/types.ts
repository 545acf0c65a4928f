/** What editors offer to users of jest's global `expect`, and what the compiler refuses; nothing here is executed. */
/// <reference types="jest" />
import type { ConnectedPlatform } from 'standin'
import { type Platform, usePlatform } from 'standin/jest'

export function right(): Platform {
  const platform = usePlatform({ env: true })
  expect(platform).toHaveReceived({ path: '/v1/*', status: '4xx' })
  expect(platform.scope('a')).not.toHaveReceivedTimes(1, ({ request }) => request.bytes > 0)
  expect(platform).toHaveCalledTool('get_weather', { city: 'Oslo' })
  return platform
}

export function elsewhere(connected: ConnectedPlatform): Promise<void> {
  return expect(connected).not.toHaveReceivedTimes(1, '/v1/*')
}

export function wrong(platform: Platform): void {
  // @ts-expect-error: there is no such part of an exchange
  expect(platform).toHaveReceived({ pth: '/v1/*' })
}
