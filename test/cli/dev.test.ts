import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { developmentApiKey } from '../../src/core/secrets.js'
import { askChat, runInProcess, start, startReady, writeInto } from '../command.js'
import { freePort } from '../free-port.js'
import { hello } from '../scene.js'
import { isUnknown, KEY_UNKNOWN, mustBe, NEEDS_LIVE, ONLY_RULE, wholeNumber } from '../sentences.js'
import { hasTerminals, startOnTerminal } from '../terminal.js'

const rules = '- { name: greeting, when: { user: hello }, reply: { text: Hi! } }\n'
const files = { 'fixtures/replies/a.yaml': rules }

const escapeCode = '\u001b'

/** The value next to a name in the banner. */
const fact = (line: string) => line.trim().split(/ {2,}/)[1] ?? ''

/** Retries until the port is open. */
async function askUntilOpen(url: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) }).catch(() => undefined)
    if (answer) return answer
    await new Promise(resolve => setImmediate(resolve))
  }
}

test('requests and misses during the start are logged after the ready event', async () => {
  const port = await freePort()
  const { stdout } = start(['replay', '--port', String(port), '--state', 'memory', '--json'])
  const url = `http://127.0.0.1:${port}`
  const headers = { authorization: `Bearer ${developmentApiKey}` }
  expect((await askUntilOpen(`${url}/v1/models`)).status).toBe(401)
  expect((await fetch(`${url}/v1/models`, { headers })).status).toBe(424)
  await stdout.next('"status":424')
  const [first, ...others] = stdout.text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(first).toMatchObject({ event: 'ready', url })
  // A miss is also an event of its own.
  expect(others.map(({ event, status }) => `${event} ${status}`).sort()).toEqual([
    'miss undefined',
    'request 401',
    'request 424',
  ])
})

test('the banner shows all addresses and keys, and what to copy into .env', async () => {
  const { stdout, stderr, dir } = start(['--port', '0'])
  await stdout.next('Standin')
  const baseUrl = fact(await stdout.next('Base URL'))
  expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(fact(await stdout.next('Dashboard'))).toBe(`${baseUrl}/dashboard`)
  expect(fact(await stdout.next('API key'))).toBe(developmentApiKey)
  const anonKey = fact(await stdout.next('Anon key'))
  expect(fact(await stdout.next('Config'))).toBe('none, all defaults')
  await stdout.next('To copy into .env:')
  await stdout.next('SUPABASE_SECRET_KEY=')

  const block = stdout.text.split('\n').filter(line => /^\w+=/.test(line))
  writeInto(dir, { copied: block.join('\n') })
  const variables = Object.fromEntries(block.map(line => line.split(/=(.*)/s).slice(0, 2)))
  expect(variables).toEqual({
    PLATFORM_BASE_URL: baseUrl,
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    OPENAI_API_KEY: developmentApiKey,
    SUPABASE_URL: baseUrl,
    SUPABASE_ANON_KEY: anonKey,
    SUPABASE_SERVICE_ROLE_KEY: expect.stringMatching(/^eyJ/),
    SUPABASE_PUBLISHABLE_KEY: expect.stringMatching(/^sb_publishable_/),
    SUPABASE_SECRET_KEY: expect.stringMatching(/^sb_secret_/),
  })
  const index = (key: string | undefined) => fetch(`${baseUrl}/api/v1`, { headers: { authorization: `Bearer ${key}` } })
  expect((await index(variables.SUPABASE_ANON_KEY)).status).toBe(200)
  expect((await index(variables.SUPABASE_SERVICE_ROLE_KEY)).status).toBe(200)
  expect((await askChat({ url: baseUrl, apiKey: variables.OPENAI_API_KEY ?? '' }, hello)).status).toBe(200)
  expect(stderr.text).toBe('')
})

test('the banner names the configuration file and the mode', async () => {
  const yaml = 'mode: proxy\nupstream: { baseUrl: "https://live.test" }\n'
  const { stdout } = start(['--port', '0', '--config', 'sub/my.yaml'], { files: { 'sub/my.yaml': yaml } })
  expect(await stdout.next('Standin')).toMatch(/^ {2}Standin \d+\.\d+\.\d+ · mode proxy$/)
  expect(fact(await stdout.next('Config'))).toBe('sub/my.yaml')
  expect(fact(await stdout.next('Upstream'))).toBe('https://live.test')
})

test('each request is a line with method, path, status, time, caller and source, uncoloured without a terminal', async () => {
  const { stdout } = start(['--port', '0'], { files, env: { FORCE_COLOR: '1' } })
  const url = fact(await stdout.next('Base URL'))
  const apiKey = fact(await stdout.next('API key'))
  const line = (rest: string) => expect.stringMatching(new RegExp(`^\\d\\d:\\d\\d:\\d\\d ${rest}$`))
  const time = ' +[\\d.]+ms'

  await (await askChat({ url, apiKey }, hello)).text()
  expect(await stdout.next('POST')).toEqual(
    line(`POST /v1/chat/completions 200${time}  key development  emulate · rule "greeting"`),
  )
  await askChat({ url, apiKey }, { ...hello, messages: [{ role: 'user', content: 'bye' }] })
  expect(await stdout.next('POST')).toEqual(
    line(
      `POST /v1/chat/completions 200${time}  key development  emulate · canned reply\\. ${ONLY_RULE} rule "greeting" .*`,
    ),
  )
  await askChat({ url, apiKey: 'sk-wrong' }, hello)
  expect(await stdout.next('POST')).toEqual(
    line(`POST /v1/chat/completions 401${time}  unknown key \\(sk…\\)  refused · The API key is not known\\.`),
  )
  expect(await stdout.next('→')).toMatch(/^ {9}→ Send the OPENAI_API_KEY printed at startup/)
  await fetch(`${url}/health?key=sk-in-the-query`)
  expect(await stdout.next('GET')).toEqual(line(`GET {2}/health\\?key=\\[key\\] +200${time}  emulate`))
  await fetch(`${url}/nowhere`)
  expect(await stdout.next('GET')).toEqual(line(`GET {2}/nowhere +404${time}  refused · Not found\\.`))
  expect(stdout.text).not.toMatch(/sk-wrong|sk-in-the-query/)
  expect(stdout.text).not.toContain(escapeCode)
})

test('with --json the first line has the addresses and keys, and each request is an event without secrets', async () => {
  const { ready, stdout, event, chat } = await startReady({ files })
  expect(JSON.parse(stdout.text.split('\n')[0] ?? '')).toEqual({
    event: 'ready',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    authUrl: ready.url,
    dashboardUrl: `${ready.url}/dashboard`,
    anonKey: expect.stringMatching(/^eyJ/),
    serviceKey: expect.stringMatching(/^eyJ/),
    publishableKey: expect.stringMatching(/^sb_publishable_/),
    secretKey: expect.stringMatching(/^sb_secret_/),
    apiKey: developmentApiKey,
    mode: 'emulate',
    pid: expect.any(Number),
  })
  expect(Object.keys(JSON.parse(stdout.text.split('\n')[0] ?? ''))[0]).toBe('event')
  expect(() => process.kill(ready.pid, 0)).not.toThrow()

  await (await chat(hello)).text()
  const times = { durationMs: expect.any(Number), firstByteMs: expect.any(Number) }
  const common = { event: 'request', method: 'POST', path: '/v1/chat/completions', ...times }
  const caller = { kind: 'apiKey', name: 'development', id: expect.any(String) }
  expect(await event('request')).toEqual({
    ...{ ...common, status: 200, caller, mode: 'emulate', source: 'rule "greeting"', complete: true },
  })

  const apiKey = 'sk-wrong'
  await askChat({ url: ready.url, apiKey }, hello)
  expect(await event('request')).toEqual({
    ...common,
    status: 401,
    advice: expect.stringContaining('OPENAI_API_KEY'),
    caller: { kind: 'refused', tried: { kind: 'apiKey', reason: 'unknown', start: 'sk' } },
    error: KEY_UNKNOWN,
    complete: true,
  })

  await fetch(`${ready.url}/api/v1?apikey=${apiKey}`, { headers: { authorization: `Bearer ${ready.anonKey}` } })
  expect(await event('request')).toMatchObject({ path: '/api/v1', status: 200, caller: { kind: 'anon' } })
  const [, ...events] = stdout.text.split('\n')
  for (const secret of [apiKey, ready.apiKey, ready.anonKey]) expect(events.join()).not.toContain(secret)
})

test('--quiet prints nothing but problems, and a path that clients know from elsewhere once', async () => {
  // It does not print its address.
  const port = await freePort()
  const quiet = start(['--quiet', '--port', String(port)])
  const url = `http://127.0.0.1:${port}`
  await expect.poll(() => fetch(`${url}/health`).then(({ status }) => status, String), { timeout: 60_000 }).toBe(200)
  // The line of a request would be printed by the end of the next one.
  for (const apiKey of [developmentApiKey, 'sk-wrong']) await (await askChat({ url, apiKey }, hello)).text()
  for (const path of ['responses', 'responses', 'nowhere']) await fetch(`${url}/v1/${path}`, { method: 'POST' })
  quiet.send('SIGTERM')
  expect(await quiet.ended).toMatchObject({
    stdout: '',
    stderr: expect.stringMatching(/^1 request to an unknown path: The platform has no \/v1\/responses, .*\n$/),
  })
})

test('a port in use is reported in one sentence that says what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise(resolve => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  expect(await runInProcess(['--port', String(port)])).toEqual({
    code: 1,
    signal: null,
    stdout: '',
    stderr: `Port ${port} is already in use. Stop the process that uses it, or start with --port 0 for any free port.\n`,
  })
})

test('a host that is not an address of this machine is reported in one sentence that says what to do', async () => {
  // 192.0.2.0/24 is set aside for documentation (RFC 5737): no machine has it.
  expect(await runInProcess(['--port', '0', '--host', '192.0.2.1'])).toEqual({
    code: 1,
    signal: null,
    stdout: '',
    stderr: '192.0.2.1 is not an address of this machine. Start with --host 127.0.0.1.\n',
  })
})

test.each([
  [
    'platform.config.yaml',
    'prot: 1\nseed: x\n',
    [
      `platform.config.yaml:1:1: prot ${isUnknown('port')}`,
      mustBe('platform.config.yaml:2:1: seed', wholeNumber(0, 2147483647), 'x'),
    ],
  ],
  ['fixtures/replies/a.yaml', '- rply: hello\n', [`fixtures/replies/a.yaml:1:3: [0].rply ${isUnknown('reply')}`]],
  ['platform.config.yaml', 'port: 0\nmode: proxy\n', [`platform.config.yaml:2:1: The mode proxy ${NEEDS_LIVE}`]],
])('a mistake in %s stops the start: %j', async (name, text, complaints) => {
  const { code, stdout, stderr } = await runInProcess(['--port', '0'], { files: { [name]: text } })
  expect(stderr.trimEnd().split('\n')).toEqual(complaints)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

test('a server goes on when the reader of its output has gone', async () => {
  const { ready, closeOutput, send, ended } = await startReady()
  closeOutput()
  // Only a write shows that the reader has gone.
  for (let i = 0; i < 5; i++) expect((await fetch(`${ready.url}/health`)).status).toBe(200)
  send('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
})

test.skipIf(!existsSync('/dev/full'))('output that does not fit on the disk is an error', () => {
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
  const fullDisk = openSync('/dev/full', 'w')
  const stdio = ['ignore', fullDisk, 'pipe'] as const
  const { status, stderr } = spawnSync(process.execPath, [cli, 'config', 'print'], {
    stdio: [...stdio],
    encoding: 'utf8',
  })
  closeSync(fullDisk)
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'Standard output cannot be written (ENOSPC).\n' })
})

test('--verbose shows the bodies below each line', async () => {
  const { stdout } = start(['--port', '0', '--verbose'], { files })
  const url = fact(await stdout.next('Base URL'))
  const apiKey = fact(await stdout.next('API key'))
  await (await askChat({ url, apiKey }, { ...hello, stream: true })).text()
  await stdout.next('POST')
  expect(await stdout.next('  > ')).toMatch(/^ {2}> \d+ B$/)
  expect(await stdout.next('"content": "hello"')).toBeTruthy()
  expect(await stdout.next('  < ')).toMatch(/, \d+ events/)
  expect(await stdout.next('Hi!')).toBe('    Hi!')
})

test('--verbose with --json adds the request and the response to the event', async () => {
  const { event, chat } = await startReady({ flags: ['--verbose'], files })
  await (await chat(hello)).text()
  expect(await event('request')).toMatchObject({
    ...{ id: '1', status: 200, request: { body: hello } },
    response: { body: { choices: [{ message: { content: 'Hi!' } }] } },
  })
})

test.runIf(hasTerminals)('on a terminal each request has a line, with advice below it', async () => {
  const terminal = startOnTerminal(['--port', '0'], { env: { TERM: 'xterm', NO_COLOR: '1' } })
  await terminal.shows('PLATFORM_BASE_URL=http')
  const [, url = ''] = /PLATFORM_BASE_URL=(\S+)/.exec(terminal.screen) ?? []
  await terminal.shows('SUPABASE_SECRET_KEY=')
  await fetch(`${url}/v1/modls`)
  await terminal.shows('→ Did you mean /v1/models?')
  terminal.type('\u0003')
  expect(await terminal.ended).toBe(0)
})
