import { createServer, type Server } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type Platform, startPlatform } from '../../src/index.js'
import { hello } from '../scene.js'
import { onTheWire, wireTo } from '../wire.js'

// An answer leaves our own server in one write, past node's methods. A foreign server has to use them, so what it says is what node would say.

const rules = [
  { when: { user: 'rhea' }, reply: { text: '¿Qué tal, ñandú? 🪿' } },
  { when: { user: 'nothing' }, reply: { text: '' } },
]
let platform: Platform
let server: Server

beforeAll(async () => {
  platform = await startPlatform({ rules })
  server = createServer(
    { keepAliveTimeout: 65_000, joinDuplicateHeaders: true, requireHostHeader: false },
    platform.handler,
  )
  server.on('checkExpectation', platform.handler)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  server.close()
  await platform.stop()
})

/** All that comes back before the connection is closed; what differs from one answer to the next is put away. */
async function saidBy(url: string, text: string): Promise<string> {
  const wire = await wireTo(url)
  await wire.say(text)
  return (await wire.rest())
    .replace(/^date: .*$/gim, 'date: -')
    .replace(/^x-request-id: .*$/gim, 'x-request-id: -')
    .replace(/"chatcmpl-[^"]+"/g, '"chatcmpl-"')
    .replace(/"created":\d+/g, '"created":0')
}

const last = onTheWire('GET /health', ['Connection: close'])
const chat =
  (fields: object, ...headers: string[]) =>
  (key: string) =>
    onTheWire(
      'POST /v1/chat/completions',
      [`Authorization: Bearer ${key}`, 'Content-Type: application/json', ...headers],
      JSON.stringify({ ...hello, ...fields }),
    )
const asking = (content: string) => ({ messages: [{ role: 'user', content }] })
const get =
  (path: string, ...headers: string[]) =>
  (key: string) =>
    onTheWire(`GET ${path}`, [`Authorization: Bearer ${key}`, ...headers])

test.each<[string, (key: string) => string]>([
  ['a completion', key => chat({})(key) + last],
  ['a completion beyond Latin-1', key => chat(asking('rhea'))(key) + last],
  ['an empty completion', key => chat(asking('nothing'))(key) + last],
  ['a completion to a page', key => chat({}, 'Origin: http://localhost:5173')(key) + last],
  ['a refused request', key => chat({ model: 'none' })(key) + last],
  ['a request without a credential', () => onTheWire('GET /v1/models') + last],
  ['a path that is not there', key => get('/nowhere')(key) + last],
  ['a method that is not allowed', key => get('/v1/chat/completions')(key) + last],
  ['models', key => get('/v1/models')(key) + last],
  ['models to a client that closes', get('/v1/models', 'Connection: close')],
  ['HEAD', key => get('/v1/models')(key).replace('GET', 'HEAD') + last],
  ['OPTIONS', key => get('/v1/models')(key).replace('GET', 'OPTIONS') + last],
  [
    'a preflight',
    key =>
      get(
        '/v1/models',
        'Origin: http://localhost:5173',
        'Access-Control-Request-Method: GET',
      )(key).replace('GET', 'OPTIONS') + last,
  ],
  ['HTTP/1.0', key => get('/v1/models')(key).replace('HTTP/1.1', 'HTTP/1.0')],
  [
    'HTTP/1.0 that keeps its connection',
    key => get('/v1/models', 'Connection: keep-alive')(key).replace('HTTP/1.1', 'HTTP/1.0') + last,
  ],
  ['an expectation that is met', key => get('/v1/models', 'Expect: 100-continue')(key) + last],
  ['an expectation that is not', key => get('/v1/models', 'Expect: wonders')(key) + last],
  [
    'many requests at once',
    key =>
      chat({})(key) +
      get('/v1/models')(key) +
      chat({ stream: true })(key) +
      chat({})(key) +
      get('/nowhere')(key) +
      last,
  ],
  [
    'a stream and what comes behind it',
    key => chat({ stream: true }, 'x-standin-pace: tokensPerSecond=0')(key) + chat({})(key) + last,
  ],
  [
    'a stream at a pace and what comes behind it',
    key =>
      chat({ stream: true, ...asking('nothing') }, 'x-standin-pace: firstTokenMs=20')(key) +
      chat({ stream: true, ...asking('rhea') }, 'x-standin-pace: tokensPerSecond=20')(key) +
      last,
  ],
  [
    'a stream at a pace that begins at once',
    key => chat({ stream: true, ...asking('rhea') }, 'x-standin-pace: tokensPerSecond=20')(key) + last,
  ],
])("%s comes from our own server as from one of node's", async (_what, requests) => {
  const { url, apiKey } = platform
  const nodes = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const said = await saidBy(url, requests(apiKey))
  expect(said).toBe(await saidBy(nodes, requests(apiKey)))
  expect(said).toContain('HTTP/1.1 ')
})

test('An answer still leaves in one write after the dashboard was opened', async () => {
  const { url, apiKey, dashboardUrl } = platform
  await (await fetch(dashboardUrl)).text()
  const write = vi.spyOn(Socket.prototype, 'write')
  onTestFinished(() => write.mockRestore())
  const said = await saidBy(url, chat({})(apiKey) + last)
  expect(said).toContain('"system_fingerprint"')
  const withHead = write.mock.calls.map(([text]) => String(text)).filter(text => text.startsWith('HTTP/1.1 200'))
  expect(withHead[0]).toContain('"system_fingerprint"')
})

test('A client that leaves in the middle of its body is in the journal, and the next one is answered', async () => {
  const { url, apiKey } = platform
  const whole = chat({})(apiKey)
  const wire = await wireTo(url)
  await wire.say(whole.slice(0, -10))
  wire.leave()
  expect(await platform.journal.waitFor({ complete: false })).toMatchObject({ status: null })
  expect(await saidBy(url, whole + last)).toContain('"system_fingerprint"')
})

test('A body that comes in pieces is read whole, with its length and in chunks', async () => {
  const { url, apiKey } = platform
  const body = JSON.stringify({ ...hello, ...asking('rhea') })
  const headers = [`Authorization: Bearer ${apiKey}`, 'Content-Type: application/json']
  const bytes = Buffer.from(body).toString('latin1')
  const half = bytes.length >> 1
  const wire = await wireTo(url)
  await wire.say(onTheWire('POST /v1/chat/completions', headers, bytes).slice(0, -half))
  await wire.say(bytes.slice(-half))
  expect(await wire.answer()).toMatchObject({ status: 200 })
  const head = onTheWire('POST /v1/chat/completions', [...headers, 'Transfer-Encoding: chunked'])
  await wire.say(`${head}${half.toString(16)}\r\n${bytes.slice(0, half)}\r\n`)
  await wire.say(`${(bytes.length - half).toString(16)}\r\n${bytes.slice(half)}\r\n0\r\n\r\n`)
  expect((await wire.answer()).body).toContain('ñandú')
})
