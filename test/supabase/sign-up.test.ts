import { expect, test } from 'vitest'
import { passwordShorterThan } from '../sentences.js'
import { backendWith, bodyOf, claimsOf, newUser, refusal, somePhone, TIME, UUID } from './backend.js'

test('signing up starts a session at once when emails need no confirmation', async () => {
  const { client } = await backendWith()
  const { email, password } = newUser()
  const { data, error } = await client().auth.signUp({ email, password })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email, aud: 'authenticated', role: 'authenticated', is_anonymous: false })
  expect(data.session).toMatchObject({ token_type: 'bearer', expires_in: 3600, user: { id: data.user?.id } })
})

test('a new user has exactly the fields of Supabase, in its order', async () => {
  const { ask } = await backendWith()
  const { email, password } = newUser()
  const { user } = await bodyOf(ask('/signup', { body: { email, password, data: { name: 'Ada' } } }))
  const known = { name: 'Ada', sub: user.id, email, email_verified: true, phone_verified: false }
  expect(user).toEqual({
    id: expect.stringMatching(UUID),
    aud: 'authenticated',
    role: 'authenticated',
    email,
    email_confirmed_at: expect.stringMatching(TIME),
    phone: '',
    last_sign_in_at: expect.stringMatching(TIME),
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: known,
    identities: [
      {
        identity_id: expect.stringMatching(UUID),
        id: user.id,
        user_id: user.id,
        identity_data: { ...known, email_verified: false },
        provider: 'email',
        last_sign_in_at: expect.stringMatching(TIME),
        created_at: expect.stringMatching(TIME),
        updated_at: expect.stringMatching(TIME),
        email,
      },
    ],
    created_at: expect.stringMatching(TIME),
    updated_at: expect.stringMatching(TIME),
    is_anonymous: false,
  })
  expect(Object.keys(user)).toEqual(
    'id aud role email email_confirmed_at phone last_sign_in_at app_metadata user_metadata identities created_at updated_at is_anonymous'.split(
      ' ',
    ),
  )
  expect(Object.keys(user.identities[0])).toEqual(
    'identity_id id user_id identity_data provider last_sign_in_at created_at updated_at email'.split(' '),
  )
})

test('when emails have to be confirmed, the response is the user alone, and an email is sent', async () => {
  const { ask, messageTo } = await backendWith({ mailerAutoconfirm: false })
  const { email, password } = newUser()
  const user = await bodyOf(ask('/signup', { body: { email, password } }))
  expect(user).toMatchObject({ email, role: 'authenticated', confirmation_sent_at: expect.stringMatching(TIME) })
  expect(user).not.toHaveProperty('access_token')
  expect(user).not.toHaveProperty('email_confirmed_at')
  expect(user).not.toHaveProperty('last_sign_in_at')
  expect(user.user_metadata).toMatchObject({ email_verified: false })
  expect(messageTo(email)).toMatchObject({ kind: 'signup', channel: 'email', code: expect.stringMatching(/^\d{6}$/) })
})

test('a user cannot sign in before the email is confirmed, and afterwards needs only the password', async () => {
  const { client, messageTo } = await backendWith({ mailerAutoconfirm: false })
  const { email, password } = newUser()
  const { auth } = client()
  expect((await auth.signUp({ email, password })).data.session).toBeNull()
  expect((await auth.signInWithPassword({ email, password })).error).toMatchObject({
    status: 400,
    code: 'email_not_confirmed',
    message: 'Email not confirmed',
  })
  const { data } = await auth.verifyOtp({ email, token: messageTo(email).code ?? '', type: 'signup' })
  expect(data.user).toMatchObject({ email_confirmed_at: expect.stringMatching(TIME) })
  expect(data.user?.user_metadata).toMatchObject({ email_verified: true })
  expect(data.user?.identities?.[0]?.identity_data).toMatchObject({ email_verified: true })
  expect((await auth.signInWithPassword({ email, password })).error).toBeNull()
})

test('a taken email is refused when emails need no confirmation', async () => {
  const { client } = await backendWith()
  const { email, password } = newUser()
  await client().auth.signUp({ email, password })
  expect((await client().auth.signUp({ email, password })).error).toMatchObject({
    status: 422,
    code: 'user_already_exists',
    message: 'User already registered',
  })
})

test('when emails have to be confirmed, signing up does not reveal that an email is taken', async () => {
  const { ask, admin, outbox } = await backendWith({ mailerAutoconfirm: false })
  const { email, password } = newUser()
  const { data: real } = await admin.createUser({ email, password, email_confirm: true, user_metadata: { secret: 1 } })
  const response = await ask('/signup', { body: { email, password: 'something else', data: { name: 'Eve' } } })
  const user = await bodyOf(response)
  expect(response.status).toBe(200)
  expect(user).toEqual({
    id: expect.stringMatching(UUID),
    aud: 'authenticated',
    role: '',
    email,
    phone: '',
    confirmation_sent_at: expect.stringMatching(TIME),
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { name: 'Eve' },
    identities: [],
    created_at: expect.stringMatching(TIME),
    updated_at: expect.stringMatching(TIME),
    is_anonymous: false,
  })
  expect(user.id).not.toBe(real.user?.id)
  expect(outbox).toEqual([])
})

test('a user can sign up with a phone number, which is confirmed at once when it needs no confirmation', async () => {
  const { client } = await backendWith()
  const phone = somePhone()
  const { data, error } = await client().auth.signUp({ phone: `+${phone}`, password: 'correct horse' })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({
    phone,
    email: '',
    phone_confirmed_at: expect.stringMatching(TIME),
    app_metadata: { provider: 'phone', providers: ['phone'] },
    user_metadata: { sub: data.user?.id, email_verified: false, phone_verified: false },
  })
  expect(data.user?.identities).toMatchObject([
    { provider: 'phone', identity_data: { sub: data.user?.id, email_verified: false, phone_verified: false } },
  ])
  expect(data.user?.identities?.[0]).not.toHaveProperty('email')
})

test('a phone number that has to be confirmed gets a text message', async () => {
  const { client, messageTo } = await backendWith({ mailerAutoconfirm: false })
  const phone = somePhone()
  const { auth } = client()
  const { data } = await auth.signUp({ phone, password: 'correct horse' })
  expect(data).toMatchObject({ session: null, user: { phone } })
  expect((await auth.signInWithPassword({ phone, password: 'correct horse' })).error).toMatchObject({
    status: 400,
    code: 'phone_not_confirmed',
    message: 'Phone not confirmed',
  })
  expect(messageTo(phone)).toMatchObject({ kind: 'sms', channel: 'sms', link: '' })
  const { error } = await auth.verifyOtp({ phone, token: messageTo(phone).code, type: 'sms' })
  expect(error).toBeNull()
  expect((await auth.signInWithPassword({ phone, password: 'correct horse' })).error).toBeNull()
})

test('anonymous users can sign in and are marked as anonymous', async () => {
  const { client } = await backendWith()
  const { data, error } = await client().auth.signInAnonymously({ options: { data: { theme: 'dark' } } })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({
    is_anonymous: true,
    email: '',
    phone: '',
    app_metadata: {},
    identities: [],
    user_metadata: { theme: 'dark' },
  })
  expect(data.user?.user_metadata).toEqual({ theme: 'dark' })
  expect(claimsOf(data.session?.access_token ?? '')).toMatchObject({
    is_anonymous: true,
    amr: [{ method: 'anonymous' }],
  })
})

const { email, password } = newUser()

test.each([
  ['no password', { email }, 400, 'validation_failed', 'Signup requires a valid password'],
  ['a short password', { email, password: '12345' }, 422, 'weak_password', passwordShorterThan(6)],
  [
    'a password that is too long',
    { email, password: 'x'.repeat(73) },
    400,
    'validation_failed',
    'Password cannot be longer than 72 characters',
  ],
  [
    'both email and phone',
    { email, phone: '4790000000', password },
    400,
    'validation_failed',
    'Only an email address or phone number should be provided on signup.',
  ],
  [
    'nothing after the @',
    { email: 'somebody@', password },
    400,
    'validation_failed',
    'Unable to validate email address: invalid format',
  ],
  [
    'an email of 256 characters',
    { email: `${'a'.repeat(244)}@example.com`, password },
    400,
    'validation_failed',
    'An email address is too long',
  ],
  [
    'letters for a phone number',
    { phone: '+47abc', password },
    400,
    'validation_failed',
    'Invalid phone number format (E.164 required)',
  ],
  [
    'WhatsApp, which needs Twilio',
    { phone: '4790000000', password, channel: 'whatsapp' },
    400,
    'validation_failed',
    "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider.",
  ],
  [
    'PKCE by phone',
    { phone: '4790000000', password, code_challenge: 'c'.repeat(43), code_challenge_method: 's256' },
    400,
    'validation_failed',
    'PKCE not supported for phone signups',
  ],
])('a sign-up is refused with %s', async (_what, body, status, code, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/signup', { body }))).toEqual({ status, code, message })
})

test.each([
  [{ disableSignup: true }, { email, password }, 422, 'signup_disabled', 'Signups not allowed for this instance'],
  [{ disableSignup: true }, {}, 422, 'signup_disabled', 'Signups not allowed for this instance'],
  [
    { disableSignup: true, external: { anonymous_users: false } },
    {},
    422,
    'anonymous_provider_disabled',
    'Anonymous sign-ins are disabled',
  ],
])('with %j, a sign-up with %j is disabled', async (settings, body, status, code, message) => {
  const { ask } = await backendWith(settings)
  expect(await refusal(ask('/signup', { body }))).toEqual({ status, code, message })
})
