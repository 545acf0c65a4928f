import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Platform } from '../../src/index.js'
import { newSecret } from '../../src/keys/api-keys.js'
import { run, startReady } from '../command.js'
import { platformWith, refusalOf, unauthorized } from '../scene.js'
import { platformOf, written } from './edited.js'
import { adminOf, answerOf, ask, type Person, sentences, signIn, signUp } from './people.js'

const working = { name: 'working', key: 'sk-local-working' }

test("the platform's API key grants access to the language model API", async () => {
  const { ask, apiKey } = await platformWith()
  expect((await ask('/v1/models', { bearer: apiKey })).status).toBe(200)
})

test('an API key works until the moment it expires', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2030-01-01T11:59:30Z') })
  onTestFinished(() => void vi.useRealTimers())
  const { ask } = await platformWith({ apiKeys: [{ ...working, expiresAt: '2030-01-01T12:00:00Z' }] })
  expect((await ask('/v1/models', { bearer: working.key })).status).toBe(200)
  vi.setSystemTime(new Date('2030-01-01T12:00:00Z'))
  expect(await refusalOf(await ask('/v1/models', { bearer: working.key }))).toEqual(
    unauthorized('The API key has expired.'),
  )
})

test('an API key may contain two dots, like a token', async () => {
  const key = 'sk.local.dotted'
  const { ask } = await platformWith({ apiKeys: [{ name: 'dotted', key }] })
  expect((await ask('/v1/models', { bearer: key })).status).toBe(200)
})

test('with your own API keys, the one from the docs stops working', async () => {
  const { apiKey: published } = await platformWith()
  const { ask } = await platformWith({ apiKeys: [working] })
  expect((await ask('/v1/models', { bearer: published })).status).toBe(401)
  expect((await ask('/v1/models', { bearer: working.key })).status).toBe(200)
})

test('the log tells a mistyped key from an unknown one, and the response does not', async () => {
  const { ready, event } = await startReady()
  const mistyped = `${ready.apiKey.slice(0, -1)}${ready.apiKey.endsWith('x') ? 'y' : 'x'}`
  const [one, other] = [await ask(ready, mistyped), await ask(ready, newSecret())]

  const logged = [await event('request'), await event('request')]
  expect(logged).toMatchObject([{ error: sentences.unknownKey }, { error: sentences.unknownKey }])
  expect(logged[0]).toHaveProperty('hint', 'Its checksum is wrong: part of the key was lost or mistyped.')
  expect(logged[1]).toHaveProperty('hint', expect.stringContaining('another state'))
  const all = async ({ status, headers, body }: Response) => ({
    status,
    headers: [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id'),
    body: await new Response(body).text(),
  })
  expect(await all(one)).toEqual(await all(other))
})

const ada = { email: 'ada@example.com', password: 'correct-horse' }
const hers = { name: "Ada's", key: 'sk-local-of-ada', user: ada.email }

test("a user's configured key stops working as soon as the user is banned, and works again when the ban is lifted", async () => {
  const scene = await platformWith({ users: [ada], apiKeys: [hers, working] })
  const { id } = await signIn(scene, ada)
  expect(await answerOf(scene, hers.key)).toBe('open')
  await adminOf(scene).updateUserById(id, { ban_duration: '1h' })
  expect(await answerOf(scene, hers.key)).toBe(sentences.ownerless)
  expect(await answerOf(scene, working.key)).toBe('open')
  await adminOf(scene).updateUserById(id, { ban_duration: 'none' })
  expect(await answerOf(scene, hers.key)).toBe('open')
})

test.each([
  ['softly', true, sentences.ownerless],
  ['permanently', false, sentences.unknownKey],
])("deleting a user %s disables the user's keys", async (_how, softly, sentence) => {
  const scene = await platformWith({ users: [ada], apiKeys: [hers, working] })
  const { id } = await signIn(scene, ada)
  expect(await answerOf(scene, hers.key)).toBe('open')
  await adminOf(scene).deleteUser(id, softly)
  expect(await answerOf(scene, hers.key)).toBe(sentence)
  expect(await answerOf(scene, working.key)).toBe('open')
})

const users = [ada]

test('a key removed from the configuration stops working after the reload, even if it was cached', async () => {
  const { platform, reload } = await platformOf({ users, apiKeys: [hers, working] })
  expect(await answerOf(platform, working.key)).toBe('open')
  await reload({ users, apiKeys: [hers] })
  expect(await answerOf(platform, working.key)).toBe(sentences.unknownKey)
  expect(await answerOf(platform, hers.key)).toBe('open')
  await reload({ users, apiKeys: [hers, working] })
  expect(await answerOf(platform, working.key)).toBe('open')
})

test("a user who signs up with another user's old email does not get that user's keys", async () => {
  const { platform, reload } = await platformOf({ users, apiKeys: [hers] })
  const { id } = await signIn(platform, ada)
  await adminOf(platform).updateUserById(id, { email: 'countess@example.com' })
  const eve = await signUp(platform, ada.email)
  await reload({ users, apiKeys: [hers] })
  await adminOf(platform).deleteUser(eve.id)
  expect(await answerOf(platform, hers.key)).toBe('open')
})

test('no state file and no log line contains a secret in plain text', async () => {
  const platform = await startReady({
    files: written({ state: 'file:kept/state.db', apiKeys: [working] }),
  })
  const { ready, dir, stdout, stderr } = platform
  const made = (await run(['key', 'create', '--config', `${dir}/platform.config.yaml`])).stdout.trim()
  const person = await signUp(ready, 'ada@example.com', 'correct-horse-battery')
  const changed = await person.client.auth.updateUser({ password: 'staple-of-another-kind' })
  expect(changed.error).toBeNull()
  expect(await answerOf(ready, made)).toBe('open')
  expect(await answerOf(ready, working.key)).toBe('open')
  expect(await answerOf(ready, `${made}-mistyped`)).toBe(sentences.unknownKey)
  expect(await answerOf(ready, person.token)).toBe('open')
  await fetch(`${ready.authUrl}/auth/v1/settings?apikey=${ready.serviceKey}`)
  await stdout.next('/auth/v1/settings')

  const secrets = { made, configured: working.key, token: person.token, serviceKey: ready.serviceKey }
  const passwords = { first: 'correct-horse-battery', second: 'staple-of-another-kind' }
  const files = readdirSync(path.join(dir, 'kept')).filter(name => name.startsWith('state.db'))
  expect(files).toEqual(expect.arrayContaining(['state.db', 'state.db-wal']))
  const bytes = files.map(name => readFileSync(path.join(dir, 'kept', name), 'latin1')).join('')
  expect(bytes).toContain('ada@example.com')
  for (const [name, secret] of Object.entries({ ...secrets, ...passwords })) {
    expect([name, bytes.includes(secret)]).toEqual([name, false])
  }
  const log = stdout.text.slice(stdout.text.indexOf('\n')) + stderr.text
  for (const [name, secret] of Object.entries({ ...secrets, ...passwords, refresh: person.refreshToken })) {
    expect([name, log.includes(secret)]).toEqual([name, false])
  }
})

/** A key that the signed-in user creates on the dashboard. */
async function madeBy(person: Person, { dashboardUrl }: Pick<Platform, 'dashboardUrl'>) {
  const headers = { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' }
  const request = (path: string, method: string, body?: object) =>
    fetch(`${dashboardUrl}/api/keys${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const { id, key } = (await (await request('', 'POST', { name: 'made' })).json()) as { id: string; key: string }
  return { key, revoke: () => request(`/${id}`, 'DELETE') }
}

test('a dashboard key in constant use is refused on every request after it was revoked', async () => {
  const platform = await platformWith()
  const person = await signUp(platform)
  const [made, other] = [await madeBy(person, platform), await madeBy(person, platform)]
  let over = false
  let asked = 0
  const afterwards: string[] = []
  const caller = async () => {
    while (!over) {
      expect(await answerOf(platform, made.key)).not.toBe(sentences.unknownKey)
      asked++
    }
    afterwards.push(await answerOf(platform, made.key))
  }
  const callers = Array.from({ length: 8 }, caller)
  await vi.waitFor(() => expect(asked).toBeGreaterThan(50), { timeout: 20_000 })
  expect((await made.revoke()).ok).toBe(true)
  over = true
  await Promise.all(callers)
  expect(new Set(afterwards)).toEqual(new Set([sentences.revokedKey]))
  expect(await answerOf(platform, other.key)).toBe('open')
})
