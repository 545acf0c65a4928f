import { expect, test } from 'vitest'
import { encoded, inSeconds, secretToken, unsignedToken, userToken } from '../signing.js'
import { backendWith, newcomer, newUser, refusal } from './backend.js'

const UNKNOWN = '6c8b5a0e-9a41-4c86-8b1e-0f3f4d6c2a11'
const invalid = (why: string) => `invalid JWT: unable to parse or verify signature, ${why}`

/** The same token with another header, which its signature does not match. */
const withHeader = (token: string, header: object) => [encoded(header), ...token.split('.').slice(1)].join('.')

const forUsers = [
  ['GET', '/user'],
  ['PUT', '/user'],
  ['POST', '/logout'],
  ['GET', '/reauthenticate'],
  ['POST', '/factors'],
] as const

const forAdmins = [
  ['GET', '/admin/users'],
  ['POST', '/admin/users'],
  ['PUT', `/admin/users/${UNKNOWN}`],
  ['DELETE', `/admin/users/${UNKNOWN}`],
  ['POST', '/admin/generate_link'],
  ['POST', '/invite'],
  ['GET', '/admin/custom-providers'],
] as const

test.each([...forUsers, ...forAdmins])('%s %s requires a token', async (method, path) => {
  const { ask } = await backendWith()
  expect(await refusal(ask(path, { method, headers: { authorization: 'Basic YTpi' } }))).toEqual({
    status: 401,
    code: 'no_authorization',
    message: 'This endpoint requires a valid Bearer token',
  })
})

test.each(forUsers)('%s %s refuses the anon key and the service key', async (method, path) => {
  const { ask, anonKey, serviceKey } = await backendWith()
  for (const bearer of [anonKey, serviceKey]) {
    expect(await refusal(ask(path, { method, bearer }))).toEqual({
      status: 403,
      code: 'bad_jwt',
      message: 'invalid claim: missing sub claim',
    })
  }
})

test.each(forAdmins)('%s %s refuses user tokens and the anon key', async (method, path) => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  for (const bearer of [access_token, backend.anonKey]) {
    expect(await refusal(backend.ask(path, { method, bearer }))).toEqual({
      status: 403,
      code: 'not_admin',
      message: 'User not allowed',
    })
  }
})

test.each<[string, () => string | Promise<string>, string]>([
  [
    'a token with three meaningless parts',
    () => 'a.b.c',
    'token is malformed: could not JSON decode header: invalid character',
  ],
  [
    'a token with an unknown key',
    () => secretToken({ sub: UNKNOWN }).then(token => withHeader(token, { alg: 'ES256', kid: 'strange' })),
    'token is unverifiable: error while executing keyfunc: unrecognized JWT kid strange for algorithm ES256',
  ],
  [
    'a token with an invalid time',
    () => userToken({ exp: 'tomorrow' }),
    'token is malformed: could not JSON decode claim: invalid type for claim',
  ],
  ['nonsense', () => 'nonsense', 'token is malformed: token contains an invalid number of segments'],
  ['an opaque key', () => 'key_opaque', 'token is malformed: token contains an invalid number of segments'],
  [
    'a token without a signature',
    () => unsignedToken({ sub: UNKNOWN }),
    'token signature is invalid: signing method none is invalid',
  ],
  [
    'a token signed with another secret',
    () => secretToken({ sub: UNKNOWN }, 'another-secret-with-at-least-32-characters'),
    'token signature is invalid: signature is invalid',
  ],
  ['an expired token', () => userToken({ exp: inSeconds(-1) }), 'token has invalid claims: token is expired'],
  [
    'a token that is not valid yet',
    () => userToken({ nbf: inSeconds(600) }),
    'token has invalid claims: token is not valid yet',
  ],
])('%s is refused', async (_name, makeToken, why) => {
  const { ask } = await backendWith()
  const bearer = await makeToken()
  const expected = { status: 403, code: 'bad_jwt', message: invalid(why) }
  expect(await refusal(ask('/user', { bearer }))).toEqual(expected)
  expect(await refusal(ask('/admin/users', { bearer }))).toEqual(expected)
})

test.each([
  ['no sub', { sub: undefined }, 403, 'bad_jwt', 'invalid claim: missing sub claim'],
  ['an empty sub', { sub: '' }, 403, 'bad_jwt', 'invalid claim: missing sub claim'],
  ['an unknown sub', { sub: UNKNOWN }, 403, 'user_not_found', 'User from sub claim in JWT does not exist'],
])('a token with %s belongs to no user', async (_name, claims, status, code, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/user', { bearer: await userToken(claims) }))).toEqual({ status, code, message })
})

test('a signed-in admin is an admin until the session ends', async () => {
  const backend = await backendWith()
  const { email, password } = newUser()
  await backend.admin.createUser({ email, password, email_confirm: true, role: 'service_role' })
  const { data } = await backend.client().auth.signInWithPassword({ email, password })
  const bearer = data.session?.access_token ?? ''
  expect((await backend.ask('/admin/users', { bearer })).status).toBe(200)
  await backend.ask('/logout', { method: 'POST', bearer })
  expect((await backend.ask('/admin/users', { bearer })).status).toBe(403)
})

test('users cannot make themselves admins', async () => {
  const backend = await backendWith()
  const body = {
    ...newUser(),
    role: 'service_role',
    app_metadata: { role: 'service_role' },
    aud: 'admin',
    id: UNKNOWN,
  }
  const response = await backend.ask('/signup', { body })
  const { user, access_token } = JSON.parse(await response.text())
  expect(user).toMatchObject({ role: 'authenticated', aud: 'authenticated' })
  expect(user.id).not.toBe(UNKNOWN)
  const change = { role: 'service_role', aud: 'admin', email_confirm: true, ban_duration: 'none' }
  await backend.ask('/user', { method: 'PUT', bearer: access_token, body: change })
  expect((await backend.ask('/admin/users', { bearer: access_token })).status).toBe(403)
  expect(JSON.parse(await (await backend.ask('/user', { bearer: access_token })).text()).role).toBe('authenticated')
})
