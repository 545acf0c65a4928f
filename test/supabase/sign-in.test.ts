import { expect, test } from 'vitest'
import { backendWith, bodyOf, newUser, refusal, somePhone, TIME } from './backend.js'

test('a user signs in with the right password', async () => {
  const { client } = await backendWith()
  const { email, password } = newUser()
  await client().auth.signUp({ email, password })
  const { data, error } = await client().auth.signInWithPassword({ email, password })
  expect(error).toBeNull()
  expect(data.session?.user).toMatchObject({
    email,
    email_confirmed_at: expect.stringMatching(TIME),
    confirmed_at: expect.stringMatching(TIME),
    last_sign_in_at: expect.stringMatching(TIME),
  })
})

test('a user signs in with a phone number, however it is written', async () => {
  const { client } = await backendWith()
  const phone = somePhone()
  await client().auth.signUp({ phone, password: 'correct horse' })
  const spaced = `+${phone.slice(0, 2)} ${phone.slice(2)}`
  expect((await client().auth.signInWithPassword({ phone: spaced, password: 'correct horse' })).error).toBeNull()
})

test('a password that has become too weak is reported and still signs in', async () => {
  const { admin, ask } = await backendWith({ passwordRequiredCharacters: 'abc:0123456789' })
  const { email } = newUser()
  // bcrypt of "battery", which has no digit.
  const password_hash = '$2a$04$KBCwKxOzLha2MUDgW0PjXeP5P8LFCFa1JhYeSK3Ks7WrgZvvhZgWO'
  await admin.createUser({ email, password_hash, email_confirm: true })
  const body = await bodyOf(ask('/token?grant_type=password', { body: { email, password: 'battery' } }))
  expect(body).toMatchObject({
    access_token: expect.any(String),
    weak_password: {
      message: 'Password should contain at least one character of each: abc, 0123456789.',
      reasons: ['characters'],
    },
  })
})

const { email, password } = newUser()

test.each([
  ['another password', { email, password: 'wrong' }, 400, 'invalid_credentials', 'Invalid login credentials'],
  ['no password', { email }, 400, 'invalid_credentials', 'Invalid login credentials'],
  [
    'an unknown email',
    { email: 'nobody@example.com', password },
    400,
    'invalid_credentials',
    'Invalid login credentials',
  ],
  ['an invalid email', { email: 'not an address', password }, 400, 'invalid_credentials', 'Invalid login credentials'],
  ['neither email nor phone', { password }, 400, 'validation_failed', 'missing email or phone'],
  [
    'both email and phone',
    { email, phone: '4790000000', password },
    400,
    'validation_failed',
    'Only an email address or phone number should be provided on login.',
  ],
])('a sign-in is refused with %s', async (_what, body, status, code, message) => {
  const { ask, client } = await backendWith()
  await client().auth.signUp({ email, password })
  expect(await refusal(ask('/token?grant_type=password', { body }))).toEqual({ status, code, message })
})

test('a user without a password cannot sign in with any password', async () => {
  const { ask, admin } = await backendWith()
  const { email } = newUser()
  await admin.createUser({ email, email_confirm: true })
  for (const password of ['', 'guess']) {
    expect(await refusal(ask('/token?grant_type=password', { body: { email, password } }))).toMatchObject({
      code: 'invalid_credentials',
    })
  }
})

test('a banned user is refused with that reason and can sign in again when the ban is lifted', async () => {
  const { client, admin } = await backendWith()
  const { email, password } = newUser()
  const { data } = await client().auth.signUp({ email, password })
  const id = data.user?.id ?? ''
  const banned = await admin.updateUserById(id, { ban_duration: '24h' })
  expect(banned.data.user).toMatchObject({ banned_until: expect.stringMatching(TIME) })
  expect((await client().auth.signInWithPassword({ email, password })).error).toMatchObject({
    status: 400,
    code: 'user_banned',
    message: 'User is banned',
  })
  const lifted = await admin.updateUserById(id, { ban_duration: 'none' })
  expect(lifted.data.user).not.toHaveProperty('banned_until')
  expect((await client().auth.signInWithPassword({ email, password })).error).toBeNull()
})

test.each([
  [{ externalEmailEnabled: false }, { email, password }, 'email_provider_disabled', 'Email logins are disabled'],
  [
    { externalPhoneEnabled: false },
    { phone: '4790000000', password },
    'phone_provider_disabled',
    'Phone logins are disabled',
  ],
])('with %j, that way of signing in is disabled', async (settings, body, code, message) => {
  const { ask } = await backendWith(settings)
  expect(await refusal(ask('/token?grant_type=password', { body }))).toEqual({ status: 422, code, message })
})

test.each(['', '?grant_type=', '?grant_type=client_credentials', '?grant_type=password%20'])(
  'no token is granted for %j',
  async query => {
    const { ask } = await backendWith()
    expect(await refusal(ask(`/token${query}`, { body: {} }))).toEqual({
      status: 400,
      code: 'invalid_credentials',
      message: 'unsupported_grant_type',
    })
  },
)

test.each([
  [{}, 'validation_failed', 'id_token required'],
  [{ id_token: 'x' }, 'validation_failed', 'provider or client_id and issuer required'],
  [
    { id_token: 'x', provider: 'google' },
    'provider_disabled',
    'Provider (issuer "https://accounts.google.com") is not enabled',
  ],
  [{ id_token: 'x', provider: 'mine' }, 'validation_failed', 'Custom OIDC provider "mine" not allowed'],
])('tokens of other providers are not accepted: %j', async (body, code, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/token?grant_type=id_token', { body }))).toEqual({ status: 400, code, message })
})
