import { expect, onTestFinished, test } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import { openPlatform } from '../../src/platform.js'
import { hello, platformWith, refusalOf, unauthorized } from '../scene.js'
import { KEY_UNKNOWN, NO_CREDENTIAL } from '../sentences.js'
import { liveAnonKey, liveKey, liveWith, proxyTo } from './live.js'

const pass = { upstream: { credentials: 'pass' } } as const

test("with credentials passed on, the live platform gets the caller's unchanged", async () => {
  const { url, seen } = await liveWith((_request, response) => response.end('{}'))
  const { ask, chat } = await proxyTo(url, pass)
  const own = { bearer: 'sk-live-of-the-caller', headers: { apikey: 'anon-of-the-caller', cookie: 'session=secret' } }
  const answers = [
    await chat(hello, own),
    await ask('/v1/models', own),
    await ask('/api/v1', own),
    await ask('/health', own),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  for (const { request } of seen) {
    expect(request.headers).toMatchObject({
      authorization: 'Bearer sk-live-of-the-caller',
      apikey: 'anon-of-the-caller',
    })
    for (const kept of [liveKey, liveAnonKey, 'session=secret'])
      expect(request.rawHeaders.join('\n')).not.toContain(kept)
  }
})

test('with credentials passed on, the live platform decides which are valid', async () => {
  const live = await platformWith({ apiKeys: [{ name: 'live', key: 'sk-live-of-the-caller' }] })
  const { ask, apiKey } = await proxyTo(live.url, pass)
  expect((await ask('/v1/models', { bearer: 'sk-live-of-the-caller' })).status).toBe(200)
  expect((await ask('/v1/models', { bearer: live.anonKey })).status).toBe(401)
  expect((await ask('/api/v1', { bearer: live.anonKey })).status).toBe(200)
  expect(await refusalOf(await ask('/v1/models', { bearer: `${apiKey}-mistyped` }))).toEqual(unauthorized(KEY_UNKNOWN))
})

const malformed: readonly (readonly [string, Record<string, string>, string])[] = [
  ['missing', {}, NO_CREDENTIAL],
  [
    'of another scheme',
    { authorization: 'Basic YTpi' },
    'The Authorization header must use the Bearer scheme: "Bearer <credential>".',
  ],
  [
    'malformed',
    { authorization: 'Bearer k*y' },
    'The credential is malformed. Send "Bearer" and exactly one key or token.',
  ],
]

test.each(malformed)(
  'with credentials passed on, a credential that is %s never reaches the live platform',
  async (_how, headers, words) => {
    const { url, seen } = await liveWith((_request, response) => response.end('{}'))
    const { ask, chat } = await proxyTo(url, pass)
    const refused = [
      await ask('/v1/models', { bearer: null, headers }),
      await ask('/api/v1', { bearer: null, headers }),
      await chat(hello, { bearer: null, headers }),
    ]
    for (const response of refused) expect(await refusalOf(response)).toEqual(unauthorized(words))
    expect(seen).toEqual([])
  },
)

test('with credentials passed on, the log tells callers apart without showing their credentials', async () => {
  const { url } = await liveWith((_request, response) => response.end('{}'))
  const given = { port: 0, state: 'memory', mode: 'proxy', 'upstream.baseUrl': url, 'upstream.credentials': 'pass' }
  const flags = Object.entries(given).map(([name, value]) => ({ path: name.split('.'), value, origin: 'the test' }))
  const platform = await openPlatform({ cwd: import.meta.dirname, file: false, flags })
  onTestFinished(() => platform.stop())
  const journaled: Exchange[] = []
  platform.journal.follow(exchange => void journaled.push(exchange))
  for (const key of ['sk-one', 'sk-two', 'sk-one']) {
    await (await fetch(`${platform.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).text()
  }
  const [one, two, again] = journaled.map(({ caller }) => caller)
  expect(one).toEqual({ kind: 'stranger', id: expect.stringMatching(/^[\da-f]{16}$/) })
  expect(two).not.toEqual(one)
  expect(again).toEqual(one)
})
