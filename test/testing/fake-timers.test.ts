import { afterEach, expect, test, vi } from 'vitest'
import { platformWith } from '../scene.js'
import { said } from './asking.js'

afterEach(() => void vi.useRealTimers())

test('requests and the journal work with fake timers', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'Hi' } }] })
  await platform.reset()
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  expect(await said(platform, 'a')).toBe('Hi')
  expect(await platform.journal.count({ body: { messages: [{ content: 'a' }] } })).toBe(1)
  await expect(platform.journal.waitFor('/nowhere', { timeoutMs: 20 })).rejects.toThrow(
    "No exchange matching { path: '/nowhere' } arrived within 20 ms",
  )
  await platform.idle()
})

test('requests work with fake timers after a test that left a request open', async () => {
  const platform = await platformWith()
  await platform.failNext({ hang: true })
  const leaving = new AbortController()
  const hanging = platform.ask('/v1/models', { signal: leaving.signal }).catch(() => {})
  await vi.waitFor(async () => expect(await platform.journal.underWay).toBe(1), { timeout: 20_000 })
  await platform.reset()
  vi.useFakeTimers()
  await platform.ask('/health')
  expect(await platform.journal.count()).toBe(1)
  leaving.abort()
  await hanging
})
