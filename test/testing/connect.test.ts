import OpenAI from 'openai'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect, type SharedPlatform } from '../../src/index.js'
import { assertReceived } from '../../src/test-runner.js'
import '../../src/vitest.js'
import { control } from '../http/controlled.js'
import { hello, platformWith } from '../scene.js'

/** A platform as a test sees it that runs elsewhere. */
async function connected(options = {}) {
  const scene = await platformWith(options)
  return { scene, platform: await connect(`${scene.url}/`) }
}

const client = ({ url, apiKey }: SharedPlatform, headers = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0, defaultHeaders: headers })

async function says(openai: OpenAI, content = 'hello') {
  const { choices } = await openai.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content }],
  })
  return choices[0]?.message.content
}

test('addresses and keys are those of the platform', async () => {
  const { scene, platform } = await connected()
  const { url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, env } = platform
  expect({ url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, env }).toEqual({
    ...{ url: scene.url, authUrl: scene.authUrl, dashboardUrl: scene.dashboardUrl },
    ...{ anonKey: scene.anonKey, serviceKey: scene.serviceKey, apiKey: scene.apiKey, env: scene.env },
  })
})

test('replies are given, counted and taken back', async () => {
  const { platform } = await connected()
  const given = await platform.reply({ when: { user: /^HEL/i }, reply: { text: 'Hi!' } })
  expect(await says(client(platform))).toBe('Hi!')
  expect(await given.count).toBe(1)
  await given.remove()
  expect(await says(client(platform))).not.toBe('Hi!')
})

test('the next request fails, and the one after that does not', async () => {
  const { platform } = await connected()
  await platform.failNext({ status: 429 }, { when: { user: /hello/ } })
  expect(await says(client(platform), 'bye')).toEqual(expect.any(String))
  await expect(says(client(platform))).rejects.toMatchObject({ status: 429 })
  expect(await says(client(platform))).toEqual(expect.any(String))
})

test('only what is new is fetched from the journal, and all of it again after a reset', async () => {
  const { scene, platform } = await connected()
  const asked: { after: string }[] = []
  const send = globalThis.fetch
  vi.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
    if (String(url).endsWith('/journal/find')) asked.push(JSON.parse(String(init?.body)))
    return send(url, init)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  for (const content of ['one', 'two', 'three']) await says(client(platform), content)
  expect(await platform.journal.count({ status: '2xx' })).toBe(3)
  await says(client(platform), 'four')
  expect(await platform.journal.count({ status: '2xx' })).toBe(4)
  // The last one but one is where it goes on: the last one has to be there still.
  expect(asked.map(({ after }) => after)).toEqual(['0', '0', '2', '2'])
  await scene.reset()
  await says(client(platform), 'five')
  expect(await platform.journal.find({ status: '2xx' })).toMatchObject([
    { request: { body: { messages: [{ content: 'five' }] } } },
  ])
})

test('the journal is searched, waited for and matched as in one process', async () => {
  const { scene, platform } = await connected()
  const long = 'a'.repeat(100_000)
  await says(client(platform), long)
  expect(await platform.journal.count()).toBe(1)
  const query = { path: '/v1/*', status: '2xx', body: { messages: [{ content: long }] } } as const
  expect(await platform.journal.last(query)).toMatchObject({ request: { truncated: false }, status: 200 })
  await expect(platform).toHaveReceived(query)
  await expect(platform).toHaveReceived({ model: /mini/, body: { messages: [{ content: expect.any(String) }] } })
  await expect(platform).toHaveReceivedTimes(1)
  await expect(platform).not.toHaveReceived({ path: '/health' })
  await assertReceived(platform, '/v1/chat/completions', { times: 1 })
  const later = platform.journal.waitFor({ path: '/health' })
  await scene.ask('/health')
  expect(await later).toMatchObject({ request: { path: '/health' } })
  await expect(platform).toHaveReceivedLast({ path: '/health' })
})

test('a matcher that fails shows the nearest of what came', async () => {
  const { platform } = await connected()
  await says(client(platform))
  const failing = expect(platform).toHaveReceived({ path: '/v1/chat/completions', body: { model: 'gpt-4' } })
  await expect(failing).rejects.toThrow(/nearest is POST \/v1\/chat\/completions, 200:[\s\S]*gpt-4o-mini/)
  await expect(platform.journal.waitFor('/nothing', { timeoutMs: 60 })).rejects.toThrow(
    /No exchange came within 60 ms that fits \{ path: '\/nothing' \}[\s\S]*What came/,
  )
})

test('scopes keep tests apart, by header and by key', async () => {
  const { platform } = await connected()
  const [a, b] = await Promise.all([platform.scope('a'), platform.scope('b')])
  await a.reply('of a')
  await b.reply('of b')
  expect(await platform.scope('a')).toBe(a)
  expect(await says(client({ ...platform, apiKey: a.apiKey }))).toBe('of a')
  expect(await says(client(platform, b.headers))).toBe('of b')
  await expect(a).toHaveReceivedTimes(1)
  await a.reset()
  await expect(a).toHaveReceivedTimes(0)
  await expect(b).toHaveReceivedTimes(1)
})

test('users sign in, keys are made, and the outbox is read', async () => {
  const { scene, platform } = await connected()
  const { accessToken, user } = await platform.signIn({ email: 'ada@example.com' })
  expect(user.email).toBe('ada@example.com')
  expect((await scene.ask('/v1/models', { bearer: accessToken })).status).toBe(200)
  const key = await platform.createKey({ user: 'ada@example.com', expiresInMs: 60_000 })
  expect((await scene.ask('/v1/models', { bearer: key })).status).toBe(200)
  await platform.clock.advance(61_000)
  expect((await scene.ask('/v1/models', { bearer: key })).status).toBe(401)
  const message = platform.outbox.waitFor({ to: 'ada@example.com', type: 'recovery' })
  await fetch(`${platform.authUrl}/auth/v1/recover`, {
    method: 'POST',
    headers: { apikey: platform.anonKey, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com' }),
  })
  expect(await message).toMatchObject({ to: 'ada@example.com', code: expect.any(String) })
})

test('the clock, the mode, and a reset of all of it', async () => {
  const { scene, platform } = await connected({ recordings: { dir: 'test/nothing-recorded' } })
  await platform.clock.freeze()
  await platform.clock.set(Date.UTC(2030, 0, 1))
  expect(await platform.clock.state()).toMatchObject({ now: '2030-01-01T00:00:00.000Z', frozen: true })
  await platform.reply('Hi!')
  await platform.switchMode('replay')
  expect(await platform.mode).toBe('replay')
  await says(client(platform)).catch(() => {})
  await expect(platform.expectNoMisses()).rejects.toThrow('A request had no prepared answer.')
  expect((await platform.misses()).length).toBe(1)
  const scope = await platform.scope('mine')
  await platform.signIn({ email: 'ada@example.com' })
  await platform.reset()
  await platform.expectNoMisses()
  expect(await platform.journal.count()).toBe(0)
  expect((await scene.ask('/v1/models', { bearer: scope.apiKey })).status).toBe(200)
  expect(JSON.stringify((await control(scene, 'GET /sessions')).body)).not.toContain('ada@example.com')
  expect([await platform.mode, (await platform.clock.state()).frozen]).toEqual(['emulate', false])
  expect(await says(client(platform))).not.toBe('Hi!')
})

test('one type describes both ways: what is written for it runs with either', async () => {
  const { scene, platform } = await connected()
  async function scenario(either: SharedPlatform) {
    await either.reset()
    await either.reply('Sunny.')
    await either.clock.advance(1000)
    await says(client(either))
    return [await either.mode, await either.journal.count({ path: '/v1/*' }), (await either.misses()).length]
  }
  expect(await scenario(scene)).toEqual(await scenario(platform))
})

test('what cannot be is refused in the words of the platform', async () => {
  const { platform } = await connected({ controlToken: 'token-of-this-test' })
  await expect(platform.reply({ when: { usr: 'hello' }, reply: 'Hi!' } as never)).rejects.toThrow(/usr/)
  await expect(platform.failNext({ status: 200 } as never)).rejects.toThrow('an HTTP status from 400 to 599')
  await expect(platform.switchMode('proxy')).rejects.toThrow(/409/)
  await expect(connect('http://127.0.0.1:1')).rejects.toThrow('No Standin answers at http://127.0.0.1:1.')
})

test('where other machines can reach it, the control token opens it', async () => {
  const { url } = await platformWith({ host: '0.0.0.0', controlToken: 'token-of-this-test' })
  const address = url.replace('0.0.0.0', '127.0.0.1')
  await expect(connect(address)).rejects.toThrow(/answers 401/)
  const platform = await connect(address, { controlToken: 'token-of-this-test' })
  expect(await says(client(platform), hello.messages[0]?.content)).toEqual(expect.any(String))
})
