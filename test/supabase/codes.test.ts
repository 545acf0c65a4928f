import { expect, test } from 'vitest'
import { NOT_A_PHONE, NOT_AN_EMAIL } from '../sentences.js'
import { backendWith, bodyOf, claimsOf, newUser, refusal, somePhone } from './backend.js'

const expired = { status: 403, code: 'otp_expired', message: 'Token has expired or is invalid' }

test('an emailed code signs up a new user without a password', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { email } = newUser()
  const { auth } = backend.client()
  const { data: sent, error } = await auth.signInWithOtp({ email, options: { data: { name: 'Ada' } } })
  expect([sent, error]).toEqual([{ user: null, session: null }, null])
  const { code, kind } = backend.messageTo(email)
  expect([kind, code]).toEqual(['signup', expect.stringMatching(/^\d{6}$/)])
  const { data } = await auth.verifyOtp({ email, token: code, type: 'email' })
  expect(data.user).toMatchObject({ email, user_metadata: { name: 'Ada', email_verified: true } })
  expect(claimsOf(data.session?.access_token ?? '').amr).toMatchObject([{ method: 'otp' }])
})

test.each([
  [{}, 400, 'validation_failed', 'One of email or phone must be set'],
  [
    { email: 'a@example.com', phone: '4790000000' },
    400,
    'validation_failed',
    'Only an email address or phone number should be provided',
  ],
  [
    { email: 'a@example.com', channel: 'sms' },
    400,
    'validation_failed',
    'Channel should only be specified with Phone OTP',
  ],
  [{ email: 'nowhere' }, 400, 'validation_failed', NOT_AN_EMAIL],
  [{ email: 'nowhere', create_user: false }, 422, 'otp_disabled', 'Signups not allowed for otp'],
  [{ phone: 'none' }, 400, 'validation_failed', NOT_A_PHONE],
])('a request for a code with %j is refused', async (body, status, code, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/otp', { body }))).toEqual({ status, code, message })
})

test('a code works once', async () => {
  const backend = await backendWith()
  const { email } = newUser()
  await backend.client().auth.signInWithOtp({ email })
  const body = { email, token: backend.messageTo(email).code, type: 'email' }
  expect((await backend.ask('/verify', { body })).status).toBe(200)
  expect(await refusal(backend.ask('/verify', { body }))).toEqual(expired)
})

test('a wrong code is refused, and the right one still works', async () => {
  const backend = await backendWith({ testOtp: '123456' })
  const { email } = newUser()
  await backend.client().auth.signInWithOtp({ email })
  const trying = (token: string) => backend.ask('/verify', { body: { email, token, type: 'email' } })
  expect(await refusal(trying('654321'))).toEqual(expired)
  expect((await trying('123456')).status).toBe(200)
})

test('a new code replaces the previous one', async () => {
  const backend = await backendWith()
  const { email } = newUser()
  const { auth } = backend.client()
  await auth.signInWithOtp({ email })
  const first = backend.messageTo(email).code
  let last = first
  // Once in a million, both are the same.
  while (last === first) {
    await auth.signInWithOtp({ email })
    last = backend.messageTo(email).code
  }
  const trying = (token: string) => auth.verifyOtp({ email, token, type: 'email' })
  expect((await trying(first)).error?.code).toBe('otp_expired')
  expect((await trying(last)).error).toBeNull()
})

test.each([
  [{}, 'Verify requires a verification type'],
  [{ type: 'email' }, 'Verify requires either a token or a token hash'],
  [{ type: 'email', token: '1', token_hash: '2' }, 'Verify requires either a token or a token hash'],
  [{ type: 'email', token_hash: 'x', email: 'a@example.com' }, 'Only the token_hash and type should be provided'],
  [{ type: 'email', token: '123456' }, 'Only an email address or phone number should be provided on verify'],
  [
    { type: 'email', token: '123456', email: 'a@example.com', phone: '4790000000' },
    'Only an email address or phone number should be provided on verify',
  ],
  [{ type: 'sms', token: '123456', phone: 'none' }, NOT_A_PHONE],
  [{ type: 'party', token_hash: 'x' }, 'Invalid email verification type'],
  [{ type: 'sms', token_hash: 'x' }, 'Invalid email verification type'],
])('a verification with %j is refused', async (body, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/verify', { body }))).toEqual({ status: 400, code: 'validation_failed', message })
})

test.each([
  { type: 'email', token: '123456', email: 'nobody@example.com' },
  { type: 'constructor', token: '123456', email: 'nobody@example.com' },
  { type: 'sms', token: '123456', phone: '4790000000' },
  { type: 'email_change', token: '123456', email: 'nobody@example.com' },
])('a verification with %j matches no user', async body => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/verify', { body }))).toEqual(expired)
})

test('a forgotten password can be reset with a code', async () => {
  const backend = await backendWith()
  const { email, password } = newUser()
  const { auth } = backend.client()
  await backend.client().auth.signUp({ email, password })
  expect(await auth.resetPasswordForEmail(email)).toEqual({ data: {}, error: null })
  const { code, kind } = backend.messageTo(email)
  expect(kind).toBe('recovery')
  const { data } = await auth.verifyOtp({ email, token: code, type: 'recovery' })
  expect(data.user?.recovery_sent_at).toBeDefined()
  expect(claimsOf(data.session?.access_token ?? '').amr).toMatchObject([{ method: 'otp' }])
  expect((await auth.updateUser({ password: 'battery staple' })).error).toBeNull()
  expect((await auth.signInWithPassword({ email, password: 'battery staple' })).error).toBeNull()
})

test('a recovery does not reveal whether the user exists', async () => {
  const { client, outbox } = await backendWith()
  expect(await client().auth.resetPasswordForEmail(newUser().email)).toEqual({ data: {}, error: null })
  expect(outbox).toEqual([])
})

test.each([
  [{}, 'Password recovery requires an email'],
  [{ email: 'nowhere' }, NOT_AN_EMAIL],
])('a recovery with %j is refused', async (body, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/recover', { body }))).toEqual({ status: 400, code: 'validation_failed', message })
})

test('a code in a text message signs up a new user', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const phone = somePhone()
  const { auth } = backend.client()
  const { data: sent, error } = await auth.signInWithOtp({ phone: `+${phone}` })
  expect([sent, error]).toEqual([{ user: null, session: null, messageId: undefined }, null])
  const { code, channel, link } = backend.messageTo(phone)
  expect([channel, link]).toEqual(['sms', ''])
  const { data } = await auth.verifyOtp({ phone, token: code, type: 'sms' })
  expect(data.user).toMatchObject({ phone, email: '', phone_confirmed_at: expect.any(String) })
  expect(claimsOf(data.session?.access_token ?? '')).toMatchObject({ phone, amr: [{ method: 'otp' }] })
})

test('a known phone number gets a code, and the response has the id of the message', async () => {
  const backend = await backendWith()
  const phone = somePhone()
  await backend.admin.createUser({ phone, phone_confirm: true })
  const response = await bodyOf(backend.ask('/otp', { body: { phone, channel: 'sms' } }))
  expect(response).toEqual({ message_id: expect.any(String) })
  const token = backend.messageTo(phone).code
  const { error } = await backend.client().auth.verifyOtp({ phone, token, type: 'sms' })
  expect(error).toBeNull()
})

test('a code from a text message is not accepted as an emailed one', async () => {
  const backend = await backendWith({ testOtp: '123456' })
  const phone = somePhone()
  await backend.client().auth.signInWithOtp({ phone })
  const body = { phone, token: '123456', type: 'email' }
  expect(await refusal(backend.ask('/verify', { body }))).toEqual(expired)
})

test('a new phone number is confirmed with a code sent to it', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { auth } = backend.client()
  const { email, password } = newUser()
  await backend.admin.createUser({ email, password, email_confirm: true })
  await auth.signInWithPassword({ email, password })
  const phone = somePhone()
  const { data: waiting } = await auth.updateUser({ phone })
  expect(waiting.user).toMatchObject({ phone: '', new_phone: phone, phone_change_sent_at: expect.any(String) })
  const { data, error } = await auth.verifyOtp({ phone, token: backend.messageTo(phone).code, type: 'phone_change' })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ phone, phone_confirmed_at: expect.any(String) })
  expect(data.user).not.toHaveProperty('new_phone')
  expect(data.user?.app_metadata).toEqual({ provider: 'email', providers: ['email', 'phone'] })
  expect(data.user?.identities?.map(({ provider }) => provider)).toEqual(['email', 'phone'])
})
