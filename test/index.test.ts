// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what the tests are about

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type PlatformOptions, ProblemsError, StartError, startPlatform } from '../src/index.js'
import { folderWith } from './command.js'
import { eventsOf, hello, platformWith, textOfChunks } from './scene.js'
import { cannotBeRead, isMissing, isUnknown, mustBe, NEEDS_LIVE, range, wholeNumber } from './sentences.js'

const contentOf = async (response: Response) =>
  ((await response.json()) as { choices: [{ message: { content: string } }] }).choices[0].message.content

const wordsAt = (wordsPerSecond: number): PlatformOptions => ({
  rules: [{ reply: { text: 'one two three four five six' }, pace: { tokensPerSecond: wordsPerSecond } }],
})

/** The error of a start that must fail. */
const refusalOf = (options: object | null) =>
  startPlatform(options as object).then(
    async platform => {
      await platform.stop()
      return undefined
    },
    error => error,
  )

test('startPlatform returns URLs, keys and the test API', async () => {
  const platform = await startPlatform()
  onTestFinished(() => platform.stop())
  expect(platform).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    authUrl: platform.url,
    dashboardUrl: `${platform.url}/dashboard`,
    anonKey: expect.stringMatching(/^eyJ/),
    serviceKey: expect.stringMatching(/^eyJ/),
    apiKey: expect.stringMatching(/^sk-local-/),
    mode: expect.any(Promise),
    env: expect.objectContaining({ OPENAI_BASE_URL: `${platform.url}/v1`, SUPABASE_URL: platform.url }),
    clock: expect.objectContaining({ advance: expect.any(Function) }),
    journal: expect.objectContaining({ waitFor: expect.any(Function) }),
    outbox: expect.objectContaining({ waitFor: expect.any(Function) }),
    reply: expect.any(Function),
    failNext: expect.any(Function),
    hold: expect.any(Function),
    expectHoldsReached: expect.any(Function),
    expectNoMisses: expect.any(Function),
    signIn: expect.any(Function),
    signInWith: expect.any(Function),
    idToken: expect.any(Function),
    createKey: expect.any(Function),
    scope: expect.any(Function),
    reset: expect.any(Function),
    idle: expect.any(Function),
    fetch: expect.any(Function),
    handler: expect.any(Function),
    misses: expect.any(Function),
    mcp: { tool: expect.any(Function) },
    resource: expect.any(Function),
    receipt: expect.any(Function),
    expectWithinBudget: expect.any(Function),
    rows: expect.any(Function),
    sql: expect.any(Function),
    violations: expect.any(Function),
    switchMode: expect.any(Function),
    stop: expect.any(Function),
  })
  expect((await fetch(`${platform.url}/health`)).status).toBe(200)
})

test('startPlatform takes the options of the configuration', async () => {
  const { ask, chat, apiKey } = await platformWith({
    version: '2.3.4',
    models: [{ id: 'mine', owned_by: 'me' }],
    apiKeys: [
      { name: 'old', key: 'sk-old', revoked: true },
      { name: 'past', key: 'sk-past', expiresAt: '2020-01-01T00:00:00Z' },
      { name: 'ci', key: 'sk-ci' },
    ],
    access: { health: ['apiKey'] },
    limits: { bodyBytes: 200 },
  })
  expect(apiKey).toBe('sk-ci')
  expect((await ask('/health', { bearer: null })).status).toBe(401)
  expect(await (await ask('/health')).json()).toEqual({ status: 'ok', version: '2.3.4' })
  expect(await (await ask('/v1/models')).json()).toMatchObject({ data: [{ id: 'mine', owned_by: 'me' }] })
  expect((await chat({ ...hello, model: 'mine' })).status).toBe(200)
  expect((await chat({ ...hello, model: 'mine', user: 'x'.repeat(200) })).status).toBe(413)
})

test('apiKey is empty if no API key is configured', async () => {
  expect((await platformWith({ apiKeys: [] })).apiKey).toBe('')
})

test('platforms that run at the same time share nothing', async () => {
  const say = (text: string, key: string): PlatformOptions => ({
    rules: [{ reply: { text } }],
    apiKeys: [{ name: 'its own', key }],
    models: [{ id: `model-of-${key}` }],
    auth: { jwtSecret: `${key}-0123456789-0123456789-0123456789` },
  })
  const [one, other] = await Promise.all([platformWith(say('I am one', 'a')), platformWith(say('I am other', 'b'))])
  expect(one.url).not.toBe(other.url)
  expect(one.anonKey).not.toBe(other.anonKey)
  expect(await contentOf(await one.chat({ ...hello, model: 'model-of-a' }))).toBe('I am one')
  expect(await contentOf(await other.chat({ ...hello, model: 'model-of-b' }))).toBe('I am other')
  expect((await one.ask('/v1/models', { bearer: other.apiKey })).status).toBe(401)
  expect((await one.ask('/api/v1', { bearer: other.anonKey })).status).toBe(401)
  expect((await one.chat({ ...hello, model: 'model-of-b' })).status).toBe(400)
  await one.stop()
  expect((await other.ask('/v1/models')).status).toBe(200)
})

test('the same options give the same keys', async () => {
  const [one, other] = await Promise.all([platformWith(), platformWith()])
  expect([other.anonKey, other.serviceKey, other.apiKey]).toEqual([one.anonKey, one.serviceKey, one.apiKey])
})

test('the folder and the environment are ignored unless a file is named', async () => {
  const dir = folderWith({
    'platform.config.yaml': 'version: 2.2.2\n',
    'fixtures/replies/a.yaml': '- reply: { text: from a file }\n',
    '.env': 'STANDIN_SEED=x',
  })
  const script = `
    const { startPlatform } = await import(${JSON.stringify(dist)})
    const platform = await startPlatform()
    const { version } = await (await fetch(platform.url + '/health')).json()
    console.log(version)
    await platform.stop()`
  expect(runScript(script, dir, { STANDIN_VERSION: '3.3.3' })).toEqual({ status: 0, stdout: '1.0.0\n', stderr: '' })
})

test('a named file is read, with .env beside it; options override it', async () => {
  const dir = folderWith({
    'my.yaml': 'version: 2.2.2\nreplies: a.yaml\npace: { firstTokenMs: 1 }\napiKeys: [{ name: a, key: "${KEY}" }]\n',
    'a.yaml': '- { when: { user: hello }, reply: { text: from the file } }\n',
    '.env': 'KEY=sk-from-env',
  })
  const config = path.join(dir, 'my.yaml')
  const { ask, chat, apiKey } = await platformWith({ config })
  expect(apiKey).toBe('sk-from-env')
  expect(await (await ask('/health')).json()).toMatchObject({ version: '2.2.2' })
  expect(await contentOf(await chat(hello))).toBe('from the file')

  const changed = await platformWith({ config, version: '4.4.4', rules: [{ reply: { text: 'from code' } }] })
  expect(await (await changed.ask('/health')).json()).toMatchObject({ version: '4.4.4' })
  expect(await contentOf(await changed.chat(hello))).toBe('from code')
})

const dist = new URL('../dist/index.js', import.meta.url).href

function runScript(script: string, cwd: string, env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('nothing is written to disk, nothing is printed, and nothing keeps the process alive', () => {
  const dir = folderWith()
  const script = `
    const { startPlatform } = await import(${JSON.stringify(dist)})
    const platform = await startPlatform()
    const response = await fetch(platform.url + '/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + platform.apiKey, 'content-type': 'application/json' },
      body: ${JSON.stringify(JSON.stringify({ ...hello, stream: true }))},
    })
    await response.text()
    await fetch(platform.dashboardUrl).then(response => response.text())
    await platform.stop()
    if (response.status !== 200) throw new Error('The platform did not answer.')`
  expect(runScript(script, dir)).toEqual({ status: 0, stdout: '', stderr: '' })
  expect(readdirSync(dir)).toEqual([])
})

test('after stop no request is answered, and stopping twice does nothing', async () => {
  const version = '9.87.6'
  const platform = await startPlatform({ version })
  /** Another platform on this machine may get the port after the stop, but has another version. */
  const answer = () =>
    fetch(`${platform.url}/health`).then(
      response => response.text(),
      ({ message }) => message,
    )
  expect(await answer()).toContain(version)
  await Promise.all([platform.stop(), platform.stop()])
  await platform.stop()
  expect(await answer()).not.toContain(version)
})

test('stop cuts an open stream', async () => {
  const { chat, stop } = await platformWith(wordsAt(1))
  const response = await chat({ ...hello, stream: true })
  const text = expect(response.text()).rejects.toThrow()
  await stop()
  await text
})

test('stop with a grace period lets an open stream finish', async () => {
  const { chat, stop } = await platformWith(wordsAt(50))
  const response = await chat({ ...hello, stream: true })
  const [text] = await Promise.all([response.text(), stop({ graceMs: 5000 })])
  expect(eventsOf(text).done).toBe(true)
  expect(textOfChunks(eventsOf(text).chunks)).toBe('one two three four five six')
})

test('a port can be reused after stop', async () => {
  const first = await startPlatform()
  await first.stop()
  const { port } = new URL(first.url)
  const { url } = await platformWith({ port: Number(port) })
  expect(url).toBe(first.url)
})

test('a port in use causes a StartError that says what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise(resolve => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  expect(await refusalOf({ port })).toEqual(
    new StartError(
      `Port ${port} is already in use. Stop the process that uses it, or start with --port 0 for any free port.`,
    ),
  )
})

test.each([
  [{ prot: 1 }, `startPlatform: prot ${isUnknown('port')}`],
  [{ acces: {} }, `startPlatform: acces ${isUnknown('access')}`],
  [{ auth: { hook: {} } }, `startPlatform: auth.hook ${isUnknown('hooks')}`],
  [{ port: {} }, mustBe('startPlatform: port', wholeNumber(0, 65535), {})],
  [null, mustBe('startPlatform: the argument', 'an object', null)],
  [{ port: 'x' }, mustBe('startPlatform: port', wholeNumber(0, 65535), 'x')],
  [{ pace: { firstTokenMs: -1 } }, mustBe('startPlatform: pace.firstTokenMs', range('milliseconds', 0, 600000), -1)],
  [{ models: [{}] }, isMissing('startPlatform: models[0].id', 'a string')],
  [{ mode: 'proxy' }, `startPlatform: The mode proxy ${NEEDS_LIVE}`],
  [{ rules: [{ when: { usr: 'x' }, reply: { text: 'y' } }] }, `rules: [0].when.usr ${isUnknown('user')}`],
  [{ config: 'missing.yaml' }, `missing.yaml: ${cannotBeRead()}`],
  [{ replies: 'missing.yaml' }, `missing.yaml: ${cannotBeRead()}`],
])('%j causes a ProblemsError', async (options, message) => {
  const error = await refusalOf(options)
  expect(error).toBeInstanceOf(ProblemsError)
  expect(error.message).toBe(message)
})

test('a replies pattern that matches no file causes a ProblemsError', async () => {
  const error = await refusalOf({ replies: 'no-such-folder/*.yaml' })
  expect(error).toBeInstanceOf(ProblemsError)
  expect(error.message).toContain('No file matches "no-such-folder/*.yaml"')
})

test('a failed start leaves its port free', async () => {
  const free = await startPlatform()
  await free.stop()
  const port = Number(new URL(free.url).port)
  expect(await refusalOf({ port, replies: 'missing.yaml' })).toBeInstanceOf(ProblemsError)
  expect((await platformWith({ port })).url).toBe(free.url)
})

test('the package exports startPlatform and its errors', async () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const script = `
    const { startPlatform, ProblemsError, StartError } = await import('standin')
    console.log(typeof startPlatform, ProblemsError.name, StartError.name)`
  expect(runScript(script, root)).toMatchObject({ status: 0, stdout: 'function ProblemsError StartError\n' })
})
