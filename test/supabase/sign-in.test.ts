import { expect, test } from 'vitest'
import { backendWith, newUser, refusal, somePhone, TIME } from './backend.js'

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
