import { expect, test } from 'vitest'
import { EMAIL_TAKEN, NOT_A_PHONE, NOT_AN_EMAIL, passwordShorterThan } from '../sentences.js'
import { backendWith, bodyOf, clock, newcomer, newUser, refusal, somePhone } from './backend.js'

const taken = {
  status: 422,
  code: 'email_exists',
  message: EMAIL_TAKEN,
}

test('a signed-in user can read their own data', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  const { data } = await auth.signUp(newUser())
  const { data: read, error } = await auth.getUser()
  expect(error).toBeNull()
  expect(read.user).toMatchObject({ id: data.user?.id, email: data.user?.email, role: 'authenticated' })
})

test('the identities of a user are part of the user', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  const { data } = await auth.signUp(newUser())
  const { data: read } = await auth.getUserIdentities()
  expect(read?.identities).toEqual(data.user?.identities)
})

test('a token for another audience than the request names is refused', async () => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const asking = (aud: string) => backend.ask('/user', { bearer: access_token, headers: { 'x-jwt-aud': aud } })
  expect((await asking('authenticated')).status).toBe(200)
  expect(await refusal(asking('somebody-else'))).toEqual({
    status: 400,
    code: 'validation_failed',
    message: "Token audience doesn't match request audience",
  })
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

test('an empty update changes nothing but updated_at', async () => {
  const time = clock()
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const before = await bodyOf(backend.ask('/user', { bearer: access_token }))
  time.pass(1)
  const after = await bodyOf(backend.ask('/user', { method: 'PUT', bearer: access_token, body: {} }))
  expect({ ...after, updated_at: '' }).toEqual({ ...before, updated_at: '' })
  expect(after.updated_at > before.updated_at).toBe(true)
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

test('a new password invalidates every code that was sent before', async () => {
  const backend = await backendWith()
  const { auth } = backend.client()
  const { email, password } = newUser()
  await auth.signUp({ email, password })
  await backend.client().auth.resetPasswordForEmail(email)
  const { code } = backend.messageTo(email)
  const { data } = await auth.updateUser({ password: 'battery staple' })
  expect(data.user).not.toHaveProperty('recovery_sent_at')
  const { error } = await backend.client().auth.verifyOtp({ email, token: code, type: 'recovery' })
  expect(error?.code).toBe('otp_expired')
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

test('users cannot take the phone number of another user', async () => {
  const backend = await backendWith()
  const phone = somePhone()
  await backend.admin.createUser({ phone, phone_confirm: true })
  const { access_token } = await newcomer(backend)
  expect(await refusal(backend.ask('/user', { method: 'PUT', bearer: access_token, body: { phone } }))).toEqual({
    status: 422,
    code: 'phone_exists',
    message: 'A user with this phone number has already been registered',
  })
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

test('an update to the current email changes nothing', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { email, password } = newUser()
  await backend.admin.createUser({ email, password, email_confirm: true })
  const { auth } = backend.client()
  await auth.signInWithPassword({ email, password })
  const { data, error } = await auth.updateUser({ email })
  expect(error).toBeNull()
  expect(data.user).not.toHaveProperty('new_email')
  expect(backend.outbox).toEqual([])
})

test('without a session nothing can be changed', async () => {
  const { client, ask } = await backendWith()
  const { error } = await client().auth.updateUser({ data: { name: 'Nobody' } })
  expect(error?.message).toBe('Auth session missing!')
  expect((await ask('/user', { method: 'PUT', body: {} })).status).toBe(401)
})

test('an anonymous user needs an email or phone before a password', async () => {
  const { client } = await backendWith({ externalAnonymousUsersEnabled: true })
  const { auth } = client()
  await auth.signInAnonymously()
  const { error } = await auth.updateUser({ password: 'correct horse' })
  expect(error).toMatchObject({
    status: 422,
    code: 'validation_failed',
    message: 'Updating password of an anonymous user without an email or phone is not allowed',
  })
})

test('with autoconfirm, an anonymous user who sets an email is no longer anonymous', async () => {
  const { client } = await backendWith({ externalAnonymousUsersEnabled: true, mailerAutoconfirm: true })
  const { auth } = client()
  const { data: guest } = await auth.signInAnonymously({ options: { data: { cart: [1, 2] } } })
  const { email, password } = newUser()
  const { data, error } = await auth.updateUser({ email, password })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ id: guest.user?.id, email, is_anonymous: false })
  expect(data.user?.user_metadata).toEqual({ cart: [1, 2], email_verified: true })
  expect(data.user?.identities).toMatchObject([{ provider: 'email', identity_data: { email, email_verified: true } }])
  const { data: again } = await client().auth.signInWithPassword({ email, password })
  expect(again.user?.id).toBe(guest.user?.id)
})

test('an anonymous user stays anonymous until the new email is confirmed', async () => {
  const backend = await backendWith({ externalAnonymousUsersEnabled: true, mailerAutoconfirm: false })
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

test('users cannot take the email of another user, in upper or lower case', async () => {
  const backend = await backendWith()
  const [one, other] = [await newcomer(backend), await newcomer(backend)]
  const body = { email: other.email.toUpperCase() }
  expect(await refusal(backend.ask('/user', { method: 'PUT', bearer: one.access_token, body }))).toEqual(taken)
})
