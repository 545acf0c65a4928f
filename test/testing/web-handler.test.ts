import { Hono } from 'hono'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { type PlatformOptions, startPlatform } from '../../src/index.js'
import { hello } from '../scene.js'

async function platformWithoutPort(options: PlatformOptions = {}) {
  const platform = await startPlatform({ listen: false, ...options })
  onTestFinished(() => platform.stop())
  return platform
}

test("an app of Hono's answers below a prefix with the platform, in pieces, errors included", async () => {
  const platform = await platformWithoutPort({ rules: [{ reply: { text: 'one two three four' } }] })
  const app = new Hono().mount('/ai', platform.fetch).get('/', context => context.text('home'))
  const openai = new OpenAI({
    baseURL: 'https://app.example.com/ai/v1',
    apiKey: platform.apiKey,
    maxRetries: 0,
    fetch: async (url, init) => app.request(url as string, init as RequestInit),
  })
  const pieces = []
  const stream = await openai.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'x' }],
    stream: true,
  })
  for await (const { choices } of stream) pieces.push(choices[0]?.delta.content ?? '')
  expect(pieces.join('')).toBe('one two three four')
  expect(pieces.length).toBeGreaterThan(3)
  expect((await platform.journal.last())?.request).toMatchObject({
    path: '/v1/chat/completions',
    body: { stream: true },
  })

  const unknown = await app.request('/ai/nowhere?x=1', { headers: { authorization: `Bearer ${platform.apiKey}` } })
  expect([unknown.status, await unknown.json()]).toEqual([404, { error: 'Not found.', path: '/nowhere' }])
  expect(await (await app.request('/')).text()).toBe('home')
})

test('an answer without a body, a redirect, and the answer to HEAD arrive as they are', async () => {
  const { fetch } = await platformWithoutPort({
    rules: [
      { on: 'DELETE /notes/:id', access: 'anyone', reply: { status: 204 } },
      { on: 'GET /away', access: 'anyone', reply: { status: 302, headers: { location: '/notes' }, text: 'Moved' } },
    ],
  })
  const gone = await fetch(new Request('http://app.test/notes/1', { method: 'DELETE' }))
  expect([gone.status, gone.body]).toEqual([204, null])
  const away = await fetch(new Request('http://app.test/away'))
  expect([away.status, away.headers.get('location'), await away.text()]).toEqual([302, '/notes', 'Moved'])
  const health = await fetch(new Request('http://app.test/health', { method: 'HEAD' }))
  expect([health.status, await health.text()]).toEqual([200, ''])
})

test('a client that leaves ends its request, whether it drops the body or aborts', async () => {
  const platform = await platformWithoutPort({
    rules: [{ reply: { text: 'one two three four five six seven eight' }, pace: { tokensPerSecond: 2 } }],
  })
  const leave = new AbortController()
  const ask = () =>
    platform.fetch(
      new Request('https://app.test/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...hello, stream: true }),
        signal: leave.signal,
      }),
    )
  const [dropped, aborted] = [await ask(), await ask()]
  await dropped.body?.cancel()
  leave.abort()
  await expect(aborted.text()).rejects.toThrow()
  await platform.journal.waitFor({ path: '/v1/chat/completions' }, { count: 2 })
  expect((await platform.journal.find({})).map(({ complete }) => complete)).toEqual([false, false])
})

test('the control API is refused, since nobody knows who asks', async () => {
  const { fetch } = await platformWithoutPort()
  const answer = await fetch(new Request('http://localhost/__standin/holds'))
  expect(answer.status).toBe(403)
  expect(await answer.json()).toMatchObject({ error: expect.stringContaining('loopback addresses only') })
})

test('after the platform has stopped, requests get a 503', async () => {
  const platform = await startPlatform({ listen: false })
  expect((await platform.fetch(new Request('http://localhost/health'))).status).toBe(200)
  await platform.stop()
  expect((await platform.fetch(new Request('http://localhost/health'))).status).toBe(503)
})
