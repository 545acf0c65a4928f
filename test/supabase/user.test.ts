import { expect, test } from 'vitest'
import { NOT_A_PHONE, NOT_AN_EMAIL, passwordShorterThan } from '../sentences.js'
import { backendWith, newcomer, newUser, refusal } from './backend.js'

test('a signed-in user can read their own data', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  const { data } = await auth.signUp(newUser())
  const { data: read, error } = await auth.getUser()
  expect(error).toBeNull()
  expect(read.user).toMatchObject({ id: data.user?.id, email: data.user?.email, role: 'authenticated' })
})

test('new metadata is merged into the existing metadata, and null removes a key', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  const { email, password } = newUser()
  await auth.signUp({ email, password, options: { data: { name: 'Ada', born: 1815, likes: { tea: true } } } })
  const { data, error } = await auth.updateUser({ data: { name: 'Ada L.', born: null, likes: { milk: true } } })
  expect(error).toBeNull()
  const { sub, email_verified, phone_verified, ...known } = data.user?.user_metadata ?? {}
  expect(known).toEqual({ email, name: 'Ada L.', likes: { milk: true } })
  expect((await auth.getUser()).data.user?.user_metadata).toEqual(data.user?.user_metadata)
})

test('a token has new metadata only after the next refresh', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  await auth.signUp(newUser())
  await auth.updateUser({ data: { plan: 'free' } })
  const before = await auth.getClaims()
  expect(before.data?.claims.user_metadata).not.toHaveProperty('plan')
  await auth.refreshSession()
  expect((await auth.getClaims()).data?.claims.user_metadata).toMatchObject({ plan: 'free' })
})

test('users cannot change their app_metadata', async () => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const body = { app_metadata: { role: 'admin' } }
  expect(await refusal(backend.ask('/user', { method: 'PUT', bearer: access_token, body }))).toEqual({
    status: 403,
    code: 'not_admin',
    message: 'Updating app_metadata requires admin privileges',
  })
})

test('a new password replaces the old one', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  const { email, password } = newUser()
  await auth.signUp({ email, password })
  expect((await auth.updateUser({ password: 'battery staple' })).error).toBeNull()
  expect((await client().auth.signInWithPassword({ email, password })).error?.code).toBe('invalid_credentials')
  expect((await client().auth.signInWithPassword({ email, password: 'battery staple' })).error).toBeNull()
})

test('the current password is not accepted as a new one', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  const { email, password } = newUser()
  await auth.signUp({ email, password })
  const { error } = await auth.updateUser({ password })
  expect(error).toMatchObject({
    status: 422,
    code: 'same_password',
    message: 'New password should be different from the old password.',
  })
})

test.each([
  ['12345', 422, 'weak_password', passwordShorterThan(6)],
  ['x'.repeat(73), 400, 'validation_failed', 'Password cannot be longer than 72 characters'],
])('the password %j is refused in an update as well', async (password, status, code, message) => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const response = backend.ask('/user', { method: 'PUT', bearer: access_token, body: { password } })
  expect(await refusal(response)).toEqual({ status, code, message })
})

test.each([
  [{ email: 'nowhere' }, NOT_AN_EMAIL],
  [{ phone: 'none' }, NOT_A_PHONE],
  [{ phone: '+4790000000', channel: 'pigeon' }, expect.stringMatching(/^Invalid channel/)],
])('an update with %j is refused', async (body, message) => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const response = backend.ask('/user', { method: 'PUT', bearer: access_token, body })
  expect(await refusal(response)).toEqual({ status: 400, code: 'validation_failed', message })
})

test('an anonymous user needs an email or phone before a password', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  await auth.signInAnonymously()
  const { error } = await auth.updateUser({ password: 'correct horse' })
  expect(error).toMatchObject({
    status: 422,
    code: 'validation_failed',
    message: 'Updating password of an anonymous user without an email or phone is not allowed',
  })
})

test('an anonymous user stays anonymous until the new email is confirmed', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { auth } = backend.client()
  const { data: guest } = await auth.signInAnonymously()
  const { email } = newUser()
  const { data: waiting } = await auth.updateUser({ email })
  expect(waiting.user).toMatchObject({ email: '', new_email: email, is_anonymous: true })
  const { code, kind } = backend.messageTo(email)
  expect(kind).toBe('email_change')
  const { data, error } = await auth.verifyOtp({ email, token: code, type: 'email_change' })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ id: guest.user?.id, email, is_anonymous: false })
  expect(data.user?.app_metadata).toEqual({ provider: 'email', providers: ['email'] })
  expect((await auth.updateUser({ password: 'correct horse' })).error).toBeNull()
})
