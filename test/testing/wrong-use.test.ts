import { inspect } from 'node:util'
import { expect, test, vi } from 'vitest'
import type { Platform } from '../../src/index.js'
import { matchers } from '../../src/testing/matchers.js'
import { platformWith } from '../scene.js'
import { AN_OBJECT, didYouMean, isMissing, isUnknown, mustBe, mustBeSuch, NEAREST } from '../sentences.js'
import { said } from './asking.js'

const A_SCOPE = 'a name of printable ASCII characters'
const A_NAME = 'a string of at most 1000 characters'

type Use = (platform: Platform) => unknown

test.each<[name: string, use: Use, sentence: string]>([
  ['a number as a query', p => p.journal.find(5 as never), mustBe('the query: the argument', AN_OBJECT, 5)],
  ['an invalid status', p => p.journal.find({ status: '4XX' as never }), mustBeSuch('status', 'a status such as 429')],
  ['an async query', p => p.journal.find((async () => false) as never), 'must not be async'],
  ['an unknown option of waitFor', p => p.journal.waitFor('/', { timeout: 5 } as never), didYouMean('timeoutMs')],
  [
    'text as an outbox query',
    p => p.outbox.messages('ada@example.com' as never),
    mustBeSuch('outbox: the argument', AN_OBJECT),
  ],
  ['an unknown field of a key', p => p.createKey({ expiresIn: 5 } as never), didYouMean('expiresInMs')],
  ['a key name that is too long', p => p.createKey({ name: 'x'.repeat(1001) }), mustBeSuch('createKey: name', A_NAME)],
  ['undefined as a scope', p => p.scope(undefined as never), isMissing('scope: the argument', A_SCOPE)],
  ['a scope name of two lines', p => p.scope('a\nb'), mustBeSuch('scope: the argument', 'a name')],
  ['an unknown option of reset', p => p.reset({ stat: false } as never), didYouMean('state')],
  ['text as a time of the clock', p => p.clock.set('2030' as never), 'It cannot be set to 2030.'],
  [
    'an unknown condition',
    p => p.failNext({ status: 500 }, { when: { usr: 'a' } as never }),
    `failNext: when.usr ${isUnknown()}`,
  ],
])('%s is an error at once', async (_name, use, sentence) => {
  const platform = await platformWith()
  await platform.ask('/v1/models')
  await expect((async () => use(platform))()).rejects.toThrow(sentence)
})

const context = { utils: { diff: (wanted: unknown, found: unknown) => inspect([wanted, found], { depth: 9 }) } }

test('any field may be a regular expression or a matcher, and header names ignore case', async () => {
  const { journal, ask } = await platformWith()
  await ask('/v1/models', { headers: { 'X-Tenant': 'acme' } })
  expect(await journal.count(/models$/)).toBe(1)
  expect(
    await journal.count({ path: /^\/v1/, method: expect.stringMatching(/^GET$/), status: expect.any(Number) as never }),
  ).toBe(1)
  expect(await journal.count({ path: /completions/ })).toBe(0)
  expect(await journal.count({ headers: { 'X-Tenant': 'acme' } })).toBe(1)
})

test('the nearest request in a failure is of the same kind and shows the likely field', async () => {
  const platform = await platformWith()
  await said(platform, 'hello')
  await platform.ask('/v1/models')
  const { message } = await matchers.toHaveReceived.call(context, platform, { body: { modle: 'gpt-4o-mini' } })
  expect(message()).toContain(`${NEAREST} POST /v1/chat/completions, 200:`)
  expect(message()).toContain("{ body: { model: 'gpt-4o-mini' } }")
  const whole = await matchers.toHaveReceived.call(context, platform, `${platform.url}/v1/chat/completions`)
  expect(whole.message()).toContain(`${NEAREST} POST /v1/chat/completions`)
})

test('a failure shows where long texts differ', async () => {
  const platform = await platformWith()
  const long = 'a'.repeat(200_000)
  await said(platform, `${long}b${long}`)
  const query = { body: { messages: [{ content: `${long}c${long}` }] } }
  const failure = (await matchers.toHaveReceived.call(context, platform, query)).message()
  expect(failure.length).toBeLessThan(3000)
  expect(failure).toContain('(199940 characters) …')
  expect(failure).toMatch(/aac[\s\S]*aab/)
})

test('a failure says that a request is still under way', async () => {
  const platform = await platformWith()
  await platform.failNext({ hang: true })
  const leaving = new AbortController()
  const hanging = platform.ask('/v1/models', { signal: leaving.signal }).catch(() => {})
  await expect(platform.journal.waitFor('/v1/models', { timeoutMs: 300 })).rejects.toThrow(
    'No request has arrived. A request is still under way.',
  )
  leaving.abort()
  await hanging
})

test('a request that one test leaves open does not affect later tests', async () => {
  const platform = await platformWith()
  await platform.failNext({ hang: true })
  const leaving = new AbortController()
  const hanging = platform.ask('/v1/models', { signal: leaving.signal }).catch(() => {})
  await vi.waitFor(async () => expect(await platform.journal.underWay).toBe(1), { timeout: 20_000 })
  await expect(platform.idle({ timeoutMs: 200 })).rejects.toThrow('a request is still under way')
  await platform.reset()
  await platform.idle({ timeoutMs: 200 })
  await platform.ask('/health')
  leaving.abort()
  await hanging
  await platform.ask('/health')
  await platform.idle()
  expect((await platform.journal.find()).map(({ request }) => request.path)).toEqual(['/health', '/health'])
})

test('calls on a stopped platform fail with that reason', async () => {
  const platform = await platformWith()
  const scope = await platform.scope('before')
  await platform.stop()
  await expect(platform.reply('x')).rejects.toThrow('The platform has been stopped.')
  await expect(scope.reply('x')).rejects.toThrow('The platform has been stopped.')
  await expect(platform.signIn()).rejects.toThrow('The platform has been stopped.')
  await expect(platform.scope('after')).rejects.toThrow('The platform has been stopped.')
})
