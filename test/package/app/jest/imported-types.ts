/** The same for users who import `expect` from @jest/globals. */
import { expect } from '@jest/globals'
import type { ConnectedPlatform } from 'standin'
import type { Platform } from 'standin/jest'

export function right(platform: Platform): void {
  expect(platform).toHaveReceivedLast({ path: '/v1/*' })
  expect(platform).not.toHaveCalledTool('get_weather')
}

export function elsewhere(connected: ConnectedPlatform): Promise<void> {
  return expect(connected).not.toHaveReceivedTimes(1, '/v1/*')
}

export function wrong(platform: Platform): void {
  // @ts-expect-error: there is no such part of an exchange
  expect(platform).toHaveReceivedLast({ pth: '/v1/*' })
}
