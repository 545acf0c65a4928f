/** Everything that expires follows the platform's clock, as an app sees it through Supabase's own client. */
import { expect, test } from 'vitest'
import type { Platform } from '../../src/index.js'
import { platformWith } from '../scene.js'
import { platformOf } from './edited.js'
import { adminOf, answerOf, claimsOf, sentences, signIn } from './people.js'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const YEAR_MS = 365 * 24 * HOUR_MS

const ada = { email: 'ada@example.com', password: 'correct-horse' }

interface Key {
  readonly id: string
  readonly key: string
}

/** Creates a key through the dashboard's API. */
async function keyOf({ url }: Pick<Platform, 'url'>, token: string, path = '', body: object = {}): Promise<Key> {
  const response = await fetch(`${url}/dashboard/api/keys${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(201)
  return (await response.json()) as Key
}

test('a token expires after an hour, and refreshing the session returns a token that works', async () => {
  const platform = await platformWith({ users: [ada] })
  const { client, token } = await signIn(platform, ada)
  expect(await answerOf(platform, token)).toBe('open')
  await platform.clock.advance(HOUR_MS + SECOND_MS)
  expect(await answerOf(platform, token)).toBe(sentences.expired)
  expect((await client.auth.getUser(token)).error).toMatchObject({ status: 403, code: 'bad_jwt' })
  const { data, error } = await client.auth.refreshSession()
  expect(error).toBeNull()
  const next = data.session?.access_token ?? ''
  expect(await answerOf(platform, next)).toBe('open')
  expect(claimsOf(next).exp).toBeGreaterThan((claimsOf(token).exp ?? 0) + 3600)
})

test('the lifetime of an API key counts from its creation, wherever the clock stood then', async () => {
  const platform = await platformWith({ users: [ada] })
  await platform.clock.advance(YEAR_MS)
  const { token } = await signIn(platform, ada)
  const { key } = await keyOf(platform, token, '', { name: 'an hour', expires_in: 3600 })
  expect(await answerOf(platform, key)).toBe('open')
  await platform.clock.advance(59 * MINUTE_MS)
  expect(await answerOf(platform, key)).toBe('open')
  await platform.clock.advance(2 * MINUTE_MS)
  expect(await answerOf(platform, key)).toBe(sentences.expiredKey)
})

test("a key's expiry only has to be in the future according to the clock", async () => {
  const platform = await platformWith({ users: [ada] })
  await platform.clock.set(Date.UTC(2020, 0, 1))
  const { token } = await signIn(platform, ada)
  const { key } = await keyOf(platform, token, '', { name: 'until 2021', expires_at: '2021-01-01T00:00:00Z' })
  expect(await answerOf(platform, key)).toBe('open')
  await platform.clock.reset()
  expect(await answerOf(platform, key)).toBe(sentences.expiredKey)
})

test('a ban ends after its duration and applies again when the clock is moved back', async () => {
  const platform = await platformWith({ users: [ada] })
  const { id, token } = await signIn(platform, ada)
  await adminOf(platform).updateUserById(id, { ban_duration: '10m' })
  expect(await answerOf(platform, token)).toBe(sentences.barred)
  await platform.clock.advance(11 * MINUTE_MS)
  for (const _ of ['looked up', 'cached']) expect(await answerOf(platform, token)).toBe('open')
  await platform.clock.advance(-5 * MINUTE_MS)
  expect(await answerOf(platform, token)).toBe(sentences.barred)
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
