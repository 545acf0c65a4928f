/** Everything that expires follows the platform's clock, as an app sees it through Supabase's own client. */
import { expect, test } from 'vitest'
import type { Platform } from '../../src/index.js'
import { hello, platformWith } from '../scene.js'
import { platformOf } from './edited.js'
import { adminOf, answerOf, claimsOf, clientOf, sentences, signIn, signUp, userOf } from './people.js'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const YEAR_MS = 365 * 24 * HOUR_MS

const ada = { email: 'ada@example.com', password: 'correct-horse' }

interface Key {
  readonly id: string
  readonly key: string
}

/** Creates or rolls a key through the dashboard's API. */
async function keyOf({ url }: Pick<Platform, 'url'>, token: string, path = '', body: object = {}): Promise<Key> {
  const response = await fetch(`${url}/dashboard/api/keys${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(201)
  return (await response.json()) as Key
}

const newestMessage = async ({ url }: Pick<Platform, 'url'>) => {
  const { data } = (await (await fetch(`${url}/__standin/outbox`)).json()) as { data: { code: string; link: string }[] }
  return data[0] ?? { code: '', link: '' }
}

test('a token expires after an hour, and refreshing the session returns a token that works', async () => {
  const platform = await platformWith({ users: [ada] })
  const { client, token } = await signIn(platform, ada)
  expect(await answerOf(platform, token)).toBe('open')
  platform.clock.advance(HOUR_MS + SECOND_MS)
  expect(await answerOf(platform, token)).toBe(sentences.expired)
  expect((await client.auth.getUser(token)).error).toMatchObject({ status: 403, code: 'bad_jwt' })
  const { data, error } = await client.auth.refreshSession()
  expect(error).toBeNull()
  const next = data.session?.access_token ?? ''
  expect(await answerOf(platform, next)).toBe('open')
  expect(claimsOf(next).exp).toBeGreaterThan((claimsOf(token).exp ?? 0) + 3600)
})

test('a token works until the exact millisecond at which it expires', async () => {
  const platform = await platformWith({ users: [ada] })
  const { token } = await signIn(platform, ada)
  const endMs = (claimsOf(token).exp ?? 0) * 1000
  platform.clock.freeze()
  platform.clock.set(endMs - 1)
  expect([await answerOf(platform, token), await userOf(platform, token)]).toEqual(['open', expect.stringMatching(/-/)])
  platform.clock.advance(1)
  expect([await answerOf(platform, token), await userOf(platform, token)]).toEqual([sentences.expired, '403 bad_jwt'])
})

test('reusing a refresh token after its reuse interval ends the session', async () => {
  const platform = await platformWith({ users: [ada] })
  const { client, refreshToken } = await signIn(platform, ada)
  for (let i = 0; i < 2; i++) expect((await client.auth.refreshSession()).error).toBeNull()
  const thief = clientOf(platform, platform.anonKey)
  const replay = () => thief.auth.refreshSession({ refresh_token: refreshToken })
  platform.clock.advance(11 * SECOND_MS)
  expect((await replay()).error).toMatchObject({ status: 400, code: 'refresh_token_already_used' })
  expect((await client.auth.refreshSession()).error).toMatchObject({ code: 'refresh_token_already_used' })
})

test('the lifetime of an API key counts from its creation, wherever the clock stood then', async () => {
  const platform = await platformWith({ users: [ada] })
  platform.clock.advance(YEAR_MS)
  const { token } = await signIn(platform, ada)
  const { key } = await keyOf(platform, token, '', { name: 'an hour', expires_in: 3600 })
  expect(await answerOf(platform, key)).toBe('open')
  platform.clock.advance(59 * MINUTE_MS)
  expect(await answerOf(platform, key)).toBe('open')
  platform.clock.advance(2 * MINUTE_MS)
  expect(await answerOf(platform, key)).toBe(sentences.expiredKey)
})

test("a key's expiry only has to be in the future according to the clock", async () => {
  const platform = await platformWith({ users: [ada] })
  platform.clock.set(Date.UTC(2020, 0, 1))
  const { token } = await signIn(platform, ada)
  const { key } = await keyOf(platform, token, '', { name: 'until 2021', expires_at: '2021-01-01T00:00:00Z' })
  expect(await answerOf(platform, key)).toBe('open')
  platform.clock.reset()
  expect(await answerOf(platform, key)).toBe(sentences.expiredKey)
})

test("a key's expiry has to be in a four-digit year in UTC, whatever its time zone", async () => {
  const platform = await platformWith({ users: [ada] })
  const { token } = await signIn(platform, ada)
  await keyOf(platform, token, '', { name: 'late', expires_at: '9999-12-31T23:59:59Z' })
  const later = keyOf(platform, token, '', { name: 'later', expires_at: '9999-12-31T23:59:59-23:59' })
  await expect(later).rejects.toThrow(/400/)
})

test('a rolled key works alongside its successor until the overlap ends', async () => {
  const platform = await platformWith({ users: [ada] })
  const { token } = await signIn(platform, ada)
  const old = await keyOf(platform, token, '', { name: 'rolled' })
  const next = await keyOf(platform, token, `/${old.id}/roll`, { overlap_seconds: 600 })
  const answers = () => Promise.all([old, next].map(({ key }) => answerOf(platform, key)))
  expect(await answers()).toEqual(['open', 'open'])
  platform.clock.advance(9 * MINUTE_MS)
  expect(await answers()).toEqual(['open', 'open'])
  platform.clock.advance(2 * MINUTE_MS)
  expect(await answers()).toEqual([sentences.expiredKey, 'open'])
})

test('an emailed code expires after an hour, and a new one works', async () => {
  const platform = await platformWith({ users: [ada] })
  const { auth } = clientOf(platform, platform.anonKey)
  const { email } = ada
  const redeem = async () => auth.verifyOtp({ email, token: (await newestMessage(platform)).code, type: 'recovery' })
  await auth.resetPasswordForEmail(email)
  platform.clock.advance(HOUR_MS + SECOND_MS)
  expect((await redeem()).error).toMatchObject({ status: 403, code: 'otp_expired' })
  await auth.resetPasswordForEmail(email)
  expect((await redeem()).data.user?.email).toBe(email)
})

test('a ban ends after its duration and applies again when the clock is moved back', async () => {
  const platform = await platformWith({ users: [ada] })
  const { id, token } = await signIn(platform, ada)
  await adminOf(platform).updateUserById(id, { ban_duration: '10m' })
  expect(await answerOf(platform, token)).toBe(sentences.barred)
  platform.clock.advance(11 * MINUTE_MS)
  for (const _ of ['looked up', 'cached']) expect(await answerOf(platform, token)).toBe('open')
  platform.clock.advance(-5 * MINUTE_MS)
  expect(await answerOf(platform, token)).toBe(sentences.barred)
})

test('a sign-up gets its timestamps from the clock', async () => {
  const platform = await platformWith()
  platform.clock.freeze()
  platform.clock.set(Date.UTC(2031, 1, 3))
  const { client, token } = await signUp(platform)
  const { data } = await client.auth.getUser()
  const moment = '2031-02-03T00:00:00.000Z'
  expect(data.user).toMatchObject({ created_at: moment, last_sign_in_at: moment, email_confirmed_at: moment })
  expect(claimsOf(token)).toMatchObject({ iat: Date.UTC(2031, 1, 3) / 1000, amr: [{ timestamp: 1_927_843_200 }] })
})

test('the minute of a rate limit follows the clock, and moving the clock back locks no client out', async () => {
  const platform = await platformWith({ limits: { requestsPerMinute: 1 } })
  const status = async () => (await platform.chat(hello)).status
  expect([await status(), await status()]).toEqual([200, 429])
  platform.clock.advance(MINUTE_MS)
  expect([await status(), await status()]).toEqual([200, 429])
  platform.clock.advance(-HOUR_MS)
  expect([await status(), await status()]).toEqual([200, 429])
  platform.clock.advance(MINUTE_MS)
  expect(await status()).toBe(200)
})

test('the clock keeps its offset across a reload, but not across a restart', async () => {
  const edited = await platformOf({ users: [ada] })
  const { token } = await signIn(edited.platform, ada)
  edited.platform.clock.advance(2 * HOUR_MS)
  await edited.reload({ users: [ada], version: '2.0.0' })
  expect(await answerOf(edited.platform, token)).toBe(sentences.expired)
  expect(edited.platform.clock.state().offsetMs).toBe(2 * HOUR_MS)
  await edited.restart({ users: [ada] })
  expect(edited.platform.clock.state().offsetMs).toBe(0)
})
