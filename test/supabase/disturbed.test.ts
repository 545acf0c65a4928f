import { createClient } from '@supabase/supabase-js'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { headerOf } from './backend.js'

/** A person who is signed in, and who can send an order with the session that they have at that time. */
async function signedIn() {
  const platform = await platformWith({ resources: { '/orders': { data: [] } } })
  const { auth } = createClient(platform.url, platform.anonKey, { auth: { autoRefreshToken: false } })
  const { data } = await auth.signUp({ email: 'ada@example.com', password: 'correct horse' })
  const current = async () => (await auth.getSession()).data.session
  async function order(token?: string) {
    const bearer = token ?? (await current())?.access_token ?? ''
    const headers = { 'content-type': 'application/json' }
    return (await platform.ask('/orders', { method: 'POST', bearer, headers, body: '{"item":"tea"}' })).status
  }
  return { platform, auth, order, first: data.session?.access_token ?? '' }
}

test('a session is revoked between two calls: its token, and its refresh token, are refused', async () => {
  const { platform, auth, order } = await signedIn()
  await platform.failNext({ session: 'revoked' })
  expect(await order()).toBe(401)
  expect((await auth.refreshSession()).error).toMatchObject({ status: 400, code: 'refresh_token_not_found' })
  const [refused] = await platform.journal.find({ path: '/orders' })
  expect(refused).toMatchObject({
    caller: { kind: 'refused', tried: { reason: 'session' } },
    fault: { fault: { session: 'revoked' }, happened: true },
  })
})

test('a user is banned in the middle of a stream, which goes on to its end', async () => {
  const { platform, auth, order, first } = await signedIn()
  await platform.failNext({ session: 'banned' })
  const body = { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'hello' }] }
  expect(await (await platform.chat(body, { bearer: first })).text()).toContain('[DONE]')
  expect(await order()).toBe(401)
  expect((await auth.refreshSession()).error).toMatchObject({ code: 'user_banned' })
})

test.each([
  ['key-rotated', 'unknown-key'],
  ['clock-ahead', 'expired'],
] as const)('%s: the token is refused, a refresh mends it, and other sessions go on', async (session, reason) => {
  const { platform, auth, order, first } = await signedIn()
  const other = await platform.signIn()
  await platform.failNext({ session })
  expect(await order()).toBe(401)
  const [refused] = await platform.journal.find({ path: '/orders' })
  expect(refused?.caller).toMatchObject({ tried: { reason } })
  expect((await auth.getUser()).error).toMatchObject({ code: 'bad_jwt' })
  expect((await auth.refreshSession()).error).toBeNull()
  expect(await order()).toBe(201)
  expect(await order(first)).toBe(401)
  expect(await order(other.accessToken)).toBe(201)
})

test('after the rotation, new tokens are signed with a key of the JWKS that was not there before', async () => {
  const { platform, auth, order, first } = await signedIn()
  await platform.failNext({ session: 'key-rotated' })
  await order()
  const { data } = await auth.refreshSession()
  const token = data.session?.access_token ?? ''
  expect(headerOf(token).kid).not.toBe(headerOf(first).kid)
  const keys = createRemoteJWKSet(new URL(`${platform.url}/auth/v1/.well-known/jwks.json`))
  expect((await jwtVerify(token, keys)).payload.email).toBe('ada@example.com')
})

test("a server's clock that is ahead writes its own time into sessions", async () => {
  const { platform, auth, order } = await signedIn()
  await platform.failNext({ session: 'clock-ahead' })
  await order()
  const { data } = await auth.refreshSession()
  const aheadSeconds = (data.session?.expires_at ?? 0) - Date.now() / 1000
  expect(Math.round(aheadSeconds / 3600)).toBe(2)
})

test('a refresh token that another tab has used up is refused for good', async () => {
  const { platform, auth, order } = await signedIn()
  await platform.failNext({ session: 'refresh-used' })
  const { error } = await auth.refreshSession()
  expect(error).toMatchObject({ status: 400, code: 'refresh_token_already_used' })
  // Access tokens outlive the refresh tokens of their session, and the client knows it.
  expect(await order()).toBe(201)
})

test('a link that was opened already is expired', async () => {
  const platform = await platformWith({ auth: { mailerAutoconfirm: false, siteUrl: 'http://localhost:3000' } })
  const { auth } = createClient(platform.url, platform.anonKey, { auth: { autoRefreshToken: false } })
  await auth.signUp({ email: 'ada@example.com', password: 'correct horse' })
  await platform.failNext({ session: 'link-used' })
  const { link } = await platform.outbox.waitFor({ to: 'ada@example.com' })
  const opened = await fetch(link ?? '', { redirect: 'manual' })
  expect(opened.headers.get('location')).toContain('error_code=otp_expired')
})
