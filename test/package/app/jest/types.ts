/** What editors offer to users of jest's global `expect`, and what the compiler refuses; nothing here is executed. */
/// <reference types="jest" />
import type { ConnectedPlatform } from 'standin'
import { type Platform, usePlatform } from 'standin/jest'

export async function right(): Promise<Platform> {
  const platform = usePlatform({ env: true })
  await expect(platform).toHaveReceived({ path: '/v1/*', status: '4xx' })
  await expect(await platform.scope('a')).not.toHaveReceivedTimes(1, ({ request }) => request.bytes > 0)
  await expect(platform).toHaveCalledTool('get_weather', { city: 'Oslo' })
  return platform
}

export function elsewhere(connected: ConnectedPlatform): Promise<void> {
  return expect(connected).not.toHaveReceivedTimes(1, '/v1/*')
}

export async function wrong(platform: Platform): Promise<void> {
  // @ts-expect-error: there is no such part of an exchange
  await expect(platform).toHaveReceived({ pth: '/v1/*' })
}
