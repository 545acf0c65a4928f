import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { run, start } from '../command.js'
import { freePort } from '../free-port.js'
import { hello, platformWith } from '../scene.js'
import { flagWhole, NO_CREDENTIAL } from '../sentences.js'

/** Starts `standin tail` for this address, and resolves once it follows. */
async function tailing(url: string, flags: readonly string[] = [], scene: Parameters<typeof start>[1] = {}) {
  const command = start(['tail', '--url', url, ...flags], scene)
  await command.stderr.next('Following')
  return command
}

/** Starts a platform on a known port, so that it can be stopped and started again. */
const platformOn = (port: number, more = {}) =>
  openPlatform({ cwd: '/', file: false, env: {}, flags: flagsOf({ port, state: 'memory', ...more }) })

const flagsOf = (options: object) =>
  Object.entries(options).map(([name, value]) => ({ path: [name], value, origin: 'test' }))

test('tail prints the lines of the request log as they happen, and Ctrl-C ends it with exit code 0', async () => {
  const platform = await platformWith({ rules: [{ name: 'greeting', reply: { text: 'Hi!' } }] })
  const { stdout, stderr, send, ended } = await tailing(platform.url)
  await (await platform.chat(hello)).text()
  expect(await stdout.next('POST')).toMatch(
    /^\d\d:\d\d:\d\d POST \/v1\/chat\/completions 200 +[\d.]+ms {2}key development {2}emulate · rule "greeting"$/,
  )
  await platform.ask('/v1/models', { bearer: null })
  expect(await stdout.next('401')).toContain(`refused · ${NO_CREDENTIAL}`)
  expect(await stdout.next('→')).toContain('OPENAI_API_KEY')
  send('SIGINT')
  expect(await ended).toMatchObject({ code: 0, signal: null })
  expect(stderr.text).toBe(`Following ${platform.url}. Press Ctrl-C to stop.\n`)
})

test('tail --last begins with earlier requests, and --status and --text select among them', async () => {
  const platform = await platformWith()
  await platform.ask('/health')
  await platform.chat({ ...hello, model: 'gpt-4o' })
  await platform.chat(hello)
  await platform.chat({ ...hello, model: 'gpt-4o' }, { bearer: 'sk-wrong' })
  const { stdout } = await tailing(platform.url, ['--json', '--last', '10', '--status', '2xx', '--text', '"gpt-4o"'])
  expect(JSON.parse(await stdout.next('{'))).toMatchObject({ id: '2', status: 200 })
  await platform.chat({ ...hello, model: 'gpt-4o' })
  expect(JSON.parse(await stdout.next('{'))).toMatchObject({ id: '5' })
})

test('tail finds the platform of this folder, or of the environment, by itself', async () => {
  const port = await freePort()
  const platform = await platformOn(port)
  onTestFinished(() => platform.stop())
  const found = start(['tail'], { files: { 'platform.config.yaml': `port: ${port}\n` } })
  expect(await found.stderr.next('Following')).toContain(`http://127.0.0.1:${port}.`)
  const fromEnvironment = start(['tail'], { env: { PLATFORM_BASE_URL: platform.url } })
  expect(await fromEnvironment.stderr.next('Following')).toContain(`http://127.0.0.1:${port}.`)
  await fetch(`${platform.url}/health`)
  expect(await found.stdout.next('/health')).toBeTruthy()
  expect(await fromEnvironment.stdout.next('/health')).toBeTruthy()
})

test('tail reconnects after a restart of the server, and prints each request once', async () => {
  const port = await freePort()
  const before = await platformOn(port)
  const { stdout, stderr } = await tailing(before.url, ['--json'])
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  for (const path of ['/a', '/b', '/c']) await ask(path)
  await stdout.next('/c')
  await before.stop()
  expect(await stderr.next('was lost')).toContain('Reconnecting')
  const after = await platformOn(port)
  onTestFinished(() => after.stop())
  await ask('/d')
  await stdout.next('/d')
  await ask('/e')
  await stdout.next('/e')
  const paths = stdout.text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).request.path)
  expect(paths).toEqual(['/a', '/b', '/c', '/d', '/e'])
  expect(stderr.text).toContain(`${before.url} was restarted.\n`)
})

test('tail asks for the token of a closed control API, and works with it', async () => {
  const platform = await platformOn(0, { host: '0.0.0.0', controlToken: 'a-token-of-our-own-0123456789' })
  onTestFinished(() => platform.stop())
  const { code, stderr } = await run(['tail', '--url', platform.url])
  expect(code).toBe(1)
  expect(stderr).toContain('refuses to show its journal. The control API needs a credential here')
  expect(stderr).toMatch(/Give the token with --control-token\.\n$/)
  const { stdout } = await tailing(platform.url, ['--control-token', 'a-token-of-our-own-0123456789'])
  await fetch(`${platform.url}/health`)
  expect(await stdout.next('/health')).toContain(' 200 ')
  await tailing(platform.url, [], { env: { STANDIN_CONTROL_TOKEN: 'a-token-of-our-own-0123456789' } })
})

test('tail explains what is wrong with the address or a flag', async () => {
  const port = await freePort()
  expect(await run(['tail', '--url', `http://127.0.0.1:${port}`])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `Nothing answers at http://127.0.0.1:${port} (ECONNREFUSED). Start Standin there, or give its address: standin tail --url http://127.0.0.1:PORT.\n`,
  })
  expect((await run(['tail', '--port', String(port)])).stderr).toContain(`Nothing answers at http://127.0.0.1:${port} `)
  const other = createServer((_request, response) => void response.end('hello'))
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  expect(await run(['tail', '--url', url])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`The server at ${url} has no journal (status 200)`),
  })
  const platform = await platformWith()
  const refused = async (...flags: readonly string[]) => (await run(['tail', '--url', platform.url, ...flags])).stderr
  expect(await refused('--status', 'bad')).toMatch(/^status .* a status such as 429, a class such as 4xx, or none/)
  expect(await refused('--last', 'many')).toContain(flagWhole('--last', 0, 1000, 'many'))
  expect((await run(['tail', '--url', 'example'])).stderr).toContain('--url must be an http or https address')
  expect((await run(['tail'], { files: { 'platform.config.yaml': 'port: 0\n' } })).stderr).toContain(
    'Give the address with --url',
  )
})

test('tail never sends the control token of this configuration to another address', async () => {
  const seen: (string | undefined)[] = []
  const other = createServer(({ headers }, response) => {
    seen.push(headers.authorization)
    response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()
  })
  await new Promise<void>(resolve => other.listen(0, resolve))
  onTestFinished(() => void other.close())
  const env = { STANDIN_CONTROL_TOKEN: 'a-token-of-our-own-0123456789' }
  const { port } = other.address() as AddressInfo
  const { stderr } = await run(['tail', '--url', `http://0.0.0.0:${port}`], { env })
  expect(stderr).toContain('has no journal (status 302)')
  expect(seen).toEqual([undefined])
})

test('tail says how many requests are not shown because there were too many at once', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': following\n\nevent: skipped\ndata: {"count":12}\n\nevent: exchange\ndata: {"id"\n\n')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const { stderr } = await tailing(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(await stderr.next('not shown')).toBe('12 requests not shown, because there were too many at once.')
  expect(await stderr.next('not shown')).toContain('1 request not shown')
})
