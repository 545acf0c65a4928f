import type { RequestListener } from 'node:http'
import request from 'supertest'
import { expect, onTestFinished, test } from 'vitest'
import { createOrigins } from '../../src/core/origins.js'
import type { PlatformOptions } from '../../src/index.js'
import { openPlatform } from '../../src/platform.js'
import { folderWith } from '../command.js'
import { appElsewhere, fetchOn, inBrowser, REBOUND, useBrowser } from '../dashboard/browser.js'
import { hello, platformWith } from '../scene.js'
import { control } from './controlled.js'
import { liveKey, liveWith, proxyTo } from './live.js'

const ok: RequestListener = (_request, response) =>
  void response.setHeader('content-type', 'application/json').end('{"secret":"of the live platform"}')

const evil = 'https://evil.example'
const local = 'http://localhost:3000'

/** A live platform, and one in front of it that uses its key. */
async function inFront(options: PlatformOptions = {}) {
  const live = await liveWith(ok)
  return { live, ...(await proxyTo(live.url, { recordings: { dir: folderWith({}) }, ...options })) }
}

const modes: readonly PlatformOptions[] = [
  { mode: 'proxy' },
  { mode: 'replay', recordings: { onMiss: 'record' } },
  { mode: 'emulate', modes: { 'POST /v1/*': 'proxy', '/undocumented': 'record', '/health': 'proxy' } },
]

const inMode = (options: PlatformOptions) =>
  inFront({ ...options, recordings: { dir: folderWith({}), ...options.recordings } })

const strangers: readonly Record<string, string>[] = [
  { origin: evil },
  { origin: 'null' },
  { origin: 'http://localhost.evil.example:3000' },
  { origin: 'http://192.168.1.7' },
  { host: 'evil.example' },
  { host: 'evil.example', origin: 'http://evil.example' },
  { host: '127.0.0.1.evil.example:4100' },
  { host: '0.0.0.0:4100' },
  { host: '' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'cross-site', referer: `${evil}/page` },
]

test.each(modes)('a request that a foreign page may have sent never reaches the live platform: %j', async options => {
  const { live, url, apiKey } = await inMode(options)
  for (const headers of strangers) {
    const ask = (one: request.Test) => one.set({ authorization: `Bearer ${apiKey}`, ...headers })
    const answers = [
      await ask(request(url).get('/health')),
      await ask(request(url).post('/v1/chat/completions')).send(hello),
      // What a page may send without a preflight.
      await ask(request(url).post('/v1/chat/completions')).type('text/plain').send(JSON.stringify(hello)),
      await ask(request(url).post('/undocumented')).send('x=1'),
    ]
    for (const { status, body, headers: received } of answers) {
      expect({ headers, status, body }).toEqual({ headers, status: 403, body: { error: expect.any(String) } })
      expect(received).not.toHaveProperty('access-control-allow-origin')
      expect(body.error).not.toMatch(/cors|evil/)
    }
  }
  expect(live.seen).toEqual([])
})

test.each(modes)('a local front end and tools without an origin work without configuration: %j', async options => {
  const { live, chat, ask } = await inMode(options)
  const welcome: readonly Record<string, string>[] = [
    {},
    { origin: local },
    { origin: 'http://127.0.0.1:5173' },
    { origin: 'http://[::1]:8080' },
    { origin: 'https://app.localhost' },
    { origin: 'capacitor://localhost' },
    { 'sec-fetch-site': 'cross-site', referer: `${local}/page` },
    { 'sec-fetch-site': 'none' },
  ]
  for (const headers of welcome) {
    const response = await chat(hello, { headers })
    expect([headers, response.status]).toEqual([headers, 200])
    expect(response.headers.get('access-control-allow-origin')).toBe(headers.origin ?? null)
    await response.text()
  }
  // In some modes the later requests are replayed.
  expect(live.seen.length).toBeGreaterThan(0)
  const preflight = await ask('/v1/chat/completions', {
    method: 'OPTIONS',
    bearer: null,
    headers: {
      origin: local,
      'access-control-request-method': 'POST',
      'access-control-request-private-network': 'true',
    },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe(local)
  expect(preflight.headers.get('access-control-allow-private-network')).toBe('true')
})

test('listed origins may call, and their hosts count as names of this machine', async () => {
  const app = 'https://app.example.com'
  const { live, url, apiKey } = await inFront({
    cors: { origins: [app, 'http://standin:4100', 'chrome-extension://abc'] },
  })
  const statusOf = async (headers: Record<string, string>) =>
    (
      await request(url)
        .get('/v1/models')
        .set({ authorization: `Bearer ${apiKey}`, ...headers })
    ).status
  for (const origin of [app, 'chrome-extension://abc', local]) expect(await statusOf({ origin })).toBe(200)
  for (const host of ['standin:4100', 'STANDIN:8080', 'app.example.com']) expect(await statusOf({ host })).toBe(200)
  expect(live.seen).toHaveLength(6)
  for (const origin of ['http://app.example.com', `${app}:81`, evil]) expect(await statusOf({ origin })).toBe(403)
  expect(await statusOf({ host: 'other:4100' })).toBe(403)
  expect(live.seen).toHaveLength(6)
})

test('other machines may call this one by its addresses; a host name has to be listed', () => {
  const isLetIn = (host: string, headers: Record<string, string>) => {
    try {
      createOrigins({ host, origins: 'auto' }).requireOwn(headers)
      return true
    } catch {
      return false
    }
  }
  for (const wildcard of ['0.0.0.0', '::']) {
    expect(isLetIn(wildcard, { host: '192.168.1.7:4100' })).toBe(true)
    expect(isLetIn(wildcard, { host: '[fe80::1]:4100' })).toBe(true)
    // The dashboard's own page.
    expect(isLetIn(wildcard, { host: '192.168.1.7:4100', origin: 'http://192.168.1.7:4100' })).toBe(true)
    expect(isLetIn(wildcard, { host: '192.168.1.7:4100', origin: 'http://192.168.1.7:80' })).toBe(false)
    expect(isLetIn(wildcard, { host: 'host.docker.internal:4100' })).toBe(false)
  }
  expect(isLetIn('my-box', { host: 'my-box:4100' })).toBe(true)
  expect(isLetIn('my-box', { host: 'your-box:4100' })).toBe(false)
  expect(isLetIn('192.168.1.7', { host: '192.168.1.7:4100' })).toBe(true)
  expect(isLetIn('192.168.1.7', { host: '192.168.1.8:4100' })).toBe(false)
  expect(isLetIn('::1', { host: '[::1]:4100' })).toBe(true)
})

/** A platform, with its warnings and the hints in its log. */
async function withWarnings(values: Record<string, unknown>) {
  const warnings: string[] = []
  const flags = Object.entries({ port: 0, state: 'memory', ...values }).map(([name, value]) => ({
    ...{ path: name.split('.'), value, origin: 'the test' },
  }))
  const warn = (sentence: string) => void warnings.push(sentence)
  const platform = await openPlatform({ cwd: import.meta.dirname, file: false, flags, warn })
  onTestFinished(() => platform.stop())
  const hints: (string | undefined)[] = []
  platform.journal.follow(({ outcome }) => void hints.push(outcome?.hint))
  return { ...platform, platform, warnings, hints }
}

test('the log says which option allows a page or a host name', async () => {
  const { url, hints } = await withWarnings({ mode: 'proxy', 'upstream.baseUrl': 'http://127.0.0.1:9' })
  await request(url).get('/health').set({ origin: evil })
  await request(url).get('/health').set({ host: 'standin:4100' })
  await request(url).get('/health').set({ origin: 'null' })
  expect(hints).toEqual([
    `If "${evil}" is your own page, add it to the option cors.origins.`,
    'If that is a name of this machine, add "http://standin:4100" to the option cors.origins, or set the option host to it.',
    expect.stringContaining('Only cors.origins: ["*"] allows them'),
  ])
})

test.each(['*', ['*']])(
  'everything is open when cors.origins is %j, with a warning at the start and on a switch of the mode',
  async origins => {
    const { url: live, seen } = await liveWith(ok)
    const proxying = { mode: 'proxy', 'upstream.baseUrl': live, 'upstream.apiKey': liveKey, 'cors.origins': origins }
    const { url, apiKey, platform, warnings } = await withWarnings(proxying)
    const warning = expect.stringContaining('cors.origins is "*": every web page')
    expect(warnings).toEqual([warning])
    const { status, headers } = await request(url)
      .get('/v1/models')
      .set({ origin: evil, host: 'evil.example', authorization: `Bearer ${apiKey}` })
    expect([status, headers['access-control-allow-origin'], seen.length]).toEqual([200, '*', 1])
    await control(platform, 'PUT /mode', { mode: 'emulate' })
    expect(warnings).toHaveLength(1)
    await control(platform, 'PUT /mode', { mode: 'emulate', modes: { '/health': 'proxy' } })
    expect(warnings).toEqual([warning, warning])
  },
)

test('in auth.mode proxy a foreign page cannot sign in at the live backend; links from emails work', async () => {
  const live = await liveWith(ok)
  const { url, anonKey } = await platformWith({
    auth: { mode: 'proxy' },
    upstream: { authUrl: live.url, anonKey: 'live-anon' },
  })
  const token = request(url).post('/auth/v1/token?grant_type=password')
  const { status, body, headers } = await token.set({ apikey: anonKey, origin: evil }).send({ email: 'a@b.c' })
  expect([status, body.error_code]).toEqual([403, 'foreign_origin'])
  expect(headers).not.toHaveProperty('access-control-allow-origin')
  const linked = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  expect((await request(url).get(`/auth/v1/settings?apikey=${anonKey}`).set(linked)).status).toBe(403)
  expect(live.seen).toEqual([])
  expect((await request(url).get('/auth/v1/verify?token=t&type=signup').set(linked)).status).toBe(200)
  expect((await request(url).get('/auth/v1/settings').set({ apikey: anonKey, origin: local })).status).toBe(200)
  expect(live.seen).toHaveLength(2)
})

const openPage = useBrowser()

inBrowser(
  'in a browser, a page of another site cannot reach the live platform, and a page of localhost can',
  async () => {
    const live = await platformWith({ rules: [{ reply: { text: 'bought with the live key' } }] })
    const proxying = await platformWith({ mode: 'proxy', upstream: { baseUrl: live.url, apiKey: live.apiKey } })
    const { port } = new URL(proxying.url)
    const headers = { authorization: `Bearer ${proxying.apiKey}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(hello) }
    const app = new URL(await appElsewhere())
    const { page } = await openPage()

    await page.goto(`http://${REBOUND}:${app.port}/`)
    for (const base of [proxying.url, `http://localhost:${port}`, `http://${REBOUND}:${port}`]) {
      for (const path of ['/v1/chat/completions', '/undocumented'])
        expect(await fetchOn(page, base + path, init)).toEqual({ refused: 'Failed to fetch' })
      const plain = { ...init, headers: { 'content-type': 'text/plain' } }
      expect(await fetchOn(page, `${base}/v1/chat/completions`, plain)).toEqual({ refused: 'Failed to fetch' })
      expect(await fetchOn(page, `${base}/health`)).toEqual({ refused: 'Failed to fetch' })
      await page.evaluate(`(async () => {
        const [url, body] = ${JSON.stringify([base, init.body])}
        await fetch(url + '/health', { mode: 'no-cors' }).catch(() => {})
        await fetch(url + '/v1/chat/completions', { mode: 'no-cors', method: 'POST', body }).catch(() => {})
        navigator.sendBeacon(url + '/v1/chat/completions', body)
        await Promise.all(['img', 'script', 'iframe'].map(tag => new Promise(done => {
          const element = document.createElement(tag)
          element.onload = element.onerror = done
          element.src = url + '/health?' + tag
          document.body.append(element)
        })))
      })()`)
    }
    // As a page whose host name was rebound to this machine, so it has the same origin.
    await page.goto(`http://${REBOUND}:${port}/health`)
    expect(await fetchOn(page, '/v1/chat/completions', init)).toMatchObject({ status: 403 })
    expect(await fetchOn(page, '/v1/models', { headers })).toMatchObject({ status: 403 })
    expect(await live.journal.count()).toBe(0)

    for (const base of [proxying.url, `http://localhost:${port}`]) {
      await page.goto(`http://localhost:${app.port}/`)
      expect(await fetchOn(page, `${base}/v1/chat/completions`, init)).toMatchObject({
        status: 200,
        body: { choices: [{ message: { content: 'bought with the live key' } }] },
      })
    }
    expect(await live.journal.count()).toBe(2)
  },
  60_000,
)
