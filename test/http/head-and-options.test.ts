import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { answerTo, onTheWire, wireTo } from '../wire.js'

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

test('nothing follows the headers of a HEAD on the wire', async () => {
  const { url } = await platformWith()
  const wire = await wireTo(url)
  await wire.say(onTheWire('HEAD /health', ['Connection: close']))
  expect(await wire.rest()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*content-length: 33\r\n.*\r\n\r\n$/s)
})

test('HEAD is not allowed where GET is not', async () => {
  const { ask } = await platformWith()
  const response = await ask('/v1/chat/completions', { method: 'HEAD' })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('POST, OPTIONS')
  expect(await response.text()).toBe('')
})

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

test('a body sent with OPTIONS is ignored', async () => {
  const { url } = await platformWith()
  const wire = await wireTo(url)
  await wire.say(onTheWire('OPTIONS /v1/models', [], 'some body') + onTheWire('GET /health', ['Connection: close']))
  const received = await wire.rest()
  expect(received.match(/^HTTP\/1\.1 .*$/gm)?.map(line => line.trim())).toEqual([
    'HTTP/1.1 204 No Content',
    'HTTP/1.1 200 OK',
  ])
  expect((await answerTo(url, onTheWire('GET /health'))).status).toBe(200)
})
