import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { hello, platformWith } from '../scene.js'
import { answerTo, onTheWire, wireTo } from '../wire.js'

const invalid = { error: 'The request is not valid HTTP.' }
const healthy = { status: 'ok', version: '1.0.0' }

test('a request without a Host header is refused', async () => {
  const { url } = await platformWith()
  const { status, body } = await answerTo(url, 'GET /health HTTP/1.1\r\n\r\n')
  expect(status).toBe(400)
  expect(JSON.parse(body)).toEqual({ error: 'An HTTP/1.1 request needs exactly one Host header.' })
})

test('HTTP/1.0 needs no Host header, and its connection is closed', async () => {
  const { url } = await platformWith()
  const wire = await wireTo(url)
  await wire.say('GET /health HTTP/1.0\r\n\r\n')
  expect(await wire.rest()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n\{"status":"ok","version":"1\.0\.0"\}$/s)
})

test.each([
  ['plain text', 'hello there\r\n\r\n'],
  ['an unknown method', onTheWire('BREW /coffee')],
  ['a header without a colon', onTheWire('GET /health', ['nonsense'])],
  [
    'two Content-Length headers',
    onTheWire('POST /v1/chat/completions', ['Content-Length: 2', 'Content-Length: 3'], '{}'),
  ],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
])('invalid HTTP is refused: %s', async (_what, text) => {
  const { url } = await platformWith()
  const wire = await wireTo(url)
  await wire.say(text)
  const { status, headers, body } = await wire.answer()
  expect(status).toBe(400)
  expect(headers.get('content-type')).toBe('application/json')
  expect(headers.get('connection')).toBe('close')
  expect(JSON.parse(body)).toEqual(invalid)
  expect(await wire.rest()).toBe('')
})

test.each([
  [
    'many headers',
    onTheWire(
      'GET /health',
      Array.from({ length: 500 }, (_, i) => `X-${i}: ${'x'.repeat(40)}`),
    ),
  ],
  ['a huge target', onTheWire(`GET /health?${'x'.repeat(20_000)}`)],
])('headers that are too large are refused: %s', async (_what, text) => {
  const { url } = await platformWith()
  const { status, headers, body } = await answerTo(url, text)
  expect(status).toBe(431)
  expect(headers.get('content-type')).toBe('application/json')
  expect(JSON.parse(body)).toEqual({ error: 'The request headers are too large.' })
})

test.each(['GET http://standin/health', 'GET http://elsewhere.example.com:8080/health?x=1'])(
  'a request target may be an absolute URL: %s',
  async request => {
    const { url } = await platformWith()
    const { status, body } = await answerTo(url, onTheWire(request))
    expect(status).toBe(200)
    expect(JSON.parse(body)).toEqual(healthy)
  },
)

test.each([
  ['/nope?key=secret', '/nope'],
  ['/nope?url=http://example.com/x', '/nope'],
  ['http://standin/nope?key=secret', '/nope'],
  ['http://standin/a/../nope', '/a/../nope'],
  ['http://standin?key=secret', '/'],
])('for the request target %s the path in the answer is %s', async (target, path) => {
  const { url } = await platformWith()
  const { status, body } = await answerTo(url, onTheWire(`GET ${target}`))
  expect(status).toBe(404)
  expect(JSON.parse(body)).toEqual({ error: 'Not found.', path })
})

test('a connection stays open for further requests, whatever the answers are', async () => {
  const { url, apiKey } = await platformWith()
  const wire = await wireTo(url)
  const authorization = `Authorization: Bearer ${apiKey}`
  for (const [text, status] of [
    [onTheWire('GET /health'), 200],
    [onTheWire('GET /v1/models'), 401],
    [onTheWire('POST /v1/chat/completions', [], JSON.stringify(hello)), 401],
    [onTheWire('POST /v1/chat/completions', [authorization, 'Content-Type: text/plain'], 'hello'), 415],
    [onTheWire('POST /nope', [], 'a body that nobody reads'), 404],
    [onTheWire('GET /health', [], 'a body that nobody reads'), 200],
    [onTheWire('POST /v1/chat/completions', [authorization], JSON.stringify(hello)), 200],
  ] as const) {
    await wire.say(text)
    const answer = await wire.answer()
    expect(answer.status).toBe(status)
    expect(answer.headers.get('connection')).toBe('keep-alive')
  }
})

test('an unsupported Expect header is refused with an error body', async () => {
  const { url } = await platformWith()
  const wire = await wireTo(url)
  await wire.say(onTheWire('GET /health', ['Expect: a-miracle', 'Connection: close']))
  const received = await wire.rest()
  expect(received).toMatch(/^HTTP\/1\.1 417 Expectation Failed\r\n/)
  expect(received).toMatch(/\r\ncontent-type: application\/json\r\n/i)
  expect(received).toMatch(/\{"error":".+"\}/)
})

test('the error about garbage after a request does not end up inside the stream that answers it', async () => {
  const { url, apiKey } = await platformWith({
    rules: [{ reply: { text: 'Never said.' }, pace: { firstTokenMs: 600_000 } }],
  })
  const wire = await wireTo(url)
  await wire.say(
    onTheWire(
      'POST /v1/chat/completions',
      [`Authorization: Bearer ${apiKey}`],
      JSON.stringify({ ...hello, stream: true }),
    ),
  )
  await wire.say('hello there\r\n\r\n')
  expect((await wire.rest()).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
})

test('TLS on the plain port and invalid HTTP are each logged once', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => log.mockRestore())
  const { url } = await platformWith()
  const { port } = new URL(url)
  for (let i = 0; i < 3; i++) await expect(fetch(`https://127.0.0.1:${port}/health`)).rejects.toThrow('fetch failed')
  // A client that disconnects in the middle of its request.
  const leaving = connect(Number(port), '127.0.0.1')
  leaving.end(onTheWire('POST /v1/chat/completions', ['Content-Length: 99']))
  await once(leaving.resume(), 'close')
  expect((await answerTo(url, 'NOT HTTP AT ALL\r\n\r\n')).status).toBe(400)
  expect((await answerTo(url, 'NOT HTTP AT ALL\r\n\r\n')).status).toBe(400)
  expect(log.mock.calls.flat()).toEqual([
    `A client uses TLS on port ${port}, which is plain HTTP. Use http://, not https://.`,
    expect.stringMatching(/^A request got a 400 because it cannot be read: Invalid .*\.$/),
  ])
})

/** The headers of an answer, without those that differ from request to request. */
const headersOf = ({ headers }: Response) =>
  Object.fromEntries(
    [...headers].filter(([name]) => !['date', 'connection', 'keep-alive', 'x-request-id'].includes(name)),
  )

test.each(['/health', '/v1/models', '/dashboard'])(
  'HEAD %s has the status and the headers of GET and no body',
  async path => {
    const { ask } = await platformWith()
    // The Content-Length of a compressed page is not the length of what `fetch` returns.
    const headers = { 'accept-encoding': 'identity' }
    const [get, head] = [await ask(path, { headers }), await ask(path, { method: 'HEAD', headers })]
    expect(head.status).toBe(get.status)
    expect(headersOf(head)).toEqual(headersOf(get))
    expect(head.headers.get('content-length')).toBe(String((await get.arrayBuffer()).byteLength))
    expect(await head.text()).toBe('')
  },
)

test.each([
  ['/health', 'GET, HEAD, OPTIONS'],
  ['/v1/models', 'GET, HEAD, OPTIONS'],
  ['/v1/chat/completions', 'POST, OPTIONS'],
])('OPTIONS %s lists the allowed methods, without a credential', async (path, allow) => {
  const { ask } = await platformWith()
  const response = await ask(path, { method: 'OPTIONS', bearer: null })
  expect(response.status).toBe(204)
  expect(response.headers.get('allow')).toBe(allow)
  expect(response.headers.has('content-type')).toBe(false)
  expect(response.headers.has('content-length')).toBe(false)
  expect(await response.text()).toBe('')
})
