import { expect, test } from 'vitest'
import { NOT_AN_EMAIL } from '../sentences.js'
import { backendWith, bodyOf, newcomer, newUser, refusal, somePhone } from './backend.js'

test('the email of a sign-up can be resent with another code', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { email, password } = newUser()
  const { auth } = backend.client()
  await auth.signUp({ email, password })
  const { error } = await auth.resend({ type: 'signup', email })
  expect(error).toBeNull()
  expect(backend.outbox.map(({ kind }) => kind)).toEqual(['signup', 'signup'])
  const { code } = backend.messageTo(email)
  expect((await auth.verifyOtp({ email, token: code, type: 'signup' })).error).toBeNull()
})

test('text messages can be resent, for a sign-up and for a phone change', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const [phone, next] = [somePhone(), somePhone()]
  const { auth } = backend.client()
  await auth.signUp({ phone, password: 'correct horse' })
  const { data } = await auth.resend({ type: 'sms', phone })
  expect(data.messageId).toBe(backend.messageTo(phone).id)
  await auth.verifyOtp({ phone, token: backend.messageTo(phone).code, type: 'sms' })
  await auth.updateUser({ phone: next })
  await auth.resend({ type: 'phone_change', phone })
  expect(backend.outbox.map(({ recipient }) => recipient)).toEqual([phone, phone, next, next])
})

test.each([
  ['signup', { email: 'nobody@example.com' }],
  ['email_change', { email: 'nobody@example.com' }],
  ['sms', { phone: '4799999999' }],
  ['phone_change', { phone: '4799999999' }],
])('resending a message of type %s does not reveal whether the user exists', async (type, address) => {
  const { ask, outbox } = await backendWith()
  expect(await bodyOf(ask('/resend', { body: { type, ...address } }))).toEqual({})
  expect(outbox).toEqual([])
})

test.each([
  [{}, 'Missing one of these types: signup, email_change, sms, phone_change'],
  [{ type: 'recovery', email: 'a@example.com' }, 'Missing one of these types: signup, email_change, sms, phone_change'],
  [{ type: 'signup' }, 'Type provided requires an email address'],
  [{ type: 'signup', phone: '4790000000' }, 'Type provided requires an email address'],
  [{ type: 'sms', email: 'a@example.com' }, 'Type provided requires a phone number'],
  [
    { type: 'signup', email: 'a@example.com', phone: '4790000000' },
    'Only an email address or phone number should be provided.',
  ],
  [{ type: 'email_change' }, 'Missing email address or phone number'],
  [{ type: 'signup', email: 'nowhere' }, NOT_AN_EMAIL],
])('resending a message for %j is refused', async (body, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/resend', { body }))).toEqual({ status: 400, code: 'validation_failed', message })
})

test('a reauthentication code has no link and cannot be used to sign in', async () => {
  const backend = await backendWith()
  const { access_token, email } = await newcomer(backend)
  expect(await bodyOf(backend.ask('/reauthenticate', { bearer: access_token }))).toEqual({})
  const { code, kind, link } = backend.messageTo(email)
  expect([kind, link]).toEqual(['reauthentication', ''])
  for (const type of ['email', 'recovery', 'signup', 'reauthentication']) {
    expect((await backend.ask('/verify', { body: { email, token: code, type } })).status).toBe(403)
  }
})

test('an anonymous user cannot get a reauthentication code', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  await auth.signInAnonymously()
  expect((await auth.reauthenticate()).error).toMatchObject({
    status: 400,
    code: 'validation_failed',
    message: 'Reauthentication requires the user to have an email or a phone number',
  })
})

test('a user without an email gets the reauthentication code by phone', async () => {
  const backend = await backendWith()
  const phone = somePhone()
  const { access_token } = await bodyOf(backend.ask('/signup', { body: { phone, password: 'correct horse' } }))
  const response = await bodyOf(backend.ask('/reauthenticate', { bearer: access_token }))
  expect(response).toEqual({ message_id: backend.messageTo(phone).id })
})
