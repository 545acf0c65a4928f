import { AuthAdminApi, AuthClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { secretToken } from '../signing.js'
import { backendWith, clock, newUser, somePhone, UUID } from './backend.js'

// The backend as the auth client's own tests expect it: without a gateway, with clients that send no key, and with
// an older kind of admin token.

const jwtSecret = '37c304f8-51aa-419a-a1af-06154e63707a'

async function bareBackend(settings: Parameters<typeof backendWith>[0] = {}) {
  const { url: origin, outbox, messageTo } = await backendWith({ gateway: 'open', jwtSecret, ...settings })
  const url = `${origin}/auth/v1`
  const adminToken = await secretToken({ sub: '1234567890', role: 'supabase_admin', exp: undefined }, jwtSecret)
  const client = (options: object = {}) =>
    new AuthClient({ url, autoRefreshToken: false, persistSession: true, detectSessionInUrl: false, ...options })
  const admin = new AuthAdminApi({ url, headers: { Authorization: `Bearer ${adminToken}` } })
  return { url, client, admin, outbox, messageTo }
}

test('a client without a key signs up, in and out', async () => {
  const { client } = await bareBackend()
  const auth = client()
  const { email, password } = newUser()
  const { data, error } = await auth.signUp({ email, password, options: { data: { status: 'alpha' } } })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({
    ...{ id: expect.stringMatching(UUID), email, phone: '', aud: 'authenticated', role: 'authenticated' },
    user_metadata: { status: 'alpha' },
  })
  expect((await auth.signInWithPassword({ email, password })).data.session).toMatchObject({
    ...{ token_type: 'bearer', expires_in: expect.any(Number), expires_at: expect.any(Number) },
  })
  expect((await auth.getUser()).data.user?.email).toBe(email)
  expect((await auth.signOut()).error).toBeNull()
  expect((await auth.getSession()).data.session).toBeNull()
})

test('a session can be restored from its tokens', async () => {
  const { client } = await bareBackend()
  const auth = client()
  const { data } = await auth.signUp(newUser())
  const { access_token = '', refresh_token = '' } = data.session ?? {}
  const other = client()
  const { data: taken, error } = await other.setSession({ access_token, refresh_token })
  expect(error).toBeNull()
  expect(taken.user?.id).toBe(data.user?.id)
  expect((await client().getUser(access_token)).data.user?.id).toBe(data.user?.id)
  expect((await client().refreshSession({ refresh_token })).data.user?.id).toBe(data.user?.id)
})

test('a session whose token has expired is restored through a refresh', async () => {
  const time = clock()
  const { client } = await bareBackend()
  const { data } = await client().signUp(newUser())
  const { access_token = '', refresh_token = '' } = data.session ?? {}
  time.pass(3601)
  const { data: taken, error } = await client().setSession({ access_token, refresh_token })
  expect(error).toBeNull()
  expect(taken.session?.access_token).not.toBe(access_token)
})

test('concurrent calls of getSession refresh an expired session once', async () => {
  const time = clock()
  const { client } = await bareBackend()
  const auth = client()
  await auth.signUp(newUser())
  time.pass(3601)
  const fetching = vi.spyOn(globalThis, 'fetch')
  onTestFinished(() => void fetching.mockRestore())
  const sessions = await Promise.all(Array.from({ length: 5 }, () => auth.getSession()))
  expect(new Set(sessions.map(({ data }) => data.session?.refresh_token)).size).toBe(1)
  expect(fetching).toHaveBeenCalledTimes(1)
})

test('the client emits an event for each change of the session', async () => {
  const { client } = await bareBackend()
  const auth = client()
  const events: string[] = []
  const { data } = auth.onAuthStateChange(event => void events.push(event))
  onTestFinished(() => data.subscription.unsubscribe())
  await auth.signUp(newUser())
  await auth.updateUser({ data: { hello: 'world' } })
  await auth.refreshSession()
  await auth.signOut()
  expect(events.filter(event => event !== 'INITIAL_SESSION')).toEqual([
    ...['SIGNED_IN', 'USER_UPDATED', 'TOKEN_REFRESHED', 'SIGNED_OUT'],
  ])
})

test('an anonymous user has the metadata that was sent, and can become a permanent user', async () => {
  const { client, messageTo } = await bareBackend({ mailerAutoconfirm: false })
  const auth = client()
  const { data } = await auth.signInAnonymously({ options: { data: { name: 'test' } } })
  expect(data.user).toMatchObject({ is_anonymous: true, identities: [] })
  expect(data.user?.user_metadata).toEqual({ name: 'test' })
  const { email } = newUser()
  await auth.updateUser({ email })
  const { data: known } = await auth.verifyOtp({ email, token: messageTo(email).code, type: 'email_change' })
  expect(known.user).toMatchObject({ id: data.user?.id, email, is_anonymous: false })
})

test('with sign-up disabled, only an admin can create users', async () => {
  const { client, admin } = await bareBackend({ disableSignup: true })
  const off = { status: 422, code: 'signup_disabled', message: 'Signups not allowed for this instance' }
  expect((await client().signUp(newUser())).error).toMatchObject(off)
  expect((await client().signUp({ phone: somePhone(), password: 'correct horse' })).error).toMatchObject(off)
  expect((await client().signInAnonymously()).error).toMatchObject(off)
  expect((await client().signInWithOtp({ email: newUser().email })).error).toMatchObject(off)
  expect((await admin.createUser({ email: newUser().email })).error).toBeNull()
  expect((await admin.inviteUserByEmail(newUser().email)).error).toBeNull()
  const { email, password } = newUser()
  expect((await admin.generateLink({ type: 'signup', email, password })).error).toBeNull()
  expect((await admin.generateLink({ type: 'invite', email: newUser().email })).error).toBeNull()
})
