import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { connect, type SharedPlatform, startPlatform } from '../../src/index.js'
import { assertReceived } from '../../src/test-runner.js'
import '../../src/vitest.js'
import { control } from '../http/controlled.js'
import { liveWith } from '../recordings/live.js'
import { hello, platformWith } from '../scene.js'
import { AN_OBJECT, isUnknown, mustBe } from '../sentences.js'

/** A platform, and a connection to it as from another process. */
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

test('a connection has the URLs and keys of the platform', async () => {
  const { scene, platform } = await connected()
  const { url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, env } = platform
  expect({ url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, env }).toEqual({
    ...{ url: scene.url, authUrl: scene.authUrl, dashboardUrl: scene.dashboardUrl },
    ...{ anonKey: scene.anonKey, serviceKey: scene.serviceKey, apiKey: scene.apiKey, env: scene.env },
  })
})

test('replies are added, counted and removed', async () => {
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

test('journal queries, waitFor and matchers work as in one process', async () => {
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

test('a failing matcher shows the nearest request', async () => {
  const { platform } = await connected()
  await says(client(platform))
  const failing = expect(platform).toHaveReceived({ path: '/v1/chat/completions', body: { model: 'gpt-4' } })
  await expect(failing).rejects.toThrow(/nearest is POST \/v1\/chat\/completions, 200:[\s\S]*gpt-4o-mini/)
  await expect(platform.journal.waitFor('/nothing', { timeoutMs: 60 })).rejects.toThrow(
    /No exchange matching \{ path: '\/nothing' \} arrived within 60 ms[\s\S]*Received/,
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

test('every connection gets the same key of a scope, until it is revoked', async () => {
  const { scene, platform } = await connected()
  const scope = await platform.scope('mine')
  const again = async () => (await connect(scene.url)).scope('mine')
  const keyOfAgain = async () => (await again()).apiKey
  expect(new Set(await Promise.all([keyOfAgain(), keyOfAgain(), keyOfAgain()]))).toEqual(new Set([scope.apiKey]))
  expect(await (await again()).createKey()).not.toBe(scope.apiKey)
  await platform.reset()
  expect(await keyOfAgain()).toBe(scope.apiKey)
  const { data } = (await control(scene, 'GET /keys')).body as { data: { id: string; start: string }[] }
  await control(scene, `DELETE /keys/${data.find(({ start }) => scope.apiKey.startsWith(start))?.id}`)
  const renewed = await again()
  expect(renewed.apiKey).not.toBe(scope.apiKey)
  await says(client({ ...platform, apiKey: renewed.apiKey }))
  expect(await renewed.journal.count()).toBe(1)
})

test('signIn, signInWith, createKey and the outbox work over a connection', async () => {
  const { scene, platform } = await connected()
  const { accessToken, user } = await platform.signIn({ email: 'ada@example.com' })
  expect(user.email).toBe('ada@example.com')
  expect((await scene.ask('/v1/models', { bearer: accessToken })).status).toBe(200)
  const withGithub = await platform.signInWith('github', { email: 'ada@example.com' })
  expect(withGithub.user).toMatchObject({ id: user.id, app_metadata: { providers: ['email', 'github'] } })
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

test('reset restores the clock, the mode, replies, misses, sessions and the journal', async () => {
  const { scene, platform } = await connected({ recordings: { dir: 'test/nothing-recorded' } })
  await platform.clock.freeze()
  await platform.clock.set(Date.UTC(2030, 0, 1))
  expect(await platform.clock.state()).toMatchObject({ now: '2030-01-01T00:00:00.000Z', frozen: true })
  await platform.switchMode('replay')
  expect(await platform.mode).toBe('replay')
  await says(client(platform)).catch(() => {})
  await expect(platform.expectNoMisses()).rejects.toThrow('A request had no prepared answer.')
  expect((await platform.misses()).length).toBe(1)
  await platform.reply('Hi!')
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

test('code written for SharedPlatform runs in process and over a connection', async () => {
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

/** Only the process that started a platform can stop it or mount it. */
const onlyInProcess = ['handler', 'fetch', 'idle', 'stop', 'expectWithinBudget']

test('a connection has everything that a platform in this process has', async () => {
  const local = await startPlatform({ resources: { '/things': { data: [] } } })
  onTestFinished(() => local.stop())
  const remote = await connect(local.url)
  const [here, there] = [await local.scope('a'), await remote.scope('a')]
  const pairs = [
    ...([
      [local, remote],
      [here, there],
    ] as const),
    ...(['journal', 'mcp'] as const).flatMap(
      name =>
        [
          [local[name], remote[name]],
          [here[name], there[name]],
        ] as const,
    ),
    ...(['clock', 'outbox', 'env'] as const).map(name => [local[name], remote[name]] as const),
    [local.mcp.tool('look'), remote.mcp.tool('look')],
    [local.resource('/things'), remote.resource('/things')],
    [await local.reply('Hi!'), await remote.reply('Hi!')],
  ] as const
  for (const [ours, theirs] of pairs) {
    const expected = Object.keys(ours).filter(name => !onlyInProcess.includes(name))
    expect(Object.keys(theirs)).toEqual(expect.arrayContaining(expected))
  }
})

test("invalid calls are refused with the platform's error messages", async () => {
  const { platform } = await connected({ controlToken: 'token-of-this-test' })
  await expect(platform.reply({ when: { usr: 'hello' }, reply: 'Hi!' } as never)).rejects.toThrow(/usr/)
  await expect(platform.failNext({ status: 200 } as never)).rejects.toThrow('an HTTP status from 400 to 599')
  await expect(platform.switchMode('proxy')).rejects.toThrow(/409/)
  await expect(platform.reset(null as never)).rejects.toThrow(mustBe('reset: the argument', AN_OBJECT, null))
  await expect(platform.signIn(null as never)).rejects.toThrow(mustBe('signIn: the argument', AN_OBJECT, null))
  const when = { user: () => true } as never
  await expect(platform.reply('Hi!', { when })).rejects.toThrow('the rule: when.user is a function')
  await expect(platform.failNext({ status: 500 }, { when })).rejects.toThrow('failNext: when.user is a function')
  await expect(platform.clock.advance(undefined as never)).rejects.toThrow('It cannot be moved by undefined.')
  await expect(connect(platform.url, { token: 'x' } as never)).rejects.toThrow(`connect: token ${isUnknown()}`)
  await expect(connect(undefined as never)).rejects.toThrow('It must be the address of a running Standin')
})

test.each([
  ['a page', 200, 'text/html', '<!doctype html>'],
  ['an error', 404, 'application/json', '{"error":{"message":"Not found"}}'],
])('connect refuses a server that answers with %s', async (_name, status, type, body) => {
  const { url } = await liveWith((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body)
  })
  await expect(connect(url)).rejects.toThrow(`No Standin answers at ${url}.`)
  await expect(connect('http://127.0.0.1:1')).rejects.toThrow('No Standin answers at http://127.0.0.1:1.')
})

test('a platform that other machines can reach needs the control token', async () => {
  const { url } = await platformWith({ host: '0.0.0.0', controlToken: 'token-of-this-test' })
  const address = url.replace('0.0.0.0', '127.0.0.1')
  await expect(connect(address)).rejects.toThrow(/answers 401/)
  const platform = await connect(address, { controlToken: 'token-of-this-test' })
  expect(await says(client(platform), hello.messages[0]?.content)).toEqual(expect.any(String))
})
