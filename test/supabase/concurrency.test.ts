import { expect, onTestFinished, test } from 'vitest'
import { hashCost } from '../../src/supabase/passwords.js'
import { backendWith, bodyOf, claimsOf, clock, follow, newcomer, newUser, somePhone } from './backend.js'

const times = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)))

const statusesOf = (responses: readonly Response[]) => responses.map(({ status }) => status).sort()

/** Hashing a password takes even longer than it does for users, so that requests overlap. */
function hashSlowly() {
  const { logN } = hashCost
  hashCost.logN = 14
  onTestFinished(() => {
    hashCost.logN = logN
  })
}

test('when twenty clients sign up with one email at the same time, exactly one succeeds', async () => {
  const { ask, admin } = await backendWith()
  const { email, password } = newUser()
  const responses = await times(20, i =>
    ask('/signup', { body: { email: i % 2 ? email : email.toUpperCase(), password: `${password} ${i}` } }),
  )
  expect(statusesOf(responses)).toEqual([200, ...Array(19).fill(422)])
  const { data } = await admin.listUsers()
  expect(data.users).toHaveLength(1)
})

test.each(['email', 'phone'] as const)(
  'when twenty clients request a code for one new %s at the same time, all of them get one',
  async kind => {
    hashSlowly()
    const backend = await backendWith()
    const body = kind === 'email' ? { email: newUser().email } : { phone: somePhone() }
    const responses = await times(20, () => backend.ask('/otp', { body }))
    expect(statusesOf(responses)).toEqual(Array(20).fill(200))
    expect(backend.outbox).toHaveLength(20)
    expect((await backend.admin.listUsers()).data.users).toHaveLength(1)
  },
)

test('fifty clients that refresh one token at the same time get the same next token, which is active', async () => {
  clock()
  const backend = await backendWith()
  const { refresh_token, user } = await newcomer(backend)
  const refresh = (token: string) => backend.ask('/token?grant_type=refresh_token', { body: { refresh_token: token } })
  const responses = await times(50, () => refresh(refresh_token))
  expect(new Set(statusesOf(responses))).toEqual(new Set([200]))
  const grants = await Promise.all(responses.map(response => bodyOf(response)))
  expect(new Set(grants.map(grant => grant.refresh_token)).size).toBe(1)
  expect(new Set(grants.map(grant => claimsOf(grant.access_token).session_id)).size).toBe(1)
  expect(grants.every(grant => grant.user.id === user.id)).toBe(true)
  expect((await refresh(grants[0].refresh_token)).status).toBe(200)
})

test('when a code and its link are used at the same time, exactly one works', async () => {
  const backend = await backendWith()
  const { email } = newUser()
  await backend.client().auth.signInWithOtp({ email })
  const { link, code } = backend.messageTo(email)
  const [response, { fragment }] = await Promise.all([
    backend.ask('/verify', { body: { email, token: code, type: 'email' } }),
    follow(link),
  ])
  expect(Number(response.status === 200) + Number('access_token' in fragment)).toBe(1)
})

test('a password change during sign-ins with the old password leaves none of their sessions behind', async () => {
  const backend = await backendWith()
  const { email, password, access_token } = await newcomer(backend)
  const [changed, ...signedIn] = await Promise.all([
    backend.ask('/user', { method: 'PUT', body: { password: 'battery staple' }, bearer: access_token }),
    ...Array.from({ length: 10 }, () => backend.ask('/token?grant_type=password', { body: { email, password } })),
  ])
  expect(changed.status).toBe(200)
  const tokens = await Promise.all(signedIn.map(async response => (await bodyOf(response)).access_token))
  const statuses = await Promise.all(
    tokens.filter(token => token !== undefined).map(async bearer => (await backend.ask('/user', { bearer })).status),
  )
  expect(statuses.every(status => status === 403)).toBe(true)
})
