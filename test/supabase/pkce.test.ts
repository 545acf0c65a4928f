import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Backend, backendWith, bodyOf, claimsOf, clock, followed, newcomer, newUser, refusal } from './backend.js'

const verifier = 'v'.repeat(56)
const challenge = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
}

const exchange = ({ ask }: Backend, auth_code: string, code_verifier = verifier) =>
  ask('/token?grant_type=pkce', { body: { auth_code, code_verifier } })

/** The code that the link of a recovery leads back with. */
async function authCode(backend: Backend, more: object = challenge) {
  const { email } = await newcomer(backend)
  await backend.ask('/recover', { body: { email, ...more } })
  return (await followed(backend.letterTo(email).link)).query.code ?? ''
}

test('a sign-up ends where it began', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { auth } = backend.client({ flowType: 'pkce' })
  const { email, password } = newUser()
  const { data: waiting } = await auth.signUp({ email, password })
  expect(waiting.session).toBeNull()
  const { link } = backend.letterTo(email)
  expect(link).toContain('token=pkce_')
  const { status, query, fragment } = await followed(link)
  expect([status, Object.keys(query), fragment]).toEqual([303, ['code'], {}])
  const { data, error } = await auth.exchangeCodeForSession(query.code ?? '')
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email, email_confirmed_at: expect.any(String) })
  expect(claimsOf(data.session?.access_token ?? '').amr).toMatchObject([{ method: 'email/signup' }])
})

test.each(['recovery', 'magiclink'] as const)('a mail of the kind %s ends where it was asked for', async kind => {
  const backend = await backendWith()
  const { email } = await newcomer(backend)
  const { auth } = backend.client({ flowType: 'pkce' })
  await (kind === 'recovery' ? auth.resetPasswordForEmail(email) : auth.signInWithOtp({ email }))
  const { query } = await followed(backend.letterTo(email).link)
  const { data, error } = await auth.exchangeCodeForSession(query.code ?? '')
  expect(error).toBeNull()
  expect(data).toMatchObject({ user: { email }, redirectType: kind === 'recovery' ? 'recovery' : null })
  expect(claimsOf(data.session?.access_token ?? '').amr).toMatchObject([{ method: kind }])
})

/** A user who has asked for another address. Raw, since Supabase's own client forgets its verifier here. */
async function changing(settings: Parameters<typeof backendWith>[0] = {}) {
  const backend = await backendWith({ mailerAutoconfirm: false, ...settings })
  const { email, password } = newUser()
  await backend.admin.createUser({ email, password, email_confirm: true })
  const { access_token } = await bodyOf(backend.ask('/token?grant_type=password', { body: { email, password } }))
  const next = newUser().email
  await backend.ask('/user', { method: 'PUT', bearer: access_token, body: { email: next, ...challenge } })
  return { backend, email, next }
}

test('a change of address ends where it began', async () => {
  const { backend, next } = await changing({ mailerSecureEmailChangeEnabled: false })
  const { query } = await followed(backend.letterTo(next).link)
  const { user, access_token } = await bodyOf(exchange(backend, query.code ?? ''))
  expect(user.email).toBe(next)
  expect(claimsOf(access_token).amr).toMatchObject([{ method: 'email_change' }])
})

test('the first half of a change of address says in the query what is left to do', async () => {
  const { backend, email, next } = await changing()
  const first = await followed(backend.letterTo(email).link)
  expect(first.query.message).toMatch(/^Confirmation link accepted\./)
  expect(first.fragment).toEqual({ ...first.query, sb: '' })
  const second = await followed(backend.letterTo(next).link)
  const { user } = await bodyOf(exchange(backend, second.query.code ?? ''))
  expect(user.email).toBe(next)
})

test('the code of such a mail can be typed in as well', async () => {
  const backend = await backendWith()
  const { email } = await newcomer(backend)
  const { auth } = backend.client({ flowType: 'pkce' })
  await auth.signInWithOtp({ email })
  const { data, error } = await auth.verifyOtp({ email, token: backend.letterTo(email).code, type: 'email' })
  expect(error).toBeNull()
  expect(data.session?.access_token).toBeDefined()
})

test('what went wrong stands in the query and behind the #', async () => {
  const backend = await backendWith({ siteUrl: 'https://app.example.com' })
  const { email } = await newcomer(backend)
  await backend.ask('/recover', { body: { email, ...challenge } })
  const { link } = backend.letterTo(email)
  await followed(link)
  const why = {
    error: 'access_denied',
    error_code: 'otp_expired',
    error_description: 'Email link is invalid or has expired',
  }
  expect(await followed(link)).toMatchObject({ query: why, fragment: { ...why, sb: '' } })
})

test('a code keeps the query that the app has already', async () => {
  const backend = await backendWith()
  const { email } = await newcomer(backend)
  await backend.ask(`/recover?redirect_to=${encodeURIComponent('http://localhost:5173/cb?z=1&a=2#/here')}`, {
    body: { email, ...challenge },
  })
  const { location } = await followed(backend.letterTo(email).link)
  expect(location).toMatch(/^http:\/\/localhost:5173\/cb\?a=2&code=[\da-f-]{36}&z=1#\/here$/)
})

test('a code counts once', async () => {
  const backend = await backendWith()
  const code = await authCode(backend)
  expect((await exchange(backend, code)).status).toBe(200)
  expect(await refusal(exchange(backend, code))).toEqual({
    status: 404,
    code: 'flow_state_not_found',
    message: 'invalid flow state, no valid flow state found',
  })
})

test('a code without its verifier is worth nothing, and waits for the right one', async () => {
  const backend = await backendWith()
  const code = await authCode(backend)
  expect(await refusal(exchange(backend, code, 'w'.repeat(56)))).toEqual({
    status: 400,
    code: 'bad_code_verifier',
    message: 'code challenge does not match previously saved code verifier',
  })
  expect((await exchange(backend, code)).status).toBe(200)
})

test('the challenge is not its own verifier', async () => {
  const backend = await backendWith()
  const code = await authCode(backend)
  expect((await exchange(backend, code, challenge.code_challenge)).status).toBe(400)
})

test('a challenge may be the verifier itself where the app says so', async () => {
  const backend = await backendWith()
  const code = await authCode(backend, { code_challenge: verifier, code_challenge_method: 'PLAIN' })
  expect((await exchange(backend, code)).status).toBe(200)
})

test('a code counts for five minutes', async () => {
  const time = clock()
  const backend = await backendWith()
  const [one, other] = [await authCode(backend), await authCode(backend)]
  time.pass(300)
  expect((await exchange(backend, one)).status).toBe(200)
  time.pass(1)
  expect(await refusal(exchange(backend, other))).toEqual({
    status: 422,
    code: 'flow_state_expired',
    message: 'invalid flow state, flow state has expired',
  })
})

test('the app that asked last gets in, also when the clock was moved back in between', async () => {
  const time = clock()
  const backend = await backendWith()
  const { email } = await newcomer(backend)
  await backend.ask('/recover', { body: { email, code_challenge: 'w'.repeat(56), code_challenge_method: 'plain' } })
  time.pass(-60)
  await backend.ask('/recover', { body: { email, ...challenge } })
  const { query } = await followed(backend.letterTo(email).link)
  expect((await exchange(backend, query.code ?? '')).status).toBe(200)
})

test('a code that was not exchanged yet stays valid when its user asks again', async () => {
  const time = clock()
  const backend = await backendWith()
  const { email } = await newcomer(backend)
  const codes = []
  for (const seconds of [0, -60]) {
    time.pass(seconds)
    await backend.ask('/recover', { body: { email, ...challenge } })
    codes.push((await followed(backend.letterTo(email).link)).query.code ?? '')
  }
  for (const code of codes) expect((await exchange(backend, code)).status).toBe(200)
})

test('a code that was never exchanged is gone from the state when its user asks again after it expired', async () => {
  const time = clock()
  const backend = await backendWith()
  const { email } = await newcomer(backend)
  for (let i = 0; i < 3; i++) {
    await backend.ask('/recover', { body: { email, ...challenge } })
    await followed(backend.letterTo(email).link)
    time.pass(301)
  }
  expect((await backend.exportState()).flow_states).toHaveLength(1)
})

test('a code that was never exchanged is gone from the state when another user asks after it expired', async () => {
  const time = clock()
  const backend = await backendWith()
  for (let i = 0; i < 3; i++) {
    const { email } = await newcomer(backend)
    await backend.ask('/recover', { body: { email, ...challenge } })
    await followed(backend.letterTo(email).link)
    time.pass(301)
  }
  expect((await backend.exportState()).flow_states).toHaveLength(1)
})

test.each([[{}], [{ auth_code: 'x' }], [{ code_verifier: 'x' }]])('the exchange of %j is refused', async body => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/token?grant_type=pkce', { body }))).toEqual({
    status: 400,
    code: 'validation_failed',
    message: 'invalid request: both auth code and code verifier should be non-empty',
  })
})

test.each([
  [{ code_challenge: 'x'.repeat(43) }, 'PKCE flow requires code_challenge_method and code_challenge'],
  [{ code_challenge_method: 's256' }, 'PKCE flow requires code_challenge_method and code_challenge'],
  [
    { code_challenge: 'x'.repeat(42), code_challenge_method: 's256' },
    'code challenge has to be between 43 and 128 characters',
  ],
  [
    { code_challenge: 'x'.repeat(129), code_challenge_method: 's256' },
    'code challenge has to be between 43 and 128 characters',
  ],
  [
    { code_challenge: '+'.repeat(43), code_challenge_method: 's256' },
    'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
  ],
  [{ code_challenge: 'x'.repeat(43), code_challenge_method: 's512' }, 'unsupported code_challenge method "s512"'],
])('the challenge %j is refused wherever one is sent', async (body, message) => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const { email, password } = newUser()
  const asked = await Promise.all([
    backend.ask('/signup', { body: { email, password, ...body } }),
    backend.ask('/otp', { body: { email, ...body } }),
    backend.ask('/recover', { body: { email, ...body } }),
    backend.ask('/resend', { body: { email, type: 'signup', ...body } }),
    backend.ask('/user', { method: 'PUT', bearer: access_token, body: { email, ...body } }),
  ])
  for (const response of asked) {
    expect(await refusal(response)).toEqual({ status: 400, code: 'validation_failed', message })
  }
})

test('an unknown flow leads back with a refusal', async () => {
  const backend = await backendWith()
  const { email } = await newcomer(backend)
  await backend.ask('/recover', { body: { email, ...challenge } })
  const { link } = backend.letterTo(email)
  // A link of the kind email stands for both; the flow waits under the name of recovery.
  const { query } = await followed(link.replace('type=recovery', 'type=email'))
  expect(query).toMatchObject({ error: 'invalid_request', error_code: 'flow_state_not_found' })
})

test.each([true, false])(
  'the code of a user who was deleted in the meantime gives nothing (softly: %s)',
  async softly => {
    const backend = await backendWith()
    const code = await authCode(backend)
    const [user] = (await backend.admin.listUsers()).data.users
    await backend.admin.deleteUser(user?.id ?? '', softly)
    expect((await exchange(backend, code)).status).toBe(404)
  },
)

test('the code of a user who was banned in the meantime gives nothing', async () => {
  const backend = await backendWith()
  const code = await authCode(backend)
  const [user] = (await backend.admin.listUsers()).data.users
  await backend.admin.updateUserById(user?.id ?? '', { ban_duration: '1h' })
  expect(await refusal(exchange(backend, code))).toMatchObject({ status: 400, code: 'user_banned' })
})

test('the hash of such a link gives a session to any client that has it, as at Supabase', async () => {
  const backend = await backendWith()
  const { email } = await newcomer(backend)
  await backend.ask('/recover', { body: { email, ...challenge } })
  const token_hash = new URL(backend.letterTo(email).link).searchParams.get('token')
  expect(token_hash).toMatch(/^pkce_/)
  const answer = await bodyOf(backend.ask('/verify', { body: { token_hash, type: 'recovery' } }))
  expect(answer).toHaveProperty('access_token')
})
