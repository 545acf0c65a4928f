import { createHash } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { opened } from '../state/kinds.js'
import { type Backend, backendWith, bodyOf, claimsOf, clock, follow, newcomer, newUser, refusal } from './backend.js'

const verifier = 'v'.repeat(56)
const challenge = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
}

const exchange = ({ ask }: Backend, auth_code: string, code_verifier = verifier) =>
  ask('/token?grant_type=pkce', { body: { auth_code, code_verifier } })

/** The code with which the link of a recovery redirects to the app. */
async function authCode(backend: Backend, more: object = challenge) {
  const { email } = await newcomer(backend)
  await backend.ask('/recover', { body: { email, ...more } })
  return (await follow(backend.messageTo(email).link)).query.code ?? ''
}

test('a sign-up is completed by exchanging the code of its link', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false })
  const { auth } = backend.client({ flowType: 'pkce' })
  const { email, password } = newUser()
  const { data: waiting } = await auth.signUp({ email, password })
  expect(waiting.session).toBeNull()
  const { link } = backend.messageTo(email)
  expect(link).toContain('token=pkce_')
  const { status, query, fragment } = await follow(link)
  expect([status, Object.keys(query), fragment]).toEqual([303, ['code'], {}])
  const { data, error } = await auth.exchangeCodeForSession(query.code ?? '')
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email, email_confirmed_at: expect.any(String) })
  expect(claimsOf(data.session?.access_token ?? '').amr).toMatchObject([{ method: 'email/signup' }])
})

test.each(['recovery', 'magiclink'] as const)(
  'a %s email is completed by exchanging the code of its link',
  async kind => {
    const backend = await backendWith()
    const { email } = await newcomer(backend)
    const { auth } = backend.client({ flowType: 'pkce' })
    await (kind === 'recovery' ? auth.resetPasswordForEmail(email) : auth.signInWithOtp({ email }))
    const { query } = await follow(backend.messageTo(email).link)
    const { data, error } = await auth.exchangeCodeForSession(query.code ?? '')
    expect(error).toBeNull()
    expect(data).toMatchObject({ user: { email }, redirectType: kind === 'recovery' ? 'recovery' : null })
    expect(claimsOf(data.session?.access_token ?? '').amr).toMatchObject([{ method: kind }])
  },
)

/** A user who has requested an email change. Without Supabase's own client, which forgets its verifier here. */
async function requestChange(settings: Parameters<typeof backendWith>[0] = {}) {
  const backend = await backendWith({ mailerAutoconfirm: false, ...settings })
  const { email, password } = newUser()
  await backend.admin.createUser({ email, password, email_confirm: true })
  const { access_token } = await bodyOf(backend.ask('/token?grant_type=password', { body: { email, password } }))
  const next = newUser().email
  await backend.ask('/user', { method: 'PUT', bearer: access_token, body: { email: next, ...challenge } })
  return { backend, email, next }
}

test('an email change is completed by exchanging the code of its link', async () => {
  const { backend, next } = await requestChange({ mailerAutoconfirm: true })
  const { query } = await follow(backend.messageTo(next).link)
  const { user, access_token } = await bodyOf(exchange(backend, query.code ?? ''))
  expect(user.email).toBe(next)
  expect(claimsOf(access_token).amr).toMatchObject([{ method: 'email_change' }])
})

test('an error is both in the query and in the fragment', async () => {
  const backend = await backendWith({ siteUrl: 'https://app.example.com' })
  const { email } = await newcomer(backend)
  await backend.ask('/recover', { body: { email, ...challenge } })
  const { link } = backend.messageTo(email)
  await follow(link)
  const why = {
    error: 'access_denied',
    error_code: 'otp_expired',
    error_description: 'Email link is invalid or has expired',
  }
  expect(await follow(link)).toMatchObject({ query: why, fragment: { ...why, sb: '' } })
})

test('a code is refused with a wrong verifier and still works with the right one', async () => {
  const backend = await backendWith()
  const code = await authCode(backend)
  expect(await refusal(exchange(backend, code, 'w'.repeat(56)))).toEqual({
    status: 400,
    code: 'bad_code_verifier',
    message: 'code challenge does not match previously saved code verifier',
  })
  expect((await exchange(backend, code)).status).toBe(200)
})

test('a code works for five minutes', async () => {
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

test('an expired code that was never exchanged is removed when its user starts another sign-in', async () => {
  const time = clock()
  const dir = mkdtempSync(path.join(tmpdir(), 'standin-'))
  const where = `file:${path.join(dir, 'state.db')}`
  const backend = await backendWith({}, { state: where })
  const { email } = await newcomer(backend)
  for (let i = 0; i < 3; i++) {
    await backend.ask('/recover', { body: { email, ...challenge } })
    await follow(backend.messageTo(email).link)
    time.pass(301)
  }
  const state = await opened({ where, dir })
  expect(await state.read(({ flow_states }) => flow_states.count({}))).toBe(1)
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
  [
    { code_challenge: 'x'.repeat(42), code_challenge_method: 's256' },
    'code challenge has to be between 43 and 128 characters',
  ],
  [
    { code_challenge: '+'.repeat(43), code_challenge_method: 's256' },
    'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
  ],
  [{ code_challenge: 'x'.repeat(43), code_challenge_method: 's512' }, 'unsupported code_challenge method "s512"'],
])('the challenge %j is refused by every endpoint that takes one', async (body, message) => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const { email, password } = newUser()
  const responses = await Promise.all([
    backend.ask('/signup', { body: { email, password, ...body } }),
    backend.ask('/otp', { body: { email, ...body } }),
    backend.ask('/recover', { body: { email, ...body } }),
    backend.ask('/resend', { body: { email, type: 'signup', ...body } }),
    backend.ask('/user', { method: 'PUT', bearer: access_token, body: { email, ...body } }),
  ])
  for (const response of responses) {
    expect(await refusal(response)).toEqual({ status: 400, code: 'validation_failed', message })
  }
})

test('a code that was not exchanged yet stays valid when its user requests another', async () => {
  const time = clock()
  const backend = await backendWith()
  const { email } = await newcomer(backend)
  const codes = []
  for (const seconds of [0, -60]) {
    time.pass(seconds)
    await backend.ask('/recover', { body: { email, ...challenge } })
    codes.push((await follow(backend.messageTo(email).link)).query.code ?? '')
  }
  for (const code of codes) expect((await exchange(backend, code)).status).toBe(200)
})
