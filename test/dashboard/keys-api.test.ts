import http from 'node:http'
import request from 'supertest'
import { expect, test } from 'vitest'
import { hello, platformWith, refusalOf, type Scene, unauthorized } from '../scene.js'
import { AN_OBJECT, isMissing, isUnknown, mustBe, NO_BODY, NO_CREDENTIAL, range, tooLarge } from '../sentences.js'
import { ada, signedUp } from './people.js'

interface Key {
  readonly id: string
  readonly key: string
  readonly expires_at: string | null
}

/** The keys API, called by one user. */
async function keysOf(platform: Scene, person: object = ada) {
  const bearer = await signedUp(platform, person)
  const send = (method: string, path: string, body?: object) =>
    platform.ask(`/dashboard/api/keys${path}`, {
      method,
      bearer,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  const create = async (wanted: object = { name: 'one' }) => (await (await send('POST', '', wanted)).json()) as Key
  const list = async () => ((await (await send('GET', '')).json()) as { data: readonly object[] }).data
  return { send, create, list, bearer }
}

test('a key is returned with its secret only once, and is listed without it', async () => {
  const platform = await platformWith()
  const { send, list } = await keysOf(platform)
  const made = await send('POST', '', { name: '  CI  ' })
  expect({ status: made.status, cache: made.headers.get('cache-control') }).toEqual({ status: 201, cache: 'no-store' })
  const key = (await made.json()) as Key
  expect(key).toEqual({
    id: expect.any(String),
    name: 'CI',
    user_id: expect.any(String),
    start: expect.stringMatching(/^sk-local-\w{4}$/),
    state: 'active',
    created_at: expect.any(String),
    last_used_at: null,
    expires_at: null,
    revoked_at: null,
    key: expect.stringMatching(/^sk-local-\w{38}$/),
  })
  const { key: _secret, ...shown } = key
  expect(await list()).toEqual([shown])
})

test('a key works for the language model API until it is revoked, and revoking it twice is not an error', async () => {
  const platform = await platformWith()
  const { send, create, list } = await keysOf(platform)
  const { id, key } = await create()
  expect((await platform.chat(hello, { bearer: key })).status).toBe(200)
  expect(await list()).toEqual([expect.objectContaining({ last_used_at: expect.any(String) })])

  const revoked = await send('DELETE', `/${id}`)
  expect(revoked.status).toBe(200)
  const view = await revoked.json()
  expect(view).toMatchObject({ id, state: 'revoked', revoked_at: expect.any(String) })
  expect(await refusalOf(await platform.chat(hello, { bearer: key }))).toEqual(
    unauthorized('The API key has been revoked.'),
  )
  expect(await (await send('DELETE', `/${id}`)).json()).toEqual(view)
})

test.each([
  ['in a number of seconds', { expires_in: 3600 }, 3_600_000],
  ['at a given time', { expires_at: new Date(Date.now() + 7_200_000).toISOString() }, 7_200_000],
])('a key expires %s', async (_how, expiry, afterMs) => {
  const { create } = await keysOf(await platformWith())
  const { expires_at } = await create({ name: 'one', ...expiry })
  expect(Math.abs(Date.parse(expires_at ?? '') - Date.now() - afterMs)).toBeLessThan(60_000)
})

test.each([
  ['null', { expires_at: null }, null],
  ['a date', { expires_at: '2040-01-31' }, '2040-01-31T00:00:00.000Z'],
  ['in another time zone', { expires_at: '2040-01-31T12:00:00+02:00' }, '2040-01-31T10:00:00.000Z'],
])('the time of expiry may be %s', async (_what, expiry, expected) => {
  const { create } = await keysOf(await platformWith())
  expect((await create({ name: 'one', ...expiry })).expires_at).toBe(expected)
})

test("a user cannot see or revoke another user's keys", async () => {
  const platform = await platformWith()
  const adas = await keysOf(platform)
  const graces = await keysOf(platform, { email: 'grace@example.com', password: 'another password' })
  const { id, key } = await adas.create()
  expect(await graces.list()).toEqual([])
  for (const [method, path] of [
    ['DELETE', `/${id}`],
    ['DELETE', '/nothing'],
    ['DELETE', '/%zz'],
  ] as const) {
    expect((await graces.send(method, path)).status).toBe(404)
  }
  expect((await platform.chat(hello, { bearer: key })).status).toBe(200)
})

const aName = 'a string of 1 to 100 characters'
const aMoment = 'a time in the future, such as 2030-01-31T12:00:00Z, or null'

test.each([
  [{}, isMissing('name', aName)],
  [{ name: 7 }, mustBe('name', aName, 7)],
  [{ name: '   ' }, mustBe('name', aName, '')],
  [{ name: 'n'.repeat(101) }, `name must be ${aName}, not "${'n'.repeat(59)}….`],
  [{ nmae: 'one' }, isMissing('name', aName)],
  [{ name: 'one', expire_in: 3600 }, `expire_in ${isUnknown('expires_in')}`],
  [{ name: 'one', colour: 'red' }, `colour ${isUnknown()} Known: name, expires_at, expires_in.`],
  [{ name: 'one', expires_at: 'soon' }, mustBe('expires_at', aMoment, 'soon')],
  [{ name: 'one', expires_at: '2040-02-31' }, mustBe('expires_at', aMoment, '2040-02-31')],
  [{ name: 'one', expires_at: '2020-01-01' }, mustBe('expires_at', aMoment, '2020-01-01')],
  [{ name: 'one', expires_at: 3600 }, mustBe('expires_at', aMoment, 3600)],
  [{ name: 'one', expires_in: 0 }, mustBe('expires_in', range('a whole number of seconds', 1, 315360000), 0)],
  [{ name: 'one', expires_in: 1.5 }, mustBe('expires_in', range('a whole number of seconds', 1, 315360000), 1.5)],
  [
    { name: 'one', expires_in: 60, expires_at: '2040-01-31' },
    mustBe('expires_in', 'left out if expires_at is given', 60),
  ],
  [[], mustBe('The request body', AN_OBJECT, [])],
])('a key cannot be created from %j', async (body, error) => {
  const { send, list } = await keysOf(await platformWith())
  const refused = await send('POST', '', body)
  expect({ status: refused.status, body: await refused.json() }).toEqual({ status: 400, body: { error } })
  expect(await list()).toEqual([])
})

test.each([
  ['that is empty', '', 400, NO_BODY],
  ['that is truncated', '{"name":', 400, expect.stringMatching(/^The request body .*JSON: /)],
  ['that is too large', `{"name":"${'n'.repeat(70_000)}"}`, 413, tooLarge(65536)],
])('a body %s is refused', async (_what, body, status, error) => {
  const platform = await platformWith()
  const { bearer } = await keysOf(platform)
  const headers = { 'content-type': 'application/json' }
  const refused = await platform.ask('/dashboard/api/keys', { method: 'POST', bearer, headers, body })
  expect({ status: refused.status, body: await refused.json() }).toEqual({ status, body: { error } })
})

test.each([
  ['text/plain', { 'content-type': 'text/plain' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['compressed', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
])('a body that is not plain JSON is refused: %s', async (_what, headers) => {
  const platform = await platformWith()
  const { bearer, list } = await keysOf(platform)
  const refused = await platform.ask('/dashboard/api/keys', { method: 'POST', bearer, headers, body: '{"name":"one"}' })
  expect(refused.status).toBe(415)
  expect(await list()).toEqual([])
})

test('only a user token gives access to keys', async () => {
  const { ask, anonKey, serviceKey, apiKey } = await platformWith()
  const asked = (bearer: string | null) => ask('/dashboard/api/keys', { bearer })
  expect(await refusalOf(await asked(null))).toEqual(unauthorized(NO_CREDENTIAL))
  for (const [bearer, kind] of [
    [anonKey, 'The anon key'],
    [serviceKey, 'The service key'],
    [apiKey, 'An API key'],
  ] as const) {
    expect(await refusalOf(await asked(bearer))).toEqual(
      unauthorized(`${kind} is not accepted by GET /dashboard/api/keys. Send a user token.`),
    )
  }
  expect((await ask('/dashboard/api/keys', { method: 'POST', bearer: 'nothing' })).status).toBe(401)
})

test.each([
  ['PUT', '/keys', 'GET, HEAD, POST'],
  ['GET', '/keys/some-id', 'DELETE'],
  ['POST', '/config', 'GET, HEAD'],
])('%s is not allowed on %s', async (method, path, allow) => {
  const { url } = await platformWith()
  const { status, body, headers } = await request(url)[method.toLowerCase() as 'get'](`/dashboard/api${path}`)
  expect({ status, allow: headers.allow, body }).toEqual({
    status: 405,
    allow,
    body: { error: expect.stringContaining(`${method} is not allowed here.`) },
  })
})

test('an unknown path of the API is a 404 like any other', async () => {
  const { ask } = await platformWith()
  const response = await ask('/dashboard/api/nowhere?with=query')
  expect({ status: response.status, body: await response.json() }).toEqual({
    status: 404,
    body: { error: 'Not found.', path: '/dashboard/api/nowhere' },
  })
})

test.each(['a\0b', 'half \ud83d'])('a name with unstorable characters is refused: %j', async name => {
  const { send } = await keysOf(await platformWith())
  const refused = await send('POST', '', { name })
  expect(refused.status).toBe(400)
  const { error } = (await refused.json()) as { error: string }
  expect(error).toMatch(
    /^name must be a string of 1 to 100 characters, without unpaired surrogates or NUL characters, not "/,
  )
})

test('after a body that was too large the connection accepts the next request', async () => {
  const platform = await platformWith()
  const { bearer } = await keysOf(platform)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const statusOf = (method: string, path: string, body?: string) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
      const asked = http.request(platform.url + path, { agent, method, headers }, answer => {
        answer.resume().on('end', () => resolve(answer.statusCode))
      })
      asked.on('error', reject).end(body)
    })
  expect(await statusOf('POST', '/dashboard/api/keys', JSON.stringify({ name: 'x'.repeat(2_000_000) }))).toBe(413)
  expect(await statusOf('GET', '/health')).toBe(200)
  agent.destroy()
})
