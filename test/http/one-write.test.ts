import { createServer, type Server } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type Platform, startPlatform } from '../../src/index.js'
import { hello } from '../scene.js'
import { onTheWire, wireTo } from '../wire.js'

// Our own server sends an answer in one write, bypassing node's methods. A foreign server has to use them, so it shows what node would send.

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

/** Everything that comes back before the connection closes, without what differs from one answer to the next. */
async function receivedFrom(url: string, text: string): Promise<string> {
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
const withPrompt = (content: string) => ({ messages: [{ role: 'user', content }] })
const get =
  (path: string, ...headers: string[]) =>
  (key: string) =>
    onTheWire(`GET ${path}`, [`Authorization: Bearer ${key}`, ...headers])

test.each<[string, (key: string) => string]>([
  ['a completion', key => chat({})(key) + last],
  ['a completion beyond Latin-1', key => chat(withPrompt('rhea'))(key) + last],
  ['an empty completion', key => chat(withPrompt('nothing'))(key) + last],
  ['a completion for a page', key => chat({}, 'Origin: http://localhost:5173')(key) + last],
  ['a refused request', key => chat({ model: 'none' })(key) + last],
  ['a request without a credential', () => onTheWire('GET /v1/models') + last],
  ['an unknown path', key => get('/nowhere')(key) + last],
  ['a method that is not allowed', key => get('/v1/chat/completions')(key) + last],
  ['models', key => get('/v1/models')(key) + last],
  ['models with Connection: close', get('/v1/models', 'Connection: close')],
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
    'HTTP/1.0 with keep-alive',
    key => get('/v1/models', 'Connection: keep-alive')(key).replace('HTTP/1.1', 'HTTP/1.0') + last,
  ],
  ['a supported expectation', key => get('/v1/models', 'Expect: 100-continue')(key) + last],
  ['an unsupported expectation', key => get('/v1/models', 'Expect: wonders')(key) + last],
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
    'a stream and the requests after it',
    key => chat({ stream: true }, 'x-standin-pace: tokensPerSecond=0')(key) + chat({})(key) + last,
  ],
  [
    'paced streams and the request after them',
    key =>
      chat({ stream: true, ...withPrompt('nothing') }, 'x-standin-pace: firstTokenMs=20')(key) +
      chat({ stream: true, ...withPrompt('rhea') }, 'x-standin-pace: tokensPerSecond=20')(key) +
      last,
  ],
  [
    'a paced stream that begins immediately',
    key => chat({ stream: true, ...withPrompt('rhea') }, 'x-standin-pace: tokensPerSecond=20')(key) + last,
  ],
])("our own server sends the same bytes as node's server: %s", async (_what, requests) => {
  const { url, apiKey } = platform
  const nodeUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const received = await receivedFrom(url, requests(apiKey))
  expect(received).toBe(await receivedFrom(nodeUrl, requests(apiKey)))
  expect(received).toContain('HTTP/1.1 ')
})

test('an answer is still sent in one write after the dashboard was opened', async () => {
  const { url, apiKey, dashboardUrl } = platform
  await (await fetch(dashboardUrl)).text()
  const write = vi.spyOn(Socket.prototype, 'write')
  onTestFinished(() => write.mockRestore())
  const received = await receivedFrom(url, chat({})(apiKey) + last)
  expect(received).toContain('"system_fingerprint"')
  const withHead = write.mock.calls.map(([text]) => String(text)).filter(text => text.startsWith('HTTP/1.1 200'))
  expect(withHead[0]).toContain('"system_fingerprint"')
})

test('a client that disconnects in the middle of its body is journaled, and the next one is answered', async () => {
  const { url, apiKey } = platform
  const whole = chat({})(apiKey)
  const wire = await wireTo(url)
  await wire.say(whole.slice(0, -10))
  wire.leave()
  expect(await platform.journal.waitFor({ complete: false })).toMatchObject({ status: null })
  expect(await receivedFrom(url, whole + last)).toContain('"system_fingerprint"')
})

test('a body that arrives in pieces is read in full, with a content length and chunked', async () => {
  const { url, apiKey } = platform
  const body = JSON.stringify({ ...hello, ...withPrompt('rhea') })
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
