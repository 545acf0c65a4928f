import { expect, onTestFinished, test } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import { platformCredentials } from '../../src/http/proxy.js'
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
    'empty',
    { authorization: 'Bearer ' },
    'The Authorization header has no credential. Send "Bearer", a space and the key.',
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

test('with credentials passed on, limits still count by credential', async () => {
  const { url } = await liveWith((_request, response) => response.end('{}'))
  const { ask } = await proxyTo(url, { ...pass, limits: { requestsPerMinute: 1 } })
  const statuses = []
  for (const bearer of ['sk-one', 'sk-one', 'sk-two']) statuses.push((await ask('/v1/models', { bearer })).status)
  expect(statuses).toEqual([200, 429, 200])
})

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

/** The credentials that a request to a path carries with these keys. */
function credentialsWith(keys: Parameters<typeof platformCredentials>[0]) {
  const credentials = platformCredentials(keys)
  return (path: string) => credentials({ path } as Exchange)
}

test('a user token replaces a missing API key, on /v1 only', async () => {
  const tokens = ['first', 'second']
  const credentialsFor = credentialsWith({ apiKey: '', anonKey: 'anon', userToken: async () => tokens.shift() })
  expect(await credentialsFor('/v1/models')).toEqual({ headers: { authorization: 'Bearer first' } })
  expect(await credentialsFor('/v1/chat/completions')).toEqual({ headers: { authorization: 'Bearer second' } })
  expect(await credentialsFor('/v1/models')).toEqual({ headers: {} })
  expect(credentialsFor('/api/v1')).toEqual({ headers: { authorization: 'Bearer anon' } })
  expect(credentialsFor('/health')).toEqual({ headers: {} })
})

test.each([
  [['apiKey', 'user'], 'Bearer key'],
  [['user'], 'Bearer key'],
  [['anon'], undefined],
  ['anyone', undefined],
] as const)("a request to a path of the app's own for %j is forwarded with %j", (access, authorization) => {
  const endpoint = { isConfigured: true, access } as unknown as Exchange['endpoint']
  const credentialsFor = platformCredentials({ apiKey: 'key', anonKey: 'anon' })
  expect(credentialsFor({ path: '/builder/projects', endpoint } as Exchange)).toEqual({
    headers: authorization ? { authorization } : {},
  })
  expect(credentialsFor({ path: '/builder/projects' } as Exchange)).toEqual({ headers: {} })
})

test('with an API key no user token is fetched, and nothing waits', () => {
  const credentialsFor = credentialsWith({ apiKey: 'key', anonKey: '', userToken: () => expect.unreachable() })
  expect(credentialsFor('/v1/models')).toEqual({ headers: { authorization: 'Bearer key' } })
  expect(credentialsWith({ apiKey: '', anonKey: '', userToken: () => 'token' })('/v1/models')).toEqual({
    headers: { authorization: 'Bearer token' },
  })
})
