/** A live auth backend keeps its own time: the platform's clock does not affect its answers. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { liveWith } from '../http/live.js'
import { platformWith } from '../scene.js'
import { userToken } from '../signing.js'
import { answerOf, sentences } from './people.js'

/** A platform in front of a live backend that takes every token for Ada's. */
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

test('an answer of the live backend is cached for five seconds of real time, even while the clock is frozen', async () => {
  const { platform, seen } = await inFront()
  const token = await userToken()
  await platform.clock.freeze()
  for (const _ of ['looked up', 'cached']) expect(await answerOf(platform, token)).toBe('open')
  expect(seen).toHaveLength(1)
  vi.setSystemTime(Date.now() + 5000)
  expect(await answerOf(platform, token)).toBe('open')
  expect(seen).toHaveLength(2)
})

test("moving the clock does not expire live tokens, but does expire the platform's own keys", async () => {
  const { platform, seen } = await inFront()
  const token = await userToken()
  for (const credential of [token, 'sk-soon']) expect(await answerOf(platform, credential)).toBe('open')
  await platform.clock.set(Date.UTC(2041, 0, 1))
  expect(await answerOf(platform, token)).toBe('open')
  expect(await answerOf(platform, 'sk-soon')).toBe(sentences.expiredKey)
  expect(seen).toHaveLength(1)
})
