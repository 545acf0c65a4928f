import { expect, onTestFinished, test } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import { developmentPublishableKey, developmentUser } from '../../src/core/secrets.js'
import { openPlatform } from '../../src/platform.js'
import { hello, platformWith, refusalOf, unauthorized } from '../scene.js'
import { KEY_UNKNOWN, NO_CREDENTIAL } from '../sentences.js'
import { userToken } from '../signing.js'
import { liveAnonKey, liveKey, liveWith, proxyTo, send } from './live.js'

const pass = { upstream: { credentials: 'pass' } } as const

test("with credentials passed on, the live platform gets the caller's unchanged, cookies too", async () => {
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
      cookie: 'session=secret',
    })
    for (const kept of [liveKey, liveAnonKey]) expect(request.rawHeaders.join('\n')).not.toContain(kept)
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

/** A live platform that knows every path. */
const omniscient = () =>
  liveWith((request, response) => void response.writeHead(200).end(`${request.method} ${request.url}`))

test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  '%s on a path that only the live platform knows is forwarded',
  async method => {
    const { url, seen } = await omniscient()
    const { ask } = await proxyTo(url)
    const response = await ask('/v1/embeddings?dimensions=2&x', { method })
    expect([response.status, await response.text()]).toEqual([200, `${method} /v1/embeddings?dimensions=2&x`])
    expect(seen[0]?.request.headers.authorization).toBe(`Bearer ${liveKey}`)
  },
)

test.each([
  ['application/octet-stream', Buffer.from([0, 255, 13, 10, 128])],
  [
    'multipart/form-data; boundary=x',
    Buffer.from('--x\r\ncontent-disposition: form-data; name="file"\r\n\r\n\xff\r\n--x--\r\n', 'latin1'),
  ],
])('a body of %s arrives unchanged', async (type, body) => {
  const { url, seen } = await omniscient()
  const { url: platformUrl, apiKey } = await proxyTo(url)
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': type, 'content-length': body.length }
  expect((await send(`${platformUrl}/v1/audio`, { method: 'POST', headers, body })).status).toBe(200)
  expect(seen[0]?.body.equals(body)).toBe(true)
  expect(seen[0]?.request.headers).toMatchObject({ 'content-type': type, 'content-length': String(body.length) })
})

test('without a valid credential an unknown path is a 404, and the live platform gets no request', async () => {
  const { url, seen } = await omniscient()
  const { ask, anonKey, serviceKey, apiKey } = await proxyTo(url)
  const refused: readonly (readonly [string, string | null])[] = [
    ['/v1/embeddings', null],
    ['/v1/embeddings', 'sk-local-unknown'],
    ['/v1/embeddings', 'k*y'],
    ['/v1/embeddings', anonKey],
    ['/v1/embeddings', serviceKey],
    ['/api/v1/products', apiKey],
    ['/elsewhere', null],
    ['/elsewhere', liveKey],
  ]
  for (const [path, bearer] of refused) {
    const response = await ask(path, { bearer })
    expect([response.status, await response.json()]).toEqual([404, { error: 'Not found.', path }])
    expect(response.headers.get('www-authenticate')).toBeNull()
  }
  expect(seen).toEqual([])
})

test('each kind of credential is valid for the unknown paths of its own prefix, and every kind for the others', async () => {
  const { url, seen } = await omniscient()
  const { ask, anonKey, serviceKey, apiKey } = await proxyTo(url)
  const user = await userToken()
  const open: readonly (readonly [string, string])[] = [
    ...[apiKey, user].map(key => ['/v1/embeddings', key] as const),
    ...[anonKey, serviceKey, user].map(key => ['/api/v1/products', key] as const),
    ...Object.entries({ anonKey, serviceKey, user, apiKey }).map(([kind, key]) => [`/builder/${kind}`, key] as const),
  ]
  for (const [path, bearer] of open) expect([path, (await ask(path, { bearer })).status]).toEqual([path, 200])
  const sent = new Map(seen.map(({ request }) => [request.url, request.headers.authorization]))
  expect(Object.fromEntries(sent)).toEqual({
    '/v1/embeddings': `Bearer ${liveKey}`,
    '/api/v1/products': `Bearer ${liveAnonKey}`,
    '/builder/anonKey': `Bearer ${liveAnonKey}`,
    '/builder/serviceKey': `Bearer ${liveAnonKey}`,
    '/builder/user': `Bearer ${liveKey}`,
    '/builder/apiKey': `Bearer ${liveKey}`,
  })
})

test('the log says why a request was not sent to the live platform', async () => {
  const { url } = await omniscient()
  const given = { port: 0, state: 'memory', mode: 'proxy', 'upstream.baseUrl': url }
  const flags = Object.entries(given).map(([name, value]) => ({ path: name.split('.'), value, origin: 'the test' }))
  const platform = await openPlatform({ cwd: import.meta.dirname, file: false, flags })
  onTestFinished(() => platform.stop())
  const journaled = new Promise<Exchange>(resolve => platform.journal.follow(resolve))
  await fetch(`${platform.url}/v1/embeddings`)
  expect((await journaled).outcome).toMatchObject({
    status: 404,
    error: 'Not found.',
    hint: expect.stringMatching(/^The request was not sent to the live platform: No credential was sent\./),
  })
})

test('where other machines can reach the live platform, only secrets that nobody else knows open it', async () => {
  const { url, seen } = await omniscient()
  const local = await platformWith()
  const shared = await proxyTo(url, { host: '0.0.0.0' })
  const { ask, apiKey, anonKey, serviceKey, stop } = shared
  for (const bearer of [local.apiKey, local.anonKey, local.serviceKey, await userToken()])
    for (const path of ['/v1/models', '/builder']) expect((await ask(path, { bearer })).status).not.toBe(200)
  const signIn = (apikey: string) =>
    ask('/auth/v1/token?grant_type=password', {
      ...{ method: 'POST', bearer: null, headers: { apikey, 'content-type': 'application/json' } },
      body: JSON.stringify(developmentUser),
    })
  for (const key of [local.anonKey, developmentPublishableKey, anonKey])
    expect((await signIn(key)).status).not.toBe(200)
  const host = { host: `192.0.2.7:${new URL(shared.url).port}` }
  const facts = await send(`${shared.url}/dashboard/api/config`, { headers: host })
  expect(JSON.parse(facts.body.toString())).toMatchObject({ anon_key: '' })
  for (const secret of [anonKey, apiKey, local.apiKey]) expect(facts.body.toString()).not.toContain(secret)
  expect(seen).toEqual([])

  const opened = [await ask('/v1/models', { bearer: apiKey }), await ask('/api/v1', { bearer: serviceKey })]
  expect(opened.map(({ status }) => status)).toEqual([200, 200])
  await stop()
})

test('a mode at run time does not give the live key to everybody who reaches the host', async () => {
  const upstream = { baseUrl: 'http://live.example', apiKey: liveKey }
  const shared = await platformWith({ host: '0.0.0.0', upstream })
  expect((await shared.ask('/v1/models')).status).toBe(200)
  await expect(shared.switchMode('proxy')).rejects.toThrow(
    'could spend the live key with the public development secrets',
  )
  const ownKeys = { publishableKey: 'p'.repeat(20), secretKey: 's'.repeat(20), jwtSecret: 'x'.repeat(32) }
  const own = await platformWith({
    host: '0.0.0.0',
    upstream,
    auth: ownKeys,
    apiKeys: [{ name: 'mine', key: 'sk-mine' }],
  })
  await own.switchMode('proxy')
  expect(own.apiKey).toBe('sk-mine')
})
