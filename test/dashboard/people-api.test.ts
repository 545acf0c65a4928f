import request from 'supertest'
import { expect, test } from 'vitest'
import { platformWith, type Scene } from '../scene.js'
import { ada, signedUp } from './people.js'
import { addressOfThisMachine } from './this-machine.js'

const json = async (platform: Scene, path: string) =>
  (await platform.ask(`/dashboard/api${path}`, { bearer: null })).json() as Promise<{
    data: readonly Record<string, unknown>[]
  }>

test('users are listed page by page, the newest first, with how many there are', async () => {
  const users = Array.from({ length: 5 }, (_, i) => ({ email: `user-${i}@example.com` }))
  const platform = await platformWith({ users })
  await signedUp(platform)
  const first = await json(platform, '/users?limit=2')
  expect(first).toMatchObject({ total: 6, data: [{ email: ada.email }, {}] })
  const rest = await json(platform, '/users?limit=200&offset=2')
  expect(rest.data.length).toBe(4)
  expect(new Set([...first.data, ...rest.data].map(({ email }) => email)).size).toBe(6)
})

test('no password is shown, not even its hash', async () => {
  const platform = await platformWith()
  const text = JSON.stringify(await json(platform, '/users'))
  expect(text).toContain('developer@example.com')
  expect(text).not.toMatch(/password|argon2|scrypt|\$2[aby]\$/)
})

test.each([
  ['limit=0', 'limit must be a whole number from 1 to 200, not 0.'],
  ['limit=201', 'limit must be a whole number from 1 to 200, not 201.'],
  ['limit=ten', 'limit must be a whole number from 1 to 200, not "ten".'],
  ['offset=-1', 'offset must be a whole number from 0 to 9007199254740991, not "-1".'],
  ['limit=1&limit=2', 'limit must be a whole number from 1 to 200, not an array.'],
  ['page=2', 'page is not known here. Known: limit, offset.'],
])('a part of the users is asked for in whole numbers: %s', async (query, error) => {
  const platform = await platformWith()
  const refused = await platform.ask(`/dashboard/api/users?${query}`)
  expect({ status: refused.status, body: await refused.json() }).toEqual({ status: 400, body: { error } })
})

test('the outbox has the messages, and can be cleared', async () => {
  const platform = await platformWith()
  await signedUp(platform)
  const headers = { apikey: platform.anonKey, 'content-type': 'application/json' }
  await fetch(`${platform.url}/auth/v1/recover`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email: ada.email }),
  })
  expect((await json(platform, '/messages')).data).toEqual([
    expect.objectContaining({
      channel: 'email',
      kind: 'recovery',
      recipient: ada.email,
      code: expect.stringMatching(/^\d{6}$/),
      link: expect.stringContaining(`${platform.url}/auth/v1/verify?`),
    }),
  ])
  expect((await platform.ask('/dashboard/api/messages', { method: 'DELETE' })).status).toBe(204)
  expect(await json(platform, '/messages')).toEqual({ data: [] })
})

test('refused keys are told with their start and the reason', async () => {
  const platform = await platformWith()
  await platform.ask('/v1/models', { bearer: platform.apiKey.slice(0, -1) })
  expect(await json(platform, '/refusals')).toEqual({
    data: [{ start: 'sk-local-Stan', reason: 'mistyped', count: 1, last_at: expect.any(String) }],
  })
})

const ofTheDeveloper = [
  ['GET', '/users'],
  ['GET', '/messages'],
  ['DELETE', '/messages'],
  ['GET', '/refusals'],
] as const

const controlToken = 'control-token-of-this-test'

test('from another machine the control token and a secret service key open what is for the developer', async ({
  skip,
}) => {
  const address = addressOfThisMachine()
  if (address === undefined) skip('This machine has no address but its own loopback.')
  const platform = await platformWith({
    host: '0.0.0.0',
    controlToken,
    auth: { jwtSecret: 'a-secret-of-our-own-with-32-characters' },
  })
  const from = `http://${address}:${new URL(platform.url).port}/dashboard/api`
  const token = await signedUp(platform)
  const error = expect.stringContaining('Users and messages are shown on this machine only.')
  for (const [method, path] of ofTheDeveloper) {
    const statusWith = async (headers: Record<string, string>) => (await fetch(from + path, { method, headers })).status
    const refused = await fetch(from + path, { method, headers: { 'x-forwarded-for': '127.0.0.1' } })
    expect({ status: refused.status, body: await refused.json() }).toEqual({ status: 403, body: { error } })
    expect(await statusWith({ authorization: `Bearer ${token}` })).toBe(403)
    expect(await statusWith({ authorization: `Bearer ${platform.apiKey}` })).toBe(403)
    expect(await statusWith({ authorization: 'Bearer nothing' })).toBe(401)
    for (const key of [platform.serviceKey, controlToken]) {
      expect([200, 204]).toContain(await statusWith({ authorization: `Bearer ${key}` }))
    }
  }
})

test.each(ofTheDeveloper)('%s %s is not for foreign origins and host names', async (method, path) => {
  const { url } = await platformWith()
  const ask = () => request(url)[method.toLowerCase() as 'get'](`/dashboard/api${path}`)
  expect((await ask().set('Origin', 'http://evil.example')).status).toBe(403)
  expect((await ask().set('Origin', 'null')).status).toBe(403)
  expect((await ask().set('Host', 'evil.example')).status).toBe(403)
})
