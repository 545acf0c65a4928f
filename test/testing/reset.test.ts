import { createClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import ws from 'ws'
import { liveWith } from '../recordings/live.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { said } from './asking.js'

const signUp = ({ authUrl, anonKey }: Scene, email: string) =>
  createClient(authUrl, anonKey, {
    auth: { persistSession: false },
    realtime: { transport: ws as never },
  }).auth.signInWithOtp({ email })

test('reset removes users, sessions, keys and messages of a test, and keeps those of the configuration', async () => {
  const platform = await platformWith()
  const { accessToken } = await platform.signIn({ email: 'ada@example.com' })
  const key = await platform.createKey({ user: 'ada@example.com' })
  await signUp(platform, 'ada@example.com')
  await platform.outbox.waitFor()
  const opens = async (bearer: string) => (await platform.ask('/v1/models', { bearer })).status
  expect([await opens(accessToken), await opens(key), await opens(platform.apiKey)]).toEqual([200, 200, 200])
  await platform.reset()
  expect([await opens(accessToken), await opens(key), await opens(platform.apiKey)]).toEqual([401, 401, 200])
  expect(await platform.outbox.messages()).toEqual([])
  const { user } = await platform.signIn({ email: 'developer@example.com', password: 'developer' })
  expect(user.email).toBe('developer@example.com')
})

test('a scope key survives a reset unless it was revoked before', async () => {
  const platform = await platformWith()
  const [kept, revoked] = [(await platform.scope('kept')).apiKey, (await platform.scope('revoked')).apiKey]
  const opens = async () =>
    Promise.all([kept, revoked].map(async bearer => (await platform.ask('/v1/models', { bearer })).status))
  expect(await opens()).toEqual([200, 200])
  const keys = await platform.ask('/__standin/keys', { bearer: null })
  const { data } = (await keys.json()) as { data: { id: string; start: string }[] }
  await platform.ask(`/__standin/keys/${data.find(({ start }) => revoked.startsWith(start))?.id}`, {
    method: 'DELETE',
    bearer: null,
  })
  expect(await opens()).toEqual([200, 401])
  for (const _time of ['once', 'again']) {
    await platform.reset()
    expect(await opens()).toEqual([200, 401])
  }
})

test('a stream that a test left open is not in the journal of the next one', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'a b c' }, pace: { tokensPerSecond: 20 } }] })
  const response = await platform.chat({ ...hello, stream: true })
  await platform.reset()
  await response.text()
  await platform.idle()
  expect(await platform.journal.count()).toBe(0)
  await platform.ask('/v1/models')
  expect(await platform.journal.count()).toBe(1)
})

test('a request during a reset gets the answer from after the reset', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'at the start' } }] })
  await platform.reply('before')
  const resetting = platform.reset()
  expect(await said(platform, 'a')).toBe('at the start')
  await resetting
  expect(await platform.journal.count()).toBe(1)
})

test('idle waits for open streams and for requests that are not awaited', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'a b c' }, pace: { tokensPerSecond: 50 } }] })
  void platform.chat({ ...hello, stream: true }).then(response => response.text())
  await platform.journal.waitFor('/v1/*').then(() => platform.idle())
  expect((await platform.journal.last())?.complete).toBe(true)
})

const post = (body: string, more: RequestInit = {}): RequestInit => ({ method: 'POST', body, ...more })

test('every request is journaled once, however it ends, and leaves nothing under way', async () => {
  const live = await liveWith((request, response) => {
    if (request.url === '/v1/models') return response.destroy()
    if (request.url === '/api/v1') return
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n')
    if (request.url === '/health') return void response.end()
    setTimeout(() => response.destroy(), 5)
  })
  const platform = await platformWith({ limits: { bodyBytes: 100 }, upstream: { baseUrl: live.url, apiKey: 'sk-1' } })
  const asked = async () => {
    const origin = { origin: 'http://app.example', 'access-control-request-method': 'POST' }
    const requests: readonly (readonly [string, RequestInit?])[] = [
      ['/health', { method: 'HEAD' }],
      ['/health'],
      ['/nowhere'],
      ['/v1/models', { method: 'DELETE' }],
      ['/v1/models', { method: 'OPTIONS', headers: origin }],
      ['/v1/models', { headers: { authorization: 'Bearer nobody' } }],
      ['/v1/models'],
      ['/v1/chat/completions', post('{')],
      ['/v1/chat/completions', post('x'.repeat(200))],
      ['/v1/chat/completions', post(JSON.stringify(hello))],
      ['/api/v1', { signal: AbortSignal.timeout(1000) }],
      ['/auth/v1/token', post('{}')],
      ['/auth/v1/nowhere'],
    ]
    const headers = { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' }
    const ask = async ([path, init]: (typeof requests)[number]) => {
      const own = path === '/api/v1' ? { authorization: `Bearer ${platform.anonKey}` } : {}
      const response = await fetch(platform.url + path, { ...init, headers: { ...headers, ...own, ...init?.headers } })
      await response.text()
    }
    await Promise.allSettled(requests.map(ask))
    return requests.length
  }
  const count = await asked()
  await platform.idle()
  expect(await platform.journal.count()).toBe(count)
  await platform.switchMode('proxy')
  await asked()
  await platform.idle()
  expect(await platform.journal.count()).toBe(2 * count)
})
