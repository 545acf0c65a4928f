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

/** Sends a GET request to the auth backend with these headers and no others. */
const get = ({ authUrl }: Pick<Place, 'authUrl'>, path: string, headers: Record<string, string> = {}) =>
  fetch(`${authUrl}/auth/v1${path}`, { headers, redirect: 'manual' })

/** The status and message with which the gateway refused a request; undefined when it let the request pass. */
async function refusalBy(response: Response) {
  const text = await response.text()
  if (!text.startsWith('{\n  "message":')) return undefined
  return { status: response.status, message: (JSON.parse(text) as { message: string }).message }
}

test("a request without a key gets Kong's response, byte for byte", async () => {
  const response = await get(await platformWith(), '/settings')
  expect(response.status).toBe(401)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('www-authenticate')).toBe('Key realm="kong"')
  expect(await response.text()).toBe('{\n  "message":"No API key found in request"\n}')
})

// Kong 2.8's key-auth sets the challenge for a missing key only (kong/plugins/key-auth/handler.lua).
test("a request with an unknown key gets Kong's response, byte for byte", async () => {
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
  'the %s is accepted in the header, in the query, and in any case of the header',
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
  ['a user token', async place => (await signUp(place)).token],
  ['a truncated key', ({ anonKey }) => anonKey.slice(0, -1)],
])('the gateway refuses %s', async (_name, keyOf) => {
  const platform = await platformWith()
  const key = await keyOf(platform)
  expect(await refusalBy(await get(platform, '/settings', { apikey: key }))).toEqual({ status: 401, message: invalid })
})

test.each([
  ['an empty header', 'GET /auth/v1/settings', ['apikey:'], missing],
  ['an empty query parameter', 'GET /auth/v1/settings?apikey=', [], missing],
  ['two headers', 'GET /auth/v1/settings', ['apikey: ANON', 'apikey: ANON'], duplicate],
  ['two keys in the query', 'GET /auth/v1/settings?apikey=ANON&apikey=ANON', [], duplicate],
  ['a wrong header and a valid query', 'GET /auth/v1/settings?apikey=ANON', ['apikey: nobody'], invalid],
])('a request with %s is refused as Kong refuses it', async (_what, request, headers, sentence) => {
  const platform = await platformWith()
  const text = onTheWire(request, headers).replaceAll('ANON', platform.anonKey)
  const { status, body } = await answerTo(platform.url, text)
  expect([status, body]).toEqual([401, `{\n  "message":"${sentence}"\n}`])
})

test.each(['/verify', '/callback', '/authorize', '/.well-known/jwks.json', '/sso/saml/metadata'])(
  '%s needs no key, since a browser that follows a link has none',
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
  '/admin/users',
  '/settings',
  '/%76erify',
  '/verify/../user',
])('%s needs a key', async path => {
  const { url } = await platformWith()
  const { status, body } = await answerTo(url, onTheWire(`GET /auth/v1${path}`))
  expect([status, body]).toEqual([401, `{\n  "message":"${missing}"\n}`])
})

test('OPTIONS needs no key, since browsers send none with a preflight', async () => {
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

// The rule of Supabase's docker-compose: with `Bearer sb_…` or without Authorization, the apikey decides.

test("Supabase's client with the opaque secret key is an admin", async () => {
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

test("Supabase's client with the publishable key signs up, in and out, and is not an admin", async () => {
  const platform = await platformWith()
  const client = clientOf(platform, publishable)
  const { error } = await client.auth.signUp({ email: 'ada@example.com', password: 'correct-horse' })
  expect(error).toBeNull()
  expect((await client.auth.getUser()).data.user?.email).toBe('ada@example.com')
  expect((await client.auth.admin.listUsers()).error).toMatchObject({ status: 403, code: 'not_admin' })
  expect((await client.auth.signOut()).error).toBeNull()
})

/** How the auth backend answers a sender as an admin and as a user. */
async function answersTo(platform: Place, headers: Record<string, string>): Promise<string> {
  const [admin, user] = [await get(platform, '/admin/users', headers), await get(platform, '/user', headers)]
  const { error_code, email } = (await user.json()) as { error_code?: string; email?: string }
  return `${admin.status} ${user.status} ${email ?? error_code}`
}

const anAdmin = '200 403 bad_jwt'
const noUser = '403 403 bad_jwt'
const withoutBearer = '401 401 no_authorization'

test.each<[string, string, Record<string, string>]>([
  ['the secret key alone', anAdmin, { apikey: secret }],
  ['the publishable key alone', noUser, { apikey: publishable }],
  // The apikey decides, not the Authorization that is replaced.
  [
    'the secret key as Bearer with a publishable apikey',
    noUser,
    { apikey: publishable, authorization: `Bearer ${secret}` },
  ],
  [
    'the publishable key as Bearer with a secret apikey',
    anAdmin,
    { apikey: secret, authorization: `Bearer ${publishable}` },
  ],
  [
    'an unknown opaque key as Bearer with a publishable apikey',
    noUser,
    { apikey: publishable, authorization: 'Bearer sb_x' },
  ],
  ['the service key alone', withoutBearer, { apikey: 'SERVICE' }],
  ['the anon key with an opaque Authorization', withoutBearer, { apikey: 'ANON', authorization: `Bearer ${secret}` }],
  ['the anon key with the service key', anAdmin, { apikey: 'ANON', authorization: 'Bearer SERVICE' }],
  ['the secret key with the anon key', noUser, { apikey: secret, authorization: 'Bearer ANON' }],
  [
    'the secret key after a lower-case bearer',
    '403 403 bad_jwt',
    { apikey: publishable, authorization: `bearer ${secret}` },
  ],
])('a client that sends %s gets the same role as behind the gateway of Supabase', async (_what, expected, headers) => {
  const platform = await platformWith()
  const { anonKey, serviceKey } = platform
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value.replace('ANON', anonKey).replace('SERVICE', serviceKey),
  ])
  expect(await answersTo(platform, Object.fromEntries(filled))).toBe(expected)
})

test('your own opaque keys replace the published ones', async () => {
  const platform = await platformWith({ auth: { publishableKey: 'sb_publishable_own', secretKey: 'sb_secret_own' } })
  expect((await clientOf(platform, 'sb_secret_own').auth.admin.listUsers()).error).toBeNull()
  for (const key of [secret, publishable]) {
    expect(await refusalBy(await get(platform, '/settings', { apikey: key }))).toEqual({
      status: 401,
      message: invalid,
    })
  }
})

test('an open gateway requires no key and still recognizes opaque keys', async () => {
  const platform = await platformWith({ auth: { gateway: 'open' } })
  expect((await get(platform, '/settings')).status).toBe(200)
  expect((await get(platform, '/settings', { apikey: 'nobody' })).status).toBe(200)
  expect((await get(platform, '/nowhere')).status).toBe(404)
  expect(await answersTo(platform, {})).toBe(withoutBearer)
  expect(await answersTo(platform, { authorization: `Bearer ${secret}` })).toBe(anAdmin)
  expect(await answersTo(platform, { authorization: `Bearer ${platform.serviceKey}` })).toBe(anAdmin)
  expect(await answersTo(platform, { authorization: 'Bearer sb_secret_unknown' })).toBe(noUser)
  expect((await signUp(platform)).email).toBe('ada@example.com')
})

const page = 'http://localhost:5173'
const corsOf = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control') || name === 'vary'))

const corsHeaders = {
  'access-control-allow-origin': page,
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'X-Total-Count, Link, X-Supabase-Api-Version',
  vary: 'Origin',
}

test('a page may read every response of the backend: successes, errors and refusals of the gateway', async () => {
  const platform = await platformWith()
  const ask = (path: string, headers: Record<string, string>) => get(platform, path, { origin: page, ...headers })
  const { anonKey: apikey } = platform
  expect(corsOf(await ask('/settings', { apikey }))).toEqual(corsHeaders)
  expect(corsOf(await ask('/nowhere', { apikey }))).toEqual(corsHeaders)
  expect(corsOf(await ask('/user', { apikey }))).toEqual(corsHeaders)
  expect(corsOf(await ask('/settings', {}))).toEqual(corsHeaders)
  expect(corsOf(await ask('/settings', { apikey: 'nobody' }))).toEqual(corsHeaders)
})

const elsewhere = 'https://evil.example'

/** Creates a user as an admin; returns the status and the error code. */
async function createUser(platform: Scene, headers: Record<string, string>, query = '') {
  const body = JSON.stringify({ email: 'new@example.com' })
  const response = await send(`${platform.url}/auth/v1/admin/users${query}`, { method: 'POST', headers, body })
  const { id, error_code = id && 'created' } = JSON.parse(response.body.toString())
  return [response.status, error_code]
}

const countUsers = async ({ url, serviceKey: key }: Scene) =>
  ((await (await askAdmin(url, key)).json()) as { users: readonly unknown[] }).users.length
const askAdmin = (url: string, key: string) =>
  fetch(`${url}/auth/v1/admin/users`, { headers: { apikey: key, authorization: `Bearer ${key}` } })

test('a page on another site cannot manage users with any public key', async () => {
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
      expect(await createUser(platform, { ...key, origin })).toEqual([403, 'foreign_origin'])
    }
    expect(await createUser(platform, { ...key, host: 'evil.example' })).toEqual([403, 'foreign_host'])
    const rebound = { ...key, host: 'evil.example', origin: 'http://evil.example' }
    expect(await createUser(platform, rebound)).toEqual([403, 'foreign_origin'])
    expect(await createUser(platform, { ...key, 'sec-fetch-site': 'cross-site' })).toEqual([403, 'foreign_origin'])
  }
  // As a form sends it, without a preflight.
  expect(await createUser(platform, { origin: elsewhere }, `?apikey=${secret}`)).toEqual([403, 'foreign_origin'])
  expect(await countUsers(platform)).toBe(before)
})

test.each([
  ['a local page', { origin: 'http://localhost:3000' }],
  ['a server', {}],
  ['a server in a container that uses the service name', { host: 'standin:4100' }],
  ['a server in a container that uses host.docker.internal', { host: 'host.docker.internal:4100' }],
  ['another machine', { host: '192.168.1.7:4100' }],
])('%s can manage users', async (_who, headers) => {
  const platform = await platformWith()
  expect(await createUser(platform, { apikey: secret, ...headers })).toEqual([200, 'created'])
})

test('a page of an allowed origin, and any page when all origins are allowed, can manage users', async () => {
  for (const origins of [[elsewhere], ['*']]) {
    const platform = await platformWith({ cors: { origins } })
    expect(await createUser(platform, { apikey: secret, origin: elsewhere })).toEqual([200, 'created'])
  }
})
