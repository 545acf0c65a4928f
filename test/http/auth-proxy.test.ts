import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { developmentPublishableKey, developmentSecretKey } from '../../src/core/secrets.js'
import { type PlatformOptions, startPlatform } from '../../src/index.js'
import { adminOf, answerOf, ask, askAuth, clientOf, type Place, signIn, signUp, userOf } from '../keys/people.js'
import { platformWith, type Scene } from '../scene.js'
import { userToken } from '../signing.js'
import { answerTo, onTheWire } from '../wire.js'

const liveSecret = 'the-secret-of-the-live-backend-that-nobody-here-knows'
const grace = { email: 'grace@example.com', password: 'correct-horse' }

/** A live auth backend: Standin with a secret and users of its own. */
const liveBackend = () => platformWith({ auth: { jwtSecret: liveSecret }, users: [grace] })

/** A platform whose users are those of a live backend. */
const inFrontOf = ({ authUrl, anonKey }: Pick<Place, 'authUrl' | 'anonKey'>, options: PlatformOptions = {}) =>
  platformWith({
    ...options,
    auth: { mode: 'proxy', ...options.auth },
    upstream: { authUrl, anonKey, ...options.upstream },
  })

test('an app signs up, in and out at the live backend through the platform, and the platform accepts its tokens', async () => {
  const live = await liveBackend()
  const platform = await inFrontOf(live)
  const ada = await signUp(platform)
  expect((await adminOf(live).getUserById(ada.id)).data.user?.email).toBe(ada.email)
  expect(await answerOf(platform, ada.token)).toBe('open')
  expect(await answerOf(platform, ada.token, '/api/v1')).toBe('open')
  expect(await userOf(platform, ada.token)).toBe(ada.id)

  const there = await signIn(platform, grace)
  expect((await there.client.auth.getUser()).data.user?.email).toBe(grace.email)
  const { data } = await there.client.auth.refreshSession()
  expect(await answerOf(platform, data.session?.access_token ?? '')).toBe('open')
  expect((await there.client.auth.updateUser({ data: { name: 'Grace' } })).error).toBeNull()
  expect((await there.client.auth.signOut()).error).toBeNull()
  expect((await adminOf(live).getUserById(there.id)).data.user?.user_metadata).toMatchObject({ name: 'Grace' })
})

/** Grace, signed in twice at a live backend, with both tokens cached by the platform in front of it. */
async function graceTwice() {
  const live = await platformWith({ auth: { jwtSecret: liveSecret }, users: [grace] })
  const platform = await inFrontOf(live)
  const [here, elsewhere] = [await signIn(platform, grace), await signIn(platform, grace)]
  for (const { token } of [here, elsewhere]) expect(await answerOf(platform, token)).toBe('open')
  const admin = clientOf(platform, live.serviceKey).auth.admin
  const after = async (): Promise<string> => {
    const answers = await Promise.all([here, elsewhere].map(({ token }) => answerOf(platform, token)))
    return answers.map(answer => (answer === 'open' ? 'open' : 'refused')).join(', ')
  }
  return { live, platform, here, elsewhere, admin, after }
}

type Twice = Awaited<ReturnType<typeof graceTwice>>

test.each<[string, (scene: Twice) => Promise<{ readonly error: unknown }>, string]>([
  ['a global sign-out', ({ here }) => here.client.auth.signOut({ scope: 'global' }), 'refused, refused'],
  ['a local sign-out', ({ here }) => here.client.auth.signOut({ scope: 'local' }), 'refused, open'],
  ['a sign-out of all other sessions', ({ here }) => here.client.auth.signOut({ scope: 'others' }), 'open, refused'],
  ['a password change', ({ here }) => here.client.auth.updateUser({ password: 'wrong-horse' }), 'open, refused'],
  ['deletion by an admin', ({ admin, here }) => admin.deleteUser(here.id), 'refused, refused'],
  ['a ban by an admin', ({ admin, here }) => admin.updateUserById(here.id, { ban_duration: '1h' }), 'refused, refused'],
])('%s through the platform takes effect immediately', async (_how, end, expected) => {
  const scene = await graceTwice()
  expect((await end(scene)).error).toBeNull()
  expect(await scene.after()).toBe(expected)
})

test('a token signed by this platform does not pass for a user of the live backend', async () => {
  const live = await liveBackend()
  const platform = await inFrontOf(live)
  const { id } = await signIn(platform, grace)
  expect(await answerOf(platform, await userToken({ sub: id }))).not.toBe('open')
  expect(await answerOf(platform, await userToken())).not.toBe('open')
  expect(await answerOf(platform, platform.apiKey)).toBe('open')
  expect(await answerOf(platform, platform.anonKey, '/api/v1')).toBe('open')
  expect(await answerOf(platform, platform.serviceKey, '/api/v1')).toBe('open')
  expect(await answerOf(platform, live.anonKey, '/api/v1')).toBe('open')
})

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const someone = { id: '6c8b5a0e-9a41-4c86-8b1e-0f3f4d6c2a11', email: 'ada@example.com' }
const json =
  (status: number, body: object): Handler =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** A backend that records each request and answers with this handler. */
async function recorder(handler: Handler = json(200, someone)) {
  const seen: Seen[] = []
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
    handler(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  onTestFinished(() => void stop())
  return { authUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, stop }
}

const liveAnon = 'the-anon-key-of-the-live-backend'
const aToken = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'

const behind = async (handler?: Handler, options: PlatformOptions = {}) => {
  const live = await recorder(handler)
  return { live, platform: await inFrontOf({ authUrl: live.authUrl, anonKey: liveAnon }, options) }
}

const localKeys: readonly (readonly [string, (platform: Scene) => string])[] = [
  ['anon key', ({ anonKey }) => anonKey],
  ['publishable key', () => developmentPublishableKey],
]

test.each(localKeys)(
  'the %s of this platform never reaches the live backend, which gets its own anon key instead',
  async (_name, keyOf) => {
    const { live, platform } = await behind()
    const key = keyOf(platform)
    await askAuth(platform, '/settings', { headers: { apikey: key } })
    await askAuth(platform, '/settings', { headers: { apikey: key, authorization: `Bearer ${key}` } })
    await askAuth(platform, '/settings', { headers: { apikey: key, authorization: `bearer ${key}` } })
    await askAuth(platform, '/settings', { headers: { apikey: key, authorization: key } })
    await askAuth(platform, '/settings', { headers: { apikey: `${key}, ${key}` } })
    await askAuth(platform, '/user', { headers: { apikey: key, authorization: `Bearer ${aToken}` } })
    expect(live.seen.map(({ headers: { apikey, authorization } }) => [apikey, authorization])).toEqual([
      [liveAnon, undefined],
      [liveAnon, `Bearer ${liveAnon}`],
      [liveAnon, `bearer ${liveAnon}`],
      [liveAnon, liveAnon],
      [`${liveAnon}, ${liveAnon}`, undefined],
      [liveAnon, `Bearer ${aToken}`],
    ])
    expect(JSON.stringify(live.seen)).not.toContain(key)
  },
)

test("requests with this platform's service or secret key are not forwarded", async () => {
  const { live, platform } = await behind()
  for (const key of [platform.serviceKey, developmentSecretKey]) {
    for (const authorization of [`Bearer ${key}`, key, `Token ${key}`]) {
      await askAuth(platform, '/admin/users', { headers: { apikey: aToken, authorization } })
    }
    await askAuth(platform, '/admin/users', { headers: { apikey: key } })
  }
  expect(live.seen).toEqual([])
})

test('the live anon key never reaches the app', async () => {
  const { live, platform } = await behind((_request, response) => void response.writeHead(200).end('{}'))
  const responses = [
    await askAuth(platform, '/settings'),
    await askAuth(platform, '/nowhere'),
    await ask(platform, platform.apiKey),
    await ask(platform, aToken),
    await fetch(`${platform.url}/__standin/ready`),
    await fetch(platform.dashboardUrl),
  ]
  for (const response of responses) {
    expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain(liveAnon)
  }
  await live.stop()
  expect(await (await askAuth(platform, '/settings')).text()).not.toContain(liveAnon)
})

test.each(['/auth/v1/../../rest/v1/secrets', '/auth/v1/%2e%2e/%2e%2e/rest/v1/secrets', '/auth/v1/./user/../../x'])(
  'a path that climbs out of /auth/v1 reaches nothing else on the live server: %s',
  async path => {
    const { live, platform } = await behind()
    await answerTo(platform.url, onTheWire(`GET ${path}`, ['Connection: close']))
    for (const { url } of live.seen) {
      expect(new URL(url, 'http://live').pathname).toMatch(/^\/auth\/v1\//)
    }
  },
)

test("an unreachable live backend is a 502 that Supabase's client treats as retryable", async () => {
  const { live, platform } = await behind()
  await live.stop()
  const response = await askAuth(platform, '/settings')
  expect([response.status, await response.json()]).toEqual([
    502,
    {
      code: 502,
      error_code: 'upstream_unreachable',
      msg: expect.stringMatching(/\(ECONNREFUSED\)\.$/),
      error_id: expect.any(String),
    },
  ])
  await expect(signIn(platform, grace)).rejects.toMatchObject({ name: 'AuthRetryableFetchError', status: 502 })
})

const silent: Handler = () => {}
/** Begins an answer, and sends a little of it again and again. */
const endless: Handler = (_request, response) => {
  const timer = setInterval(() => response.write(' '), 20)
  response.once('close', () => clearInterval(timer))
}

test('a live backend whose answer about a token never ends is given up', async () => {
  const { platform } = await behind(endless, { upstream: { timeoutMs: 150 } })
  expect((await ask(platform, aToken)).status).toBe(504)
})

test('a live backend that does not answer is a 504 from the auth API and from the platform API', async () => {
  const { platform } = await behind(silent, { upstream: { timeoutMs: 150 } })
  const response = await askAuth(platform, '/settings')
  expect([response.status, await response.json()]).toMatchObject([504, { code: 504, error_code: 'upstream_timeout' }])
  const onPlatform = await ask(platform, aToken)
  expect([onPlatform.status, await onPlatform.json()]).toEqual([
    504,
    { error: 'The live platform did not answer within 150 ms.' },
  ])
})

test.each([
  ['a server error', json(500, { msg: 'unexpected' })],
  ['an unknown path', json(404, { message: 'no Route matched with those values' })],
  ['an HTML page', (_request: IncomingMessage, response: ServerResponse) => void response.end('<h1>It works!</h1>')],
  [
    'a redirect',
    (_request: IncomingMessage, response: ServerResponse) => void response.writeHead(302, { location: '/login' }).end(),
  ],
])('a live backend that answers a token check with %s is a 502, not a refused token', async (_what, handler) => {
  const { platform } = await behind(handler)
  const response = await ask(platform, aToken)
  expect([response.status, await response.json()]).toEqual([502, { error: expect.any(String) }])
})

test.each([
  ['the session has ended', json(403, { code: 403, error_code: 'session_not_found', msg: 'x' })],
  ['the token is wrong', json(403, { code: 403, error_code: 'bad_jwt', msg: 'x' })],
])('when the live backend says that %s, the token is refused', async (_what, handler) => {
  const { platform } = await behind(handler)
  const response = await ask(platform, aToken)
  expect([response.status, await response.json()]).toEqual([401, { error: expect.any(String) }])
})

test('the live backend checks a token once for many requests, and again after five seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { live, platform } = await behind()
  for (let i = 0; i < 10; i++) expect(await answerOf(platform, aToken)).toBe('open')
  expect(live.seen.map(({ method, url }) => [method, url])).toEqual([['GET', '/auth/v1/user']])
  expect(live.seen[0]?.headers).toMatchObject({ apikey: liveAnon, authorization: `Bearer ${aToken}` })
  vi.setSystemTime(Date.now() + 4999)
  await answerOf(platform, aToken)
  expect(live.seen).toHaveLength(1)
  vi.setSystemTime(Date.now() + 1)
  await answerOf(platform, aToken)
  expect(live.seen).toHaveLength(2)
})

test('a credential that is not a JWT is not sent to the live backend', async () => {
  const { live, platform } = await behind()
  for (const bearer of ['sk-local-unknown', platform.apiKey, 'no.token', 'a.b.c.d']) await ask(platform, bearer)
  expect(live.seen).toEqual([])
})

test('a platform that would be its own live backend does not start', async () => {
  const first = await startPlatform()
  const port = Number(new URL(first.url).port)
  await first.stop()
  const starting = startPlatform({ port, auth: { mode: 'proxy' }, upstream: { authUrl: `http://127.0.0.1:${port}` } })
  onTestFinished(() => starting.then(({ stop }) => stop()).catch(() => {}))
  await expect(starting).rejects.toThrow(`http://127.0.0.1:${port} is this platform itself.`)
})
