/** A live auth backend has a time of its own: the clock of the platform in front of it does not touch what it says. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { liveWith } from '../http/live.js'
import { platformWith } from '../scene.js'
import { userToken } from '../signing.js'
import { answerOf, sentences } from './people.js'

/** A platform in front of a live backend to which every token is Ada's. */
async function inFront() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { url, seen } = await liveWith((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"id":"ada","email":"ada@example.com"}')
  })
  const apiKeys = [{ name: 'soon', key: 'sk-soon', expiresAt: '2040-01-01T00:00:00Z' }]
  const platform = await platformWith({
    ...{ auth: { mode: 'proxy' }, upstream: { authUrl: url, anonKey: 'live-anon' }, apiKeys },
  })
  return { platform, seen }
}

test('its word is taken for five seconds of real time, even while the clock stands still', async () => {
  const { platform, seen } = await inFront()
  const token = await userToken()
  platform.clock.freeze()
  for (const _ of ['asked', 'remembered']) expect(await answerOf(platform, token)).toBe('open')
  expect(seen).toHaveLength(1)
  vi.setSystemTime(Date.now() + 5000)
  expect(await answerOf(platform, token)).toBe('open')
  expect(seen).toHaveLength(2)
})

test('its tokens outlast what the clock says, and keys of the platform do not', async () => {
  const { platform, seen } = await inFront()
  const token = await userToken()
  for (const credential of [token, 'sk-soon']) expect(await answerOf(platform, credential)).toBe('open')
  platform.clock.set(Date.UTC(2041, 0, 1))
  expect(await answerOf(platform, token)).toBe('open')
  expect(await answerOf(platform, 'sk-soon')).toBe(sentences.expiredKey)
  expect(seen).toHaveLength(1)
})
