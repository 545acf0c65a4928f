import { expect, test } from 'vitest'
import { platformWith, type Scene } from '../scene.js'
import { ada, signedUp } from './people.js'

interface Listing {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly total: number
}

const control = async (platform: Scene, path: string) =>
  (await platform.ask(`/__standin${path}`, { bearer: null })).json() as Promise<Listing>

const send = (platform: Scene, method: string, path: string, body?: object) =>
  platform.ask(`/__standin${path}`, {
    method,
    bearer: null,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })

const recover = ({ url, anonKey }: Scene, email: string, redirect = '') =>
  fetch(`${url}/auth/v1/recover${redirect && `?redirect_to=${encodeURIComponent(redirect)}`}`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })

test('users are listed page by page, newest first, with the number of their open sessions', async () => {
  const users = Array.from({ length: 5 }, (_, i) => ({ email: `user-${i}@example.com` }))
  const platform = await platformWith({ users })
  await signedUp(platform)
  const first = await control(platform, '/users?limit=2')
  expect(first).toMatchObject({ total: 6, data: [{ email: ada.email, sessions: 1 }, { sessions: 0 }] })
  const rest = await control(platform, '/users?limit=200&offset=2')
  expect(rest.data.length).toBe(4)
  expect(new Set([...first.data, ...rest.data].map(({ email }) => email)).size).toBe(6)
})

test('users are found by email address, phone number, id and metadata', async () => {
  const id = '11111111-1111-4111-8111-111111111111'
  const platform = await platformWith({
    users: [
      { id, email: 'grace@example.com', user_metadata: { full_name: 'Grace Hopper' } },
      { phone: '+4791234567' },
      { email: 'alan@example.com' },
    ],
  })
  const found = async (search: string) => {
    const { data, total } = await control(platform, `/users?search=${encodeURIComponent(search)}`)
    expect(total).toBe(data.length)
    return data.map(({ email, phone }) => email || phone)
  }
  expect(await found('GRACE@')).toEqual(['grace@example.com'])
  expect(await found(id)).toEqual(['grace@example.com'])
  expect(await found('hopper')).toEqual(['grace@example.com'])
  expect(await found('912345')).toEqual(['4791234567'])
  expect((await found('example.com')).length).toBe(2)
  expect(await found('nobody')).toEqual([])
})

test('neither passwords nor their hashes are returned', async () => {
  const platform = await platformWith()
  const text = JSON.stringify(await control(platform, '/users'))
  expect(text).toContain('developer@example.com')
  expect(text).not.toMatch(/password|argon2|scrypt|\$2[aby]\$/)
})

test('a user without an email address can be signed in by id', async () => {
  const platform = await platformWith({ users: [{ phone: '+4791234567' }] })
  const [user] = (await control(platform, '/users')).data
  const answer = await send(platform, 'POST', '/sessions', { user_id: user?.id })
  const { access_token } = (await answer.json()) as { access_token: string }
  expect((await platform.ask('/v1/models', { bearer: access_token })).status).toBe(200)
  expect((await control(platform, '/users')).data).toMatchObject([{ phone: '4791234567', sessions: 1 }])

  const unknown = await send(platform, 'POST', '/sessions', { user_id: 'nothing' })
  expect({ status: unknown.status, body: await unknown.json() }).toEqual({
    status: 404,
    body: { error: 'There is no user with the id "nothing".' },
  })
  expect((await send(platform, 'POST', '/sessions', { user_id: user?.id, email: ada.email })).status).toBe(400)
})

test('the developer lists the keys of a user without their secrets, and revokes one', async () => {
  const platform = await platformWith()
  const token = await signedUp(platform)
  const made = await platform.ask('/dashboard/api/keys', {
    method: 'POST',
    bearer: token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'my laptop' }),
  })
  const { id, key } = (await made.json()) as { id: string; key: string }
  const [user] = (await control(platform, `/users?search=${ada.email}`)).data
  const keys = await control(platform, `/keys?user=${user?.id}`)
  expect(keys.data).toMatchObject([{ id, name: 'my laptop', state: 'active' }])
  expect(JSON.stringify(keys)).not.toContain(key)
  // The list of all keys includes the configured key, which has no owner.
  expect((await control(platform, '/keys')).data.length).toBe(2)

  expect((await platform.ask('/v1/models', { bearer: key })).status).toBe(200)
  expect(await (await send(platform, 'DELETE', `/keys/${id}`)).json()).toMatchObject({ id, state: 'revoked' })
  expect((await platform.ask('/v1/models', { bearer: key })).status).toBe(401)
  expect((await send(platform, 'DELETE', '/keys/nothing')).status).toBe(404)
})

test('a message in the outbox has what its reader would see, and where its link leads', async () => {
  const platform = await platformWith()
  await signedUp(platform)
  await recover(platform, ada.email, 'http://localhost:3000/new-password')
  expect((await control(platform, '/outbox')).data).toEqual([
    expect.objectContaining({
      channel: 'email',
      kind: 'recovery',
      recipient: ada.email,
      text: 'Follow this link to choose a new password.',
      code: expect.stringMatching(/^\d{6}$/),
      link: expect.stringContaining(`${platform.url}/auth/v1/verify?`),
      link_text: 'Reset your password',
      redirect_to: 'http://localhost:3000/new-password',
      state: 'valid',
    }),
  ])
})

test('a message says whether its code still works: it was used, has expired, or a newer one replaced it', async () => {
  const platform = await platformWith({ users: [{ email: 'grace@example.com' }] })
  const states = async () => (await control(platform, '/outbox')).data.map(({ state }) => state)
  await recover(platform, 'grace@example.com')
  await recover(platform, 'grace@example.com')
  expect(await states()).toEqual(['valid', 'replaced'])
  const [{ link } = {}] = (await control(platform, '/outbox')).data
  await fetch(String(link), { redirect: 'manual' })
  expect(await states()).toEqual(['used', 'replaced'])
  await recover(platform, 'grace@example.com')
  await send(platform, 'PUT', '/settings', { clock: { advanceMs: 3_600_001 } })
  expect(await states()).toEqual(['expired', 'used', 'expired'])
})

test('the page learns of every endpoint: the documented ones, those of the configuration, and those that users sign in with', async () => {
  const platform = await platformWith({ rules: [{ on: 'GET /builder/projects', reply: { json: [] } }] })
  const { endpoints } = (await configOf(platform)) as { readonly endpoints: readonly object[] }
  expect(endpoints).toContainEqual({
    method: 'POST',
    path: '/v1/chat/completions',
    access: expect.arrayContaining(['apiKey']),
    name: 'chat',
    callsModel: true,
  })
  expect(endpoints).toContainEqual({ method: 'GET', path: '/builder/projects', access: expect.anything() })
  expect(endpoints).toContainEqual({ method: 'POST', path: '/auth/v1/token', access: ['anon'] })
  expect(endpoints).toContainEqual({ method: 'GET', path: '/auth/v1/admin/users', access: ['service'] })
  // What is switched off always refuses.
  expect(endpoints).not.toContainEqual(expect.objectContaining({ path: '/auth/v1/factors' }))
})

test('messages can be searched, and counted from the last one seen', async () => {
  const platform = await platformWith({ users: [ada, { email: 'grace@example.com' }] })
  await recover(platform, ada.email)
  await recover(platform, 'grace@example.com')
  const { data, total } = await control(platform, '/outbox')
  expect([total, data.map(({ recipient }) => recipient)]).toEqual([2, ['grace@example.com', ada.email]])
  expect(await control(platform, '/outbox?search=ADA')).toMatchObject({ total: 1, data: [{ recipient: ada.email }] })
  expect(await control(platform, `/outbox?after=${data[1]?.id}&limit=1`)).toMatchObject({ total: 1 })
  expect(await control(platform, `/outbox?after=${data[0]?.id}`)).toEqual({ total: 0, data: [] })
  expect((await send(platform, 'DELETE', '/outbox')).status).toBe(204)
  expect(await control(platform, '/outbox')).toEqual({ data: [], total: 0 })
})

const configOf = async (platform: Scene, headers: Record<string, string> = {}) =>
  (await (await platform.ask('/dashboard/api/config', { bearer: null, headers })).json()) as Readonly<
    Record<string, unknown>
  >

test('the development key is offered unless the configuration replaces it', async () => {
  const platform = await platformWith()
  expect((await configOf(platform)).development_key).toBe(platform.apiKey)
  expect(
    await configOf(await platformWith({ apiKeys: [{ name: 'mine', key: 'sk-of-our-own-and-long-enough' }] })),
  ).not.toHaveProperty('development_key')
})

test('the password rule describes the settings', async () => {
  expect((await configOf(await platformWith())).password_rule).toBe('At least 6 characters.')
  const strict = await platformWith({ auth: { passwordMinLength: 10 } })
  expect((await configOf(strict)).password_rule).toBe('At least 10 characters.')
})

test('a reset counts as replacing the users only if they had changed', async () => {
  const platform = await platformWith()
  const before = (await configOf(platform)).users
  await platform.reset()
  expect((await configOf(platform)).users).toEqual(before)
  await signedUp(platform)
  await platform.reset()
  expect((await configOf(platform)).users).toEqual({ ...(before as object), replaced: 1 })
})
