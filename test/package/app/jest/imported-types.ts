/** The same for users who import `expect` from @jest/globals. */
import { expect } from '@jest/globals'
import type { ConnectedPlatform } from 'standin'
import type { Platform } from 'standin/jest'

export async function right(platform: Platform): Promise<void> {
  await expect(platform).toHaveReceivedLast({ path: '/v1/*' })
  await expect(platform).not.toHaveCalledTool('get_weather')
}

export function elsewhere(connected: ConnectedPlatform): Promise<void> {
  return expect(connected).not.toHaveReceivedTimes(1, '/v1/*')
}

export async function wrong(platform: Platform): Promise<void> {
  // @ts-expect-error: there is no such part of an exchange
  await expect(platform).toHaveReceivedLast({ pth: '/v1/*' })
}
