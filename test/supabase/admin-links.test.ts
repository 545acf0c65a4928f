import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { EMAIL_TAKEN, NOT_AN_EMAIL, passwordShorterThan } from '../sentences.js'
import { backendWith, follow, newcomer, newUser, refusal, TIME } from './backend.js'

const redirectTo = 'http://localhost:5173/welcome'
const taken = {
  status: 422,
  code: 'email_exists',
  message: EMAIL_TAKEN,
}

test('an admin gets the link of a sign-up without an email being sent', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { email, password } = newUser()
  const { data, error } = await backend.admin.generateLink({
    type: 'signup',
    ...{ email, password },
    options: { data: { status: 'alpha' }, redirectTo },
  })
  expect(error).toBeNull()
  expect(data.properties).toEqual({
    action_link: `${backend.url}/auth/v1/verify?token=${data.properties?.hashed_token}&type=signup&redirect_to=${redirectTo}`,
    email_otp: expect.stringMatching(/^\d{6}$/),
    hashed_token: createHash('sha224')
      .update(email + data.properties?.email_otp)
      .digest('hex'),
    verification_type: 'signup',
    redirect_to: redirectTo,
  })
  expect(data.user).toMatchObject({ email, confirmation_sent_at: expect.stringMatching(TIME) })
  expect(data.user?.user_metadata).toEqual({ status: 'alpha' })
  expect(backend.outbox).toEqual([])
  const { location } = await follow(data.properties?.action_link ?? '')
  expect(location).toMatch(/^http:\/\/localhost:5173\/welcome#access_token=/)
  expect((await backend.client().auth.signInWithPassword({ email, password })).error).toBeNull()
})

test.each(['magiclink', 'recovery'] as const)('a %s link signs its user in', async type => {
  const backend = await backendWith()
  const { email, user } = await newcomer(backend)
  const { data } = await backend.admin.generateLink({ type, email })
  expect(data.properties?.verification_type).toBe(type)
  expect(data.user?.recovery_sent_at).toBeDefined()
  const verified = await backend.client().auth.verifyOtp({ token_hash: data.properties?.hashed_token ?? '', type })
  expect(verified.data.user?.id).toBe(user.id)
})

test('a magic link for an unknown email signs up a new user', async () => {
  const { admin } = await backendWith()
  const { email } = newUser()
  const { data } = await admin.generateLink({ type: 'magiclink', email, options: { data: { name: 'Ada' } } })
  expect(data.properties?.verification_type).toBe('signup')
  expect(data.properties?.action_link).toContain('&type=signup&')
  expect(data.user).toMatchObject({ email, user_metadata: { name: 'Ada' } })
})

test('an invite link creates an invited user', async () => {
  const backend = await backendWith()
  const { email } = newUser()
  const { data } = await backend.admin.generateLink({ type: 'invite', email, options: { data: { team: 'one' } } })
  expect(data.user).toMatchObject({ email, invited_at: expect.stringMatching(TIME), user_metadata: { team: 'one' } })
  const { fragment } = await follow(data.properties?.action_link ?? '')
  expect(fragment).toMatchObject({ type: 'invite' })
})

test('an email change has one link for the new email and one for the old', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { email, password } = newUser()
  await backend.admin.createUser({ email, password, email_confirm: true })
  const newEmail = newUser().email
  const toNew = await backend.admin.generateLink({ type: 'email_change_new', email, newEmail })
  const toOld = await backend.admin.generateLink({ type: 'email_change_current', email, newEmail })
  expect(toNew.data.user).toMatchObject({ email, new_email: newEmail })
  expect(toNew.data.properties?.verification_type).toBe('email_change_new')
  expect(toNew.data.properties?.action_link).toContain('&type=email_change&')
  const first = await follow(toNew.data.properties?.action_link ?? '')
  expect(first.fragment.message).toMatch(/^Confirmation link accepted/)
  const second = await follow(toOld.data.properties?.action_link ?? '')
  expect(second.fragment).toHaveProperty('access_token')
  expect((await backend.client().auth.signInWithPassword({ email: newEmail, password })).error).toBeNull()
})

test.each(['signup', 'invite'] as const)('no %s link is generated for a confirmed email', async type => {
  const backend = await backendWith()
  const { email, password } = await newcomer(backend)
  expect((await backend.admin.generateLink({ type, email, password } as never)).error).toMatchObject(taken)
})

test.each([
  [{ type: 'recovery' }, 404, 'user_not_found', 'User with this email not found'],
  [{ type: 'email_change_new', new_email: 'b@example.com' }, 404, 'user_not_found', 'User with this email not found'],
  [{ type: 'party' }, 400, 'validation_failed', 'Invalid email action link type requested: party'],
  [{ type: 'signup' }, 400, 'validation_failed', 'Signup requires a valid password'],
  [{ type: 'signup', password: '123' }, 422, 'weak_password', passwordShorterThan(6)],
  [{ type: 'invite', email: 'nowhere' }, 400, 'validation_failed', NOT_AN_EMAIL],
  [{ type: 'invite', email: '' }, 400, 'validation_failed', 'An email address is required'],
])('a link for %j is refused', async (body, status, code, message) => {
  const { ask, serviceKey } = await backendWith()
  const response = ask('/admin/generate_link', { body: { email: 'a@example.com', ...body }, bearer: serviceKey })
  expect(await refusal(response)).toEqual({ status, code, message })
})

test('an invitation is sent, and its link lets the user set a password', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { email, password } = newUser()
  const { data, error } = await backend.admin.inviteUserByEmail(email, { data: { team: 'one' }, redirectTo })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({
    email,
    invited_at: expect.stringMatching(TIME),
    confirmation_sent_at: expect.stringMatching(TIME),
    user_metadata: { team: 'one' },
  })
  const { fragment } = await follow(backend.messageTo(email).link)
  expect(fragment).toMatchObject({ type: 'invite' })
  const { auth } = backend.client()
  const { access_token = '', refresh_token = '' } = fragment
  await auth.setSession({ access_token, refresh_token })
  expect((await auth.updateUser({ password })).error).toBeNull()
  expect((await backend.client().auth.signInWithPassword({ email, password })).error).toBeNull()
})
