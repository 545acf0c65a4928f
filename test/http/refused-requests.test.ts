/** What the journal keeps of requests that are refused: who tried what, with which body, at which endpoint. */
import { AuthClient } from '@supabase/supabase-js'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { hello, platformWith, type Scene } from '../scene.js'
import { answerTo, onTheWire, wireTo } from '../wire.js'

const CHAT = 'POST /v1/chat/completions'

const authClient = ({ authUrl }: Scene, key: string) =>
  new AuthClient({
    url: `${authUrl}/auth/v1`,
    headers: { apikey: key, Authorization: `Bearer ${key}` },
    persistSession: false,
    autoRefreshToken: false,
  })

const lastCallerOf = async (platform: Scene) => (await platform.journal.last())?.caller

test('a request with a revoked key is journaled with the name of the key, the body and the endpoint', async () => {
  const platform = await platformWith()
  const { accessToken } = await platform.signIn({ email: 'ada@example.com' })
  const keys = (init: RequestInit & { path?: string }) =>
    platform.ask(`/dashboard/api/keys${init.path ?? ''}`, {
      ...init,
      bearer: accessToken,
      headers: { 'content-type': 'application/json' },
    })
  const made = await keys({ method: 'POST', body: JSON.stringify({ name: 'my laptop' }) })
  const { id, key, start } = (await made.json()) as { id: string; key: string; start: string }
  await keys({ method: 'DELETE', path: `/${id}` })

  const client = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: key, maxRetries: 0 })
  await expect(client.chat.completions.create({ ...hello, messages: [] })).rejects.toMatchObject({ status: 401 })

  const [entry] = await platform.journal.find({ status: 401 })
  expect(entry).toMatchObject({
    caller: { kind: 'refused', tried: { kind: 'apiKey', reason: 'revoked', name: 'my laptop', start } },
    endpoint: CHAT,
    request: { body: { model: hello.model, messages: [] }, truncated: false },
  })
  expect(entry?.request.bytes).toBe(JSON.stringify({ ...hello, messages: [] }).length)
  expect(JSON.stringify(entry)).not.toContain(key.slice(start.length))

  expect(await platform.journal.count({ caller: 'refused', credential: 'my laptop' })).toBe(1)
  expect(await platform.journal.count({ credential: /^revoked key/ })).toBe(1)
  expect(await platform.journal.count({ credential: 'unknown key' })).toBe(0)
  const found = await platform.ask('/__standin/journal?credential=MY+LAPTOP&caller=refused')
  expect(await found.json()).toMatchObject({ data: [{ caller: { tried: { name: 'my laptop' } } }] })
})

test.each<[what: string, bearer: (platform: Scene) => string | null | Promise<string | null>, caller: unknown]>([
  ['no credential', () => null, { kind: 'anonymous' }],
  ['an unknown key', () => 'sk-unknown-key-of-mine', refusedKey('unknown', 'sk-unkn')],
  ['a mistyped key', () => `sk-local-${'x'.repeat(38)}`, refusedKey('mistyped', 'sk-local-xxxx')],
  ['an expired key', p => p.createKey({ name: 'old', expiresInMs: -1000 }), refusedKey('expired', undefined, 'old')],
  [
    'a token signed elsewhere',
    async p => `${(await p.signIn()).accessToken.slice(0, -8)}AAAAAAAA`,
    refusedToken('signature'),
  ],
  ['the anon key in place of an API key', p => p.anonKey, { kind: 'anon' }],
])('the journal shows who was refused: %s', async (_what, bearerOf, caller) => {
  const platform = await platformWith()
  const bearer = await bearerOf(platform)
  expect((await platform.chat(hello, { bearer })).status).toBe(401)
  expect(await platform.journal.last()).toMatchObject({ caller, endpoint: CHAT, request: { body: hello } })
})

function refusedKey(reason: string, start?: string, name?: string) {
  return { kind: 'refused', tried: { kind: 'apiKey', reason, ...(start && { start }), ...(name && { name }) } }
}

function refusedToken(reason: string, email?: string) {
  return { kind: 'refused', tried: { kind: 'token', reason, ...(email && { email }) } }
}

test('requests that the auth backend refuses are journaled as well, without the password', async () => {
  const platform = await platformWith()
  const wrong = authClient(platform, 'a-key-of-another-project')
  const { error } = await wrong.signInWithPassword({ email: 'ada@example.com', password: 'of ada alone' })
  expect(error?.status).toBe(401)
  const [entry] = await platform.journal.find({ caller: 'refused' })
  expect(entry).toMatchObject({
    caller: { tried: { kind: 'apiKey', reason: 'unknown', start: 'a-key-of' } },
    endpoint: 'POST /auth/v1/token',
    request: { body: { email: 'ada@example.com' } },
  })
  expect(JSON.stringify(entry)).not.toContain('of ada alone')

  const right = authClient(platform, platform.anonKey)
  await right.getUser('a.b.c')
  expect(await lastCallerOf(platform)).toMatchObject(refusedToken('unreadable'))
  await right.admin.listUsers()
  expect(await lastCallerOf(platform)).toMatchObject(refusedToken('role'))
})

test('only the beginning of a huge body without a credential is kept, and the connection still works', async () => {
  const platform = await platformWith()
  const wire = await wireTo(platform.url)
  const size = 5_000_000
  await wire.say(onTheWire(CHAT, [`Content-Length: ${size}`, 'Content-Type: application/json']))
  const body = wire.say('x'.repeat(size))
  expect((await wire.answer()).status).toBe(401)
  await body
  await wire.say(onTheWire('GET /health'))
  expect((await wire.answer()).status).toBe(200)
  const [entry] = await platform.journal.find({ status: 401 })
  expect(entry?.request).toMatchObject({ bytes: size, truncated: true, body: 'x'.repeat(65_536) })
})

test('a body that never arrives holds up neither the answer nor the journal for long', async () => {
  const platform = await platformWith()
  const answer = await answerTo(
    platform.url,
    onTheWire(CHAT, ['Content-Length: 1000', 'Content-Type: application/json']),
  )
  expect(answer.status).toBe(401)
  expect(await platform.journal.last()).toMatchObject({ status: 401, request: { bytes: 1000, truncated: true } })
})
