import { inspect } from 'node:util'
import { expect, test, vi } from 'vitest'
import { callerKinds } from '../../src/core/caller.js'
import type { Platform } from '../../src/index.js'
import { matchers } from '../../src/testing/matchers.js'
import { platformWith } from '../scene.js'
import { AN_OBJECT, didYouMean, isMissing, isUnknown, mustBe, mustBeSuch, NEAREST, oneOf } from '../sentences.js'
import { said } from './asking.js'

const A_SCOPE = 'a name of printable ASCII characters'
const A_NAME = 'text of at most 1000 characters'

type Use = (platform: Platform) => unknown

test.each<[name: string, use: Use, sentence: string]>([
  ['a number', p => p.journal.find(5 as never), mustBe('the query: what it is given', AN_OBJECT, 5)],
  ['nothing', p => p.journal.find(null as never), mustBe('the query: what it is given', AN_OBJECT, null)],
  ['a list', p => p.journal.find(['/v1/models'] as never), `the query: 0 ${isUnknown()}`],
  ['a status', p => p.journal.find({ status: '4XX' as never }), mustBeSuch('status', 'a status such as 429')],
  ['statuses', p => p.journal.find({ status: [200] as never }), mustBeSuch('status', 'a status such as 429')],
  ['a caller', p => p.journal.find({ caller: 'bob' as never }), mustBe('caller', oneOf(...callerKinds), 'bob')],
  ['a part', p => p.journal.find({ modle: 'x' } as never), `modle ${isUnknown('model')}`],
  ['a promise', p => p.journal.find((async () => false) as never), 'must not be async'],
  ['an option', p => p.journal.waitFor('/', { timeout: 5 } as never), didYouMean('timeoutMs')],
  ['a long time', p => p.journal.waitFor('/', { timeoutMs: Number.POSITIVE_INFINITY }), 'not Infinity'],
  ['a message', p => p.outbox.waitFor({ mail: 'x' } as never), `outbox: mail ${isUnknown()}`],
  ['an address', p => p.outbox.messages('ada@example.com' as never), mustBeSuch('outbox: what it is given', AN_OBJECT)],
  [
    'a user',
    p => p.signIn('ada@example.com' as never),
    mustBe('signIn: what it is given', AN_OBJECT, 'ada@example.com'),
  ],
  ['their address', p => p.signIn({ mail: 'x' } as never), didYouMean('email')],
  ['a key', p => p.createKey({ expiresIn: 5 } as never), didYouMean('expiresInMs')],
  ['a long name', p => p.createKey({ name: 'x'.repeat(1001) }), mustBeSuch('createKey: name', A_NAME)],
  ['a name that cannot be kept', p => p.createKey({ name: 'a\0b' }), mustBeSuch('createKey: name', A_NAME)],
  ['no time', p => p.createKey({ expiresInMs: Number.NaN }), mustBeSuch('expiresInMs', 'milliseconds')],
  ['no scope', p => p.scope(undefined as never), isMissing('scope: what it is given', A_SCOPE)],
  ['a scope', p => p.scope(''), mustBeSuch('scope: what it is given', 'a name')],
  ['a scope of two lines', p => p.scope('a\nb'), mustBeSuch('scope: what it is given', 'a name')],
  ['what to reset', p => p.reset({ stat: false } as never), didYouMean('state')],
  ['how long', p => p.idle({ timeout: 5 } as never), didYouMean('timeoutMs')],
  ['a time of the clock', p => p.clock.set('2030' as never), 'It cannot be set to 2030.'],
  ['a step of the clock', p => p.clock.advance('1h' as never), 'It cannot be moved by 1h.'],
  [
    'conditions',
    p => p.failNext({ status: 500 }, { when: { usr: 'a' } as never }),
    `failNext: when.usr ${isUnknown()}`,
  ],
  ['no reply', p => p.reply(null as never), mustBe('reply', AN_OBJECT, null)],
])('%s that cannot be meant is an error at once', async (_name, use, sentence) => {
  const platform = await platformWith()
  await platform.ask('/v1/models')
  await expect((async () => use(platform))()).rejects.toThrow(sentence)
})

const context = { utils: { diff: (wanted: unknown, found: unknown) => inspect([wanted, found], { depth: 9 }) } }

test('times and query in the wrong order are an error', async () => {
  const platform = await platformWith()
  expect(() => matchers.toHaveReceivedTimes.call(context, platform, '/v1/models' as never, 2 as never)).toThrow(
    'The first argument must be',
  )
})

test('any part may be a regular expression or a matcher, and headers may be written as one likes', async () => {
  const { journal, ask } = await platformWith()
  await ask('/v1/models', { headers: { 'X-Tenant': 'acme' } })
  expect(journal.count(/models$/)).toBe(1)
  expect(
    journal.count({ path: /^\/v1/, method: expect.stringMatching(/^GET$/), status: expect.any(Number) as never }),
  ).toBe(1)
  expect(journal.count({ path: /completions/ })).toBe(0)
  expect(journal.count({ headers: { 'X-Tenant': 'acme' } })).toBe(1)
})

test('what is shown as the nearest is of the same kind, with the name that was probably meant', async () => {
  const platform = await platformWith()
  await said(platform, 'hello')
  await platform.ask('/v1/models')
  const { message } = await matchers.toHaveReceived.call(context, platform, { body: { modle: 'gpt-4o-mini' } })
  expect(message()).toContain(`${NEAREST} POST /v1/chat/completions, 200:`)
  expect(message()).toContain("{ body: { model: 'gpt-4o-mini' } }")
  const whole = await matchers.toHaveReceived.call(context, platform, `${platform.url}/v1/chat/completions`)
  expect(whole.message()).toContain(`${NEAREST} POST /v1/chat/completions`)
})

test('a matcher is told in its own words', async () => {
  const platform = await platformWith()
  const query = { body: { user: expect.any(String), messages: [{ content: expect.stringContaining('bye') }] } }
  const { message } = await matchers.toHaveReceived.call(context, platform, query)
  expect(message()).toContain("body: { user: Any<String>, messages: [ { content: StringContaining 'bye' } ] }")
})

test('of long texts a failure shows where they differ', async () => {
  const platform = await platformWith()
  const long = 'a'.repeat(200_000)
  await said(platform, `${long}b${long}`)
  const query = { body: { messages: [{ content: `${long}c${long}` }] } }
  const told = (await matchers.toHaveReceived.call(context, platform, query)).message()
  expect(told.length).toBeLessThan(3000)
  expect(told).toContain('(199940 characters) …')
  expect(told).toMatch(/aac[\s\S]*aab/)
})

test('a failure says that something is still under way', async () => {
  const platform = await platformWith()
  platform.failNext({ hang: true })
  const leaving = new AbortController()
  const hanging = platform.ask('/v1/models', { signal: leaving.signal }).catch(() => {})
  await expect(platform.journal.waitFor('/v1/models', { timeoutMs: 300 })).rejects.toThrow(
    'No request has arrived. A request is still under way.',
  )
  leaving.abort()
  await hanging
})

test('what a test has left hanging is no concern of those after it', async () => {
  const platform = await platformWith()
  platform.failNext({ hang: true })
  const leaving = new AbortController()
  const hanging = platform.ask('/v1/models', { signal: leaving.signal }).catch(() => {})
  await vi.waitFor(() => expect(platform.journal.underWay).toBe(1), { timeout: 20_000 })
  await expect(platform.idle({ timeoutMs: 200 })).rejects.toThrow('a request is still under way')
  await platform.reset()
  await platform.idle({ timeoutMs: 200 })
  await platform.ask('/health')
  leaving.abort()
  await hanging
  await platform.ask('/health')
  await platform.idle()
  expect(platform.journal.find().map(({ request }) => request.path)).toEqual(['/health', '/health'])
})

test('a journal has room again after each reset', async () => {
  const platform = await platformWith({ journal: { maxEntries: 10 } })
  for (let round = 0; round < 5; round++) {
    await platform.reset()
    for (let nth = 0; nth < 8; nth++) await platform.ask('/health')
    await platform.idle()
    expect(platform.journal.count()).toBe(8)
  }
})

test('a stopped platform says so', async () => {
  const platform = await platformWith()
  const scope = platform.scope('before')
  await platform.stop()
  await expect(platform.reply('x')).rejects.toThrow('The platform has been stopped.')
  await expect(scope.reply('x')).rejects.toThrow('The platform has been stopped.')
  await expect(platform.signIn()).rejects.toThrow('The platform has been stopped.')
  expect(platform.scope('after').name).toBe('after')
})
