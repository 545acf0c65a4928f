import { afterEach, expect, test, vi } from 'vitest'
import { platformWith } from '../scene.js'
import { said } from './asking.js'

afterEach(() => void vi.useRealTimers())

test('a test that has put a clock of its own in place of the real one is answered, and sees what was asked', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'Hi' } }] })
  await platform.reset()
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  expect(await said(platform, 'a')).toBe('Hi')
  expect(platform.journal.count({ body: { messages: [{ content: 'a' }] } })).toBe(1)
  await expect(platform.journal.waitFor('/nowhere', { timeoutMs: 20 })).rejects.toThrow('No exchange came within 20 ms')
  await platform.idle()
})

test('so is one that comes after a test which has left something under way', async () => {
  const platform = await platformWith()
  platform.failNext({ hang: true })
  const leaving = new AbortController()
  const hanging = platform.ask('/v1/models', { signal: leaving.signal }).catch(() => {})
  await vi.waitFor(() => expect(platform.journal.underWay).toBe(1), { timeout: 20_000 })
  await platform.reset()
  vi.useFakeTimers()
  await platform.ask('/health')
  expect(platform.journal.count()).toBe(1)
  leaving.abort()
  await hanging
})
