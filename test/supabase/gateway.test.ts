import { expect, test } from 'vitest'
import { developmentPublishableKey as publishable, developmentSecretKey as secret } from '../../src/core/secrets.js'
import { send } from '../http/live.js'
import { clientOf, type Place, signUp } from '../keys/people.js'
import { platformWith, type Scene } from '../scene.js'
import { secretToken } from '../signing.js'
import { answerTo, onTheWire } from '../wire.js'

const missing = 'No API key found in request'
const invalid = 'Invalid authentication credentials'
const duplicate = 'Duplicate API key found'

/** Asks the auth backend with these headers and no others. */
const get = ({ authUrl }: Pick<Place, 'authUrl'>, path: string, headers: Record<string, string> = {}) =>
  fetch(`${authUrl}/auth/v1${path}`, { headers, redirect: 'manual' })

/** What the gateway said: its status and its sentence; nothing when it let the request pass. */
async function refusalBy(response: Response) {
  const text = await response.text()
  if (!text.startsWith('{\n  "message":')) return undefined
  return { status: response.status, said: (JSON.parse(text) as { message: string }).message }
}

test('without a key the answer is that of Kong, byte by byte', async () => {
  const response = await get(await platformWith(), '/settings')
  expect(response.status).toBe(401)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('www-authenticate')).toBe('Key realm="kong"')
  expect(await response.text()).toBe('{\n  "message":"No API key found in request"\n}')
})

// Kong 2.8's key-auth sets the challenge for a missing key only (kong/plugins/key-auth/handler.lua).
test('with a key that is not known the answer is that of Kong, byte by byte', async () => {
  const response = await get(await platformWith(), '/settings', { apikey: 'nobody' })
  expect(response.status).toBe(401)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('www-authenticate')).toBeNull()
  expect(await response.text()).toBe('{\n  "message":"Invalid authentication credentials"\n}')
})

const known: readonly (readonly [string, (place: Scene) => string])[] = [
  ['anon key', ({ anonKey }) => anonKey],
  ['service key', ({ serviceKey }) => serviceKey],
  ['publishable key', () => publishable],
  ['secret key', () => secret],
]

test.each(known)(
  'the %s passes in the header, in the query, and under any case of the header',
  async (_name, keyOf) => {
    const platform = await platformWith()
    const key = keyOf(platform)
    expect((await get(platform, '/settings', { apikey: key })).status).toBe(200)
    expect((await get(platform, '/settings', { APIKEY: key })).status).toBe(200)
    expect((await get(platform, `/settings?apikey=${encodeURIComponent(key)}`)).status).toBe(200)
  },
)

test.each<[string, (place: Scene) => string | Promise<string>]>([
  ['an API key of the platform', ({ apiKey }) => apiKey],
  ['the token of a user', async place => (await signUp(place)).token],
  ['half a key', ({ anonKey }) => anonKey.slice(0, -1)],
  ['a key and more', ({ anonKey }) => `${anonKey}x`],
  ['a key of another secret', async () => (await platformWith(ownSecret)).anonKey],
  ['an opaque key that is not configured', () => 'sb_secret_somebody-elses'],
])('%s is no key to the gateway', async (_name, keyOf) => {
  const platform = await platformWith()
  const key = await keyOf(platform)
  expect(await refusalBy(await get(platform, '/settings', { apikey: key }))).toEqual({ status: 401, said: invalid })
})

const ownSecret = { auth: { jwtSecret: 'a-secret-of-our-own-with-enough-characters' } }

test('a key in Authorization alone is none', async () => {
  const platform = await platformWith()
  const headers = { authorization: `Bearer ${platform.anonKey}` }
  expect(await refusalBy(await get(platform, '/settings', headers))).toEqual({ status: 401, said: missing })
})

test.each([
  ['an empty header', 'GET /auth/v1/settings', ['apikey:'], missing],
  ['an empty query', 'GET /auth/v1/settings?apikey=', [], missing],
  ['a query of another name', 'GET /auth/v1/settings?api_key=ANON', [], missing],
  ['two headers', 'GET /auth/v1/settings', ['apikey: ANON', 'apikey: ANON'], duplicate],
  ['two headers of which one is wrong', 'GET /auth/v1/settings', ['apikey: nobody', 'apikey: ANON'], duplicate],
  ['two in the query', 'GET /auth/v1/settings?apikey=ANON&apikey=ANON', [], duplicate],
  ['a wrong header beside a good query', 'GET /auth/v1/settings?apikey=ANON', ['apikey: nobody'], invalid],
])('%s is refused as by Kong', async (_what, request, headers, sentence) => {
  const platform = await platformWith()
  const text = onTheWire(request, headers).replaceAll('ANON', platform.anonKey)
  const { status, body } = await answerTo(platform.url, text)
  expect([status, body]).toEqual([401, `{\n  "message":"${sentence}"\n}`])
})

test('a good header beside a wrong query passes: the header comes first', async () => {
  const platform = await platformWith()
  expect((await get(platform, '/settings?apikey=nobody', { apikey: platform.anonKey })).status).toBe(200)
})

test.each(['/verify', '/callback', '/authorize', '/.well-known/jwks.json', '/sso/saml/metadata'])(
  '%s is open: a browser that follows a link has no key',
  async path => {
    const response = await get(await platformWith(), path)
    expect(await refusalBy(response)).toBeUndefined()
    expect(response.status).not.toBe(401)
  },
)

test.each([
  '/signup',
  '/token?grant_type=password',
  '/user',
  '/logout',
  '/otp',
  '/recover',
  '/admin/users',
  '/settings',
  '/health',
  '/.well-known/openid-configuration',
  '/verifier',
  '/sso',
  '/%76erify',
  '/verify/../user',
])('%s is not open', async path => {
  const { url } = await platformWith()
  const { status, body } = await answerTo(url, onTheWire(`GET /auth/v1${path}`))
  expect([status, body]).toEqual([401, `{\n  "message":"${missing}"\n}`])
})

test('a path that is not there is a 401 without a key, and with one the 404 of Supabase', async () => {
  const platform = await platformWith()
  expect(await refusalBy(await get(platform, '/nowhere'))).toEqual({ status: 401, said: missing })
  for (const path of ['/nowhere', '', '/', '/admin', '/user/nobody']) {
    const response = await get(platform, path, { apikey: platform.anonKey })
    expect([path, response.status, await response.text()]).toEqual([path, 404, '404 page not found\n'])
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  }
})

test('a method that is not there is a 405 with a key, and a 401 without', async () => {
  const platform = await platformWith()
  const ask = (headers: Record<string, string>) =>
    fetch(`${platform.authUrl}/auth/v1/settings`, { method: 'DELETE', headers })
  expect((await ask({})).status).toBe(401)
  const response = await ask({ apikey: platform.anonKey })
  expect([response.status, await response.text()]).toEqual([405, ''])
})

test('nothing behind the gateway is done before it has let a request pass', async () => {
  const platform = await platformWith()
  const body = JSON.stringify({ email: 'eve@example.com', password: 'correct-horse' })
  const response = await fetch(`${platform.authUrl}/auth/v1/signup`, { method: 'POST', body })
  expect(await refusalBy(response)).toEqual({ status: 401, said: missing })
  const { data } = await clientOf(platform, platform.serviceKey).auth.admin.listUsers()
  expect(data.users.map(({ email }) => email)).not.toContain('eve@example.com')
})

test('OPTIONS passes without a key: browsers send none with a preflight', async () => {
  const platform = await platformWith()
  const preflight = {
    origin: 'http://localhost:5173',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'apikey, authorization, x-client-info',
  }
  const response = await fetch(`${platform.authUrl}/auth/v1/token`, { method: 'OPTIONS', headers: preflight })
  expect(response.status).toBe(204)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': 'http://localhost:5173',
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': expect.stringContaining('POST'),
    'access-control-allow-headers': 'apikey, authorization, x-client-info',
  })
  const bare = await fetch(`${platform.authUrl}/auth/v1/token`, { method: 'OPTIONS' })
  expect(bare.status).toBe(204)
})

// The rule of Supabase's docker-compose: `Bearer sb_…` and no Authorization at all are answered by the apikey.

test("with the opaque secret key Supabase's client is an admin", async () => {
  const platform = await platformWith()
  const { client } = await signUp(platform)
  const admin = clientOf(platform, secret).auth.admin
  const { data, error } = await admin.listUsers()
  expect(error).toBeNull()
  expect(data.users.map(({ email }) => email)).toContain('ada@example.com')
  const { data: made } = await admin.createUser({ email: 'bob@example.com', email_confirm: true })
  expect((await admin.deleteUser(made.user?.id ?? '')).error).toBeNull()
  expect((await client.auth.getUser()).error).toBeNull()
})

test("with the publishable key Supabase's client signs up, in and out, and is no admin", async () => {
  const platform = await platformWith()
  const client = clientOf(platform, publishable)
  const { error } = await client.auth.signUp({ email: 'ada@example.com', password: 'correct-horse' })
  expect(error).toBeNull()
  expect((await client.auth.getUser()).data.user?.email).toBe('ada@example.com')
  expect((await client.auth.admin.listUsers()).error).toMatchObject({ status: 403, code: 'not_admin' })
  expect((await client.auth.signOut()).error).toBeNull()
})

/** What the auth backend takes the sender for. */
async function takenFor(platform: Place, headers: Record<string, string>): Promise<string> {
  const [admin, user] = [await get(platform, '/admin/users', headers), await get(platform, '/user', headers)]
  const { error_code, email } = (await user.json()) as { error_code?: string; email?: string }
  return `${admin.status} ${user.status} ${email ?? error_code}`
}

const anAdmin = '200 403 bad_jwt'
const noUser = '403 403 bad_jwt'
const withoutBearer = '401 401 no_authorization'

test.each<[string, string, Record<string, string>]>([
  ['the secret key alone', anAdmin, { apikey: secret }],
  ['the secret key twice, as clients send it', anAdmin, { apikey: secret, authorization: `Bearer ${secret}` }],
  ['the publishable key alone', noUser, { apikey: publishable }],
  ['the publishable key twice', noUser, { apikey: publishable, authorization: `Bearer ${publishable}` }],
  // The apikey decides, not the Authorization that is replaced.
  ['the secret key behind a publishable apikey', noUser, { apikey: publishable, authorization: `Bearer ${secret}` }],
  ['the publishable key behind a secret apikey', anAdmin, { apikey: secret, authorization: `Bearer ${publishable}` }],
  ['an unknown opaque key behind a publishable apikey', noUser, { apikey: publishable, authorization: 'Bearer sb_x' }],
  ['the anon key alone', withoutBearer, { apikey: 'ANON' }],
  ['the service key alone', withoutBearer, { apikey: 'SERVICE' }],
  ['the anon key with an opaque Authorization', withoutBearer, { apikey: 'ANON', authorization: `Bearer ${secret}` }],
  ['the anon key with the service key', anAdmin, { apikey: 'ANON', authorization: 'Bearer SERVICE' }],
  ['the secret key with the anon key', noUser, { apikey: secret, authorization: 'Bearer ANON' }],
  ['the secret key as Basic', withoutBearer, { apikey: publishable, authorization: `Basic ${secret}` }],
  ['the secret key with a small b', '403 403 bad_jwt', { apikey: publishable, authorization: `bearer ${secret}` }],
])('a client that sends %s has the role of its apikey', async (_what, expected, headers) => {
  const platform = await platformWith()
  const { anonKey, serviceKey } = platform
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replace('ANON', anonKey).replace('SERVICE', serviceKey),
  ])
  expect(await takenFor(platform, Object.fromEntries(filled))).toBe(expected)
})

test('a secret key beside the token of a user does not replace it', async () => {
  const platform = await platformWith()
  const { token } = await signUp(platform)
  const headers = { apikey: secret, authorization: `Bearer ${token}` }
  expect(await takenFor(platform, headers)).toBe('403 200 ada@example.com')
})

test('opaque keys of your own replace those that everybody knows', async () => {
  const platform = await platformWith({ auth: { publishableKey: 'sb_publishable_own', secretKey: 'sb_secret_own' } })
  expect((await clientOf(platform, 'sb_secret_own').auth.admin.listUsers()).error).toBeNull()
  for (const key of [secret, publishable]) {
    expect(await refusalBy(await get(platform, '/settings', { apikey: key }))).toEqual({ status: 401, said: invalid })
  }
})

test('without opaque keys a request without a key is refused', async () => {
  const platform = await platformWith({ auth: { publishableKey: '', secretKey: '' } })
  for (const key of ['', ' ', 'sb_', 'undefined']) {
    expect(await refusalBy(await get(platform, '/settings', { apikey: key }))).toMatchObject({ status: 401 })
  }
  const opaque = { apikey: platform.anonKey, authorization: 'Bearer sb_' }
  expect(await takenFor(platform, opaque)).toBe(withoutBearer)
})

test('an open gateway asks for nothing, and still knows opaque keys', async () => {
  const platform = await platformWith({ auth: { gateway: 'open' } })
  expect((await get(platform, '/settings')).status).toBe(200)
  expect((await get(platform, '/settings', { apikey: 'nobody' })).status).toBe(200)
  expect((await get(platform, '/nowhere')).status).toBe(404)
  expect(await takenFor(platform, {})).toBe(withoutBearer)
  expect(await takenFor(platform, { authorization: `Bearer ${secret}` })).toBe(anAdmin)
  expect(await takenFor(platform, { authorization: `Bearer ${platform.serviceKey}` })).toBe(anAdmin)
  expect(await takenFor(platform, { authorization: 'Bearer sb_secret_unknown' })).toBe(noUser)
  expect((await signUp(platform)).email).toBe('ada@example.com')
})

test("the platform's own endpoints do not know the gateway", async () => {
  const { ask, apiKey, anonKey } = await platformWith()
  expect((await ask('/v1/models', { bearer: apiKey })).status).toBe(200)
  const refused = await ask('/v1/models', { bearer: null, headers: { apikey: apiKey } })
  expect(refused.headers.get('www-authenticate')).toBe('Bearer')
  expect((await ask('/v1/models', { bearer: publishable })).status).toBe(401)
  expect((await ask('/api/v1', { bearer: anonKey })).status).toBe(200)
})

const page = 'http://localhost:5173'
const corsOf = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control') || name === 'vary'))

const shown = {
  'access-control-allow-origin': page,
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'X-Total-Count, Link, X-Supabase-Api-Version',
  vary: 'Origin',
}

test('a page may read every answer of the backend: good ones, errors, and the refusals of the gateway', async () => {
  const platform = await platformWith()
  const ask = (path: string, headers: Record<string, string>) => get(platform, path, { origin: page, ...headers })
  const { anonKey: apikey } = platform
  expect(corsOf(await ask('/settings', { apikey }))).toEqual(shown)
  expect(corsOf(await ask('/nowhere', { apikey }))).toEqual(shown)
  expect(corsOf(await ask('/user', { apikey }))).toEqual(shown)
  expect(corsOf(await ask('/settings', {}))).toEqual(shown)
  expect(corsOf(await ask('/settings', { apikey: 'nobody' }))).toEqual(shown)
})

test('where only some origins may, the others are shown nothing', async () => {
  const platform = await platformWith({ cors: { origins: [page] } })
  const ask = (origin: string) => get(platform, '/settings', { origin, apikey: platform.anonKey })
  expect(corsOf(await ask(page))).toEqual(shown)
  expect(corsOf(await ask('http://evil.test'))).toEqual({ vary: 'Origin' })
  expect(corsOf(await ask('null'))).toEqual({ vary: 'Origin' })
})

test('who is no page is told that answers differ by origin, and no more', async () => {
  const platform = await platformWith()
  expect(corsOf(await get(platform, '/settings', { apikey: platform.anonKey }))).toEqual({ vary: 'Origin' })
})

const elsewhere = 'https://evil.example'

/** Makes a user as an admin does; gives back the status and the code. */
async function madeBy(platform: Scene, headers: Record<string, string>, query = '') {
  const body = JSON.stringify({ email: 'new@example.com' })
  const response = await send(`${platform.url}/auth/v1/admin/users${query}`, { method: 'POST', headers, body })
  const { id, error_code = id && 'made' } = JSON.parse(response.body.toString())
  return [response.status, error_code]
}

const countUsers = async ({ url, serviceKey: key }: Scene) =>
  ((await (await askAdmin(url, key)).json()) as { users: readonly unknown[] }).users.length
const askAdmin = (url: string, key: string) =>
  fetch(`${url}/auth/v1/admin/users`, { headers: { apikey: key, authorization: `Bearer ${key}` } })

test('a page of another site cannot administer users with any public key', async () => {
  const platform = await platformWith()
  const { serviceKey, anonKey } = platform
  const before = await countUsers(platform)
  const minted = await secretToken({ role: 'service_role' })
  const keys = [
    { apikey: serviceKey, authorization: `Bearer ${serviceKey}` },
    { apikey: anonKey, authorization: `Bearer ${minted}` },
    { apikey: secret },
    { apikey: anonKey, authorization: `Bearer ${serviceKey}` },
  ]
  for (const key of keys) {
    for (const origin of [elsewhere, 'null', 'http://localhost.evil.example']) {
      expect(await madeBy(platform, { ...key, origin })).toEqual([403, 'foreign_origin'])
    }
    expect(await madeBy(platform, { ...key, host: 'evil.example' })).toEqual([403, 'foreign_host'])
    const rebound = { ...key, host: 'evil.example', origin: 'http://evil.example' }
    expect(await madeBy(platform, rebound)).toEqual([403, 'foreign_origin'])
    expect(await madeBy(platform, { ...key, 'sec-fetch-site': 'cross-site' })).toEqual([403, 'foreign_origin'])
  }
  // As a form sends it, without a preflight.
  expect(await madeBy(platform, { origin: elsewhere }, `?apikey=${secret}`)).toEqual([403, 'foreign_origin'])
  expect(await countUsers(platform)).toBe(before)
})

test.each([
  ['a local page', { origin: 'http://localhost:3000' }],
  ['a server', {}],
  ['a server in a container, by the name of this one', { host: 'standin:4100' }],
  ['a server in a container, by the name of its host', { host: 'host.docker.internal:4100' }],
  ['another machine', { host: '192.168.1.7:4100' }],
])('%s administers users as before', async (_who, headers) => {
  const platform = await platformWith()
  expect(await madeBy(platform, { apikey: secret, ...headers })).toEqual([200, 'made'])
})

test('a page that is listed, and every page where all are let in, may administer users', async () => {
  for (const origins of [[elsewhere], ['*']]) {
    const platform = await platformWith({ cors: { origins } })
    expect(await madeBy(platform, { apikey: secret, origin: elsewhere })).toEqual([200, 'made'])
  }
})

test('an app on another site signs users up and in, and reads all of it', async () => {
  const platform = await platformWith()
  const headers = { apikey: platform.anonKey, origin: elsewhere, 'content-type': 'application/json' }
  const body = JSON.stringify({ email: 'ada@example.com', password: 'correct horse' })
  for (const path of ['/signup', '/token?grant_type=password']) {
    const response = await fetch(`${platform.url}/auth/v1${path}`, { method: 'POST', headers, body })
    expect(response.status).toBe(200)
    expect(corsOf(response)).toEqual({ ...shown, 'access-control-allow-origin': elsewhere })
  }
})
