import { expect, test } from 'vitest'
import { EMAIL_TAKEN } from '../sentences.js'
import { type Backend, backendWith, bodyOf, follow, newUser, refusal } from './backend.js'

type Settings = Parameters<typeof backendWith>[0]

/** A user who has requested an email change. */
async function requestChange(settings: Settings = {}) {
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

const confirm = (backend: Backend, email: string) =>
  backend.ask('/verify', { body: { email, token: backend.messageTo(email).code, type: 'email_change' } })

const halfway = {
  code: '200',
  msg: 'Confirmation link accepted. Please proceed to confirm link sent to the other email',
}

test('both the old and the new address are asked to confirm a change', async () => {
  const { backend, email, next, user } = await requestChange()
  expect(user).toMatchObject({ email, new_email: next, email_change_sent_at: expect.any(String) })
  expect(backend.outbox.map(({ recipient, kind }) => [recipient, kind])).toEqual([
    [next, 'email_change'],
    [email, 'email_change'],
  ])
})

test.each([
  ['new one first', true],
  ['old one first', false],
])('the email changes once both addresses have confirmed, the %s', async (_order, newFirst) => {
  const { backend, email, next } = await requestChange()
  const [first, second] = newFirst ? [next, email] : [email, next]
  expect(await bodyOf(confirm(backend, first))).toEqual(halfway)
  const [user] = (await backend.admin.listUsers()).data.users
  expect(user).toMatchObject({ email, new_email: next })
  const { user: changed } = await bodyOf(confirm(backend, second))
  expect(changed.email).toBe(next)
  expect(changed).not.toHaveProperty('new_email')
  expect(changed.identities).toMatchObject([{ email: next, identity_data: { email: next, email_verified: true } }])
})

test('the links of both emails confirm the change as well, and the first says what is left to do', async () => {
  const { backend, email, next } = await requestChange({ siteUrl: 'https://app.example.com' })
  const first = await follow(backend.messageTo(next).link)
  expect(first.status).toBe(303)
  expect(first.location).toBe(
    'https://app.example.com/#message=Confirmation+link+accepted.+Please+proceed+to+confirm+link+sent+to+the+other+email&sb=',
  )
  const second = await follow(backend.messageTo(email).link)
  expect(second.fragment).toMatchObject({ type: 'email_change', access_token: expect.any(String) })
})

test('with autoconfirm, confirming either address is enough', async () => {
  const { backend, email, next } = await requestChange({ mailerAutoconfirm: true })
  expect(backend.outbox).toHaveLength(2)
  const { user } = await bodyOf(confirm(backend, email))
  expect(user.email).toBe(next)
  expect((await confirm(backend, next)).status).toBe(403)
})

test('an email that another user took in the meantime stays with that user', async () => {
  const { backend, next } = await requestChange({ mailerAutoconfirm: true })
  await backend.admin.createUser({ email: next, password: 'correct horse', email_confirm: true })
  expect(await refusal(confirm(backend, next))).toEqual({
    status: 422,
    code: 'email_exists',
    message: EMAIL_TAKEN,
  })
  expect((await backend.client().auth.signInWithPassword({ email: next, password: 'correct horse' })).error).toBeNull()
})

test('when two users want the same email, the code identifies the user', async () => {
  const backend = await backendWith()
  const next = newUser().email
  const users = []
  for (const { email, password } of [newUser(), newUser()]) {
    await backend.admin.createUser({ email, password, email_confirm: true })
    const { auth } = backend.client()
    const { data } = await auth.signInWithPassword({ email, password })
    await auth.updateUser({ email: next })
    users.push({ id: data.user?.id, message: backend.messageTo(next) })
  }
  const [one, other] = users
  const body = { email: next, token: one?.message.code, type: 'email_change' }
  const { user } = await bodyOf(backend.ask('/verify', { body }))
  expect(user.id).toBe(one?.id)
  expect((await follow(other?.message.link ?? '')).fragment).toMatchObject({ error_code: 'email_exists' })
})
