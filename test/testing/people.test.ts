import { expect, test } from 'vitest'
import { adminOf, clientOf } from '../keys/people.js'
import { platformWith } from '../scene.js'
import { BANNED, WRONG_LOGIN } from '../sentences.js'

test('a supabase client can use and refresh a session from signIn', async () => {
  const platform = await platformWith()
  const { session, accessToken, user, expiresAt } = await platform.signIn({ email: 'Ada@Example.com' })
  const client = clientOf(platform, platform.anonKey)
  const { data, error } = await client.auth.setSession(session)
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ id: user.id, email: 'ada@example.com' })
  expect(expiresAt.getTime()).toBeGreaterThan(Date.now())
  expect((await platform.ask('/v1/models', { bearer: accessToken })).status).toBe(200)
  const refreshed = await client.auth.refreshSession()
  expect(refreshed.error).toBeNull()
  expect(refreshed.data.session?.access_token).not.toBe(undefined)
})

test('a user who signed up with a password can sign in only with that password', async () => {
  const platform = await platformWith()
  const ada = { email: 'ada@example.com', password: 'correct horse' }
  const first = await platform.signIn(ada)
  expect((await clientOf(platform, platform.anonKey).auth.signInWithPassword(ada)).data.user?.id).toBe(first.user.id)
  await expect(platform.signIn({ ...ada, password: 'wrong' })).rejects.toThrow(WRONG_LOGIN)
  expect((await platform.signIn({ email: ada.email })).user.id).toBe(first.user.id)
})

test('signInWith signs in by an account at another provider, which is linked to the user with its address', async () => {
  const platform = await platformWith()
  const ada = await platform.signIn({ email: 'ada@example.com' })
  const { user, session } = await platform.signInWith('github', { email: 'Ada@example.com' })
  expect(user).toMatchObject({ id: ada.user.id, app_metadata: { provider: 'email', providers: ['email', 'github'] } })
  expect(session.provider_token).toMatch(/^standin-github-/)
  const { data } = await clientOf(platform, platform.anonKey).auth.setSession(session)
  expect(data.user?.identities?.map(({ provider }) => provider)).toEqual(['email', 'github'])
  expect((await platform.signInWith('google')).user.email).toBe('developer@example.com')
  await expect(platform.signInWith('gihub' as never)).rejects.toThrow(
    /^signInWith: provider must be one of apple, .*github/,
  )
})

test('signing in a banned user fails, and the error says why', async () => {
  const platform = await platformWith()
  const { user } = await platform.signIn({ email: 'ada@example.com' })
  await adminOf(platform).updateUserById(user.id, { ban_duration: '1h' })
  await expect(platform.signIn({ email: 'ada@example.com' })).rejects.toThrow(BANNED)
})

test("keys work until they expire by the platform's clock", async () => {
  const platform = await platformWith()
  const [lasting, brief, expired] = await Promise.all([
    platform.createKey({ user: 'ada@example.com', name: 'mine' }),
    platform.createKey({ expiresInMs: 60_000 }),
    platform.createKey({ expiresInMs: -1 }),
  ])
  const opens = async (bearer: string) => (await platform.ask('/v1/models', { bearer })).status
  expect([await opens(lasting), await opens(brief), await opens(expired)]).toEqual([200, 200, 401])
  await platform.clock.advance(61_000)
  expect([await opens(lasting), await opens(brief)]).toEqual([200, 401])
})

test('outbox.waitFor returns a message with its code and link', async () => {
  const platform = await platformWith()
  const client = clientOf(platform, platform.anonKey)
  const coming = platform.outbox.waitFor({ to: 'Ada@example.com' })
  await client.auth.signInWithOtp({ email: 'ada@example.com' })
  const { code, link, channel, to } = await coming
  expect({ channel, to }).toEqual({ channel: 'email', to: 'ada@example.com' })
  expect(link).toContain(platform.url)
  const { data } = await client.auth.verifyOtp({ email: 'ada@example.com', token: code ?? '', type: 'email' })
  expect(data.user?.email).toBe('ada@example.com')
  await platform.outbox.clear()
  expect(await platform.outbox.messages()).toEqual([])
})

test('outbox.waitFor finds a phone number however it is written', async () => {
  const platform = await platformWith({ auth: { external: { phone: true } } })
  await clientOf(platform, platform.anonKey).auth.signInWithOtp({ phone: '+1 555 1234' })
  for (const to of ['+1 555 1234', '+15551234', '15551234']) {
    expect(await platform.outbox.waitFor({ to }, { timeoutMs: 20 })).toMatchObject({ to: '15551234' })
  }
})

test('a message that does not come is an error that lists those that did', async () => {
  const platform = await platformWith()
  await expect(platform.outbox.waitFor({ to: 'bob@example.com' }, { timeoutMs: 20 })).rejects.toThrow(
    "No message matching { to: 'bob@example.com' } arrived within 20 ms.\nThe outbox is empty.",
  )
  await clientOf(platform, platform.anonKey).auth.signInWithOtp({ email: 'ada@example.com' })
  await expect(platform.outbox.waitFor({ to: /^bob@/ }, { timeoutMs: 20 })).rejects.toThrow(
    /Received:\n {2}email \w+ to ada@example\.com · \w/,
  )
})
