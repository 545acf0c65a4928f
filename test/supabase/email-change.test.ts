import { expect, test } from 'vitest'
import { EMAIL_TAKEN } from '../sentences.js'
import { type Backend, backendWith, bodyOf, followed, newcomer, newUser, refusal } from './backend.js'

type Settings = Parameters<typeof backendWith>[0]

/** A user who has asked for a new address, with what was sent. */
async function changing(settings: Settings = {}) {
  const backend = await backendWith({ mailerAutoconfirm: false, ...settings })
  const { email, password } = newUser()
  await backend.admin.createUser({ email, password, email_confirm: true })
  const { auth } = backend.client()
  await auth.signInWithPassword({ email, password })
  const next = newUser().email
  const { data, error } = await auth.updateUser({ email: next })
  expect(error).toBeNull()
  return { backend, auth, email, next, user: data.user, password }
}

const proving = (backend: Backend, email: string) =>
  backend.ask('/verify', { body: { email, token: backend.letterTo(email).code, type: 'email_change' } })

const half = {
  code: '200',
  msg: 'Confirmation link accepted. Please proceed to confirm link sent to the other email',
}

test('both addresses are asked before an address changes', async () => {
  const { backend, email, next, user } = await changing()
  expect(user).toMatchObject({ email, new_email: next, email_change_sent_at: expect.any(String) })
  expect(backend.outbox.map(({ recipient, kind }) => [recipient, kind])).toEqual([
    [next, 'email_change'],
    [email, 'email_change'],
  ])
})

test.each([
  ['new one, then the old one', true],
  ['old one, then the new one', false],
])('the %s', async (_order, newFirst) => {
  const { backend, email, next } = await changing()
  const [first, second] = newFirst ? [next, email] : [email, next]
  expect(await bodyOf(proving(backend, first))).toEqual(half)
  const [user] = (await backend.admin.listUsers()).data.users
  expect(user).toMatchObject({ email, new_email: next })
  const { user: changed } = await bodyOf(proving(backend, second))
  expect(changed.email).toBe(next)
  expect(changed).not.toHaveProperty('new_email')
  expect(changed.identities).toMatchObject([{ email: next, identity_data: { email: next, email_verified: true } }])
})

test('one address does not agree twice', async () => {
  const { backend, next } = await changing()
  expect((await proving(backend, next)).status).toBe(200)
  expect(await refusal(proving(backend, next))).toEqual({
    status: 403,
    code: 'otp_expired',
    message: 'Token has expired or is invalid',
  })
})

test("Supabase's client takes the first half for no session", async () => {
  const { backend, auth, next } = await changing()
  const { data, error } = await auth.verifyOtp({
    email: next,
    token: backend.letterTo(next).code,
    type: 'email_change',
  })
  expect(error).toBeNull()
  expect(data.session).toBeNull()
})

test('the links of both mails change the address as well, and the first says what is left to do', async () => {
  const { backend, email, next } = await changing({ siteUrl: 'https://app.example.com' })
  const first = await followed(backend.letterTo(next).link)
  expect(first.status).toBe(303)
  expect(first.location).toBe(
    'https://app.example.com/#message=Confirmation+link+accepted.+Please+proceed+to+confirm+link+sent+to+the+other+email&sb=',
  )
  const second = await followed(backend.letterTo(email).link)
  expect(second.fragment).toMatchObject({ type: 'email_change', access_token: expect.any(String) })
})

test('where only the new address is asked, it is enough', async () => {
  const { backend, email, next } = await changing({ mailerSecureEmailChangeEnabled: false })
  expect(backend.outbox.map(({ recipient }) => recipient)).toEqual([next])
  const { user } = await bodyOf(proving(backend, next))
  expect(user.email).toBe(next)
  const old = await backend.client().auth.signInWithPassword({ email, password: 'correct horse' })
  expect(old.error?.code).toBe('invalid_credentials')
})

test('where mails are not confirmed, either address is enough', async () => {
  const { backend, email, next } = await changing({ mailerAutoconfirm: true })
  expect(backend.outbox).toHaveLength(2)
  const { user } = await bodyOf(proving(backend, email))
  expect(user.email).toBe(next)
  expect((await proving(backend, next)).status).toBe(403)
})

test('a code for the new address is no way to confirm another', async () => {
  const { backend, next } = await changing({ testOtp: '123456' })
  for (const type of ['signup', 'recovery', 'magiclink', 'email', 'invite']) {
    expect((await backend.ask('/verify', { body: { email: next, token: '123456', type } })).status).toBe(403)
  }
})

test('an address that another user took in the meantime stays with them', async () => {
  const { backend, next } = await changing({ mailerSecureEmailChangeEnabled: false })
  await backend.admin.createUser({ email: next, password: 'correct horse', email_confirm: true })
  expect(await refusal(proving(backend, next))).toEqual({
    status: 422,
    code: 'email_exists',
    message: EMAIL_TAKEN,
  })
  expect((await backend.client().auth.signInWithPassword({ email: next, password: 'correct horse' })).error).toBeNull()
})

test('of two who want one address the code tells who it is', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false, mailerSecureEmailChangeEnabled: false })
  const next = newUser().email
  const users = []
  for (const { email, password } of [newUser(), newUser()]) {
    await backend.admin.createUser({ email, password, email_confirm: true })
    const { auth } = backend.client()
    const { data } = await auth.signInWithPassword({ email, password })
    await auth.updateUser({ email: next })
    users.push({ id: data.user?.id, letter: backend.letterTo(next) })
  }
  const [one, other] = users
  const body = { email: next, token: one?.letter.code, type: 'email_change' }
  const { user } = await bodyOf(backend.ask('/verify', { body }))
  expect(user.id).toBe(one?.id)
  expect((await followed(other?.letter.link ?? '')).fragment).toMatchObject({ error_code: 'email_exists' })
})

test('a further change takes the place of the one that waits', async () => {
  const { backend, auth, next } = await changing({ mailerSecureEmailChangeEnabled: false })
  const another = newUser().email
  await auth.updateUser({ email: another })
  expect((await proving(backend, next)).status).toBe(403)
  const { user } = await bodyOf(proving(backend, another))
  expect(user.email).toBe(another)
})

test('a half done change starts over when it is asked for again', async () => {
  const { backend, auth, email, next } = await changing()
  await proving(backend, email)
  await auth.updateUser({ email: next })
  expect(await bodyOf(proving(backend, next))).toEqual(half)
})

test("a code confirms only its own user's change, and the session is that user's", async () => {
  const { backend, next, user } = await changing({ mailerSecureEmailChangeEnabled: false })
  const stranger = await newcomer(await Promise.resolve(backend))
  const body = { email: next, token: backend.letterTo(next).code, type: 'email_change' }
  const answer = await bodyOf(backend.ask('/verify', { body, bearer: stranger.access_token }))
  expect(answer.user.id).toBe(user?.id)
})
