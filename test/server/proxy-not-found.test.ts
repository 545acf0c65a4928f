import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { hello } from '../scene.js'
import { liveOnSocket, liveWith, proxyTo, send } from './live.js'

const documented = '{"error":"Not found.","path":"/v1/models"}'
const theirs = '{ "path": "/v1/models",\n "error": "No such thing.", "more": 1 }'
type Encode = (text: string) => Buffer
const encodings: Readonly<Record<string, Encode>> = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }

/** A live platform that says 404 to everything. */
const liveWithout = (body: string | Buffer, headers: Record<string, string> = {}, status = 404) =>
  liveWith((_request, response) =>
    response.writeHead(status, 'Nope', { 'content-type': 'application/json', 'x-id': '7', ...headers }).end(body),
  )

/** Asks for the models, and takes the answer as it stands on the wire. */
async function askThrough(
  live: { readonly url: string },
  method = 'GET',
  errors: 'normalise' | 'untouched' = 'normalise',
) {
  const { url, apiKey } = await proxyTo(live.url, { upstream: { errors } })
  const headers = { authorization: `Bearer ${apiKey}`, 'accept-encoding': 'gzip, deflate, br' }
  return send(`${url}/v1/models`, { method, headers })
}

test.each([
  ['is a page', '<h1>404</h1>'],
  ['is empty', ''],
  ['has no path', '{"error":"Not found."}'],
  ['has an object for an error, as OpenAI has', '{"error":{"message":"no"},"path":"/"}'],
  ['is no object', '[1]'],
  ['is null', 'null'],
  ['is a JSON that breaks off', '{"error":"a","path":"/'],
  ['is too long', JSON.stringify({ error: 'x'.repeat(70_000), path: '/' })],
])('a 404 of the live platform whose body %s gets the documented one', async (_what, body) => {
  const { status, headers, body: got } = await askThrough(await liveWithout(body, { 'content-type': 'text/html' }))
  expect([status, got.toString()]).toEqual([404, documented])
  expect(headers).toMatchObject({
    ...{ 'content-type': 'application/json', 'content-length': String(documented.length), 'x-id': '7' },
    vary: 'Origin',
  })
})

test.each(Object.entries(encodings))(
  'one that is compressed with %s and fits passes byte for byte',
  async (name, encode) => {
    const packed = encode(theirs)
    const { headers, body } = await askThrough(await liveWithout(packed, { 'content-encoding': name }))
    expect(body.equals(packed)).toBe(true)
    expect(headers).toMatchObject({ 'content-encoding': name, 'x-id': '7' })
  },
)

test.each(Object.entries(encodings))(
  'one that is compressed with %s and does not fit is replaced, and is not compressed',
  async (name, encode) => {
    for (const packed of [encode('<h1>404</h1>'), encode('0'.repeat(1_000_000)), Buffer.from('not what it says')]) {
      const { headers, body } = await askThrough(await liveWithout(packed, { 'content-encoding': name }))
      expect(body.toString()).toBe(documented)
      expect(headers).not.toHaveProperty('content-encoding')
    }
  },
)

test('one in a compression that nobody here knows is replaced', async () => {
  const { body } = await askThrough(await liveWithout('????', { 'content-encoding': 'zstd' }))
  expect(body.toString()).toBe(documented)
})

test('one that fits passes as it is', async () => {
  for (const headers of [{}, { 'content-length': String(theirs.length) }]) {
    const answer = await askThrough(await liveWithout(theirs, headers))
    expect([answer.status, answer.body.toString()]).toEqual([404, theirs])
    expect(answer.headers['content-length']).toBe(headers['content-length'])
  }
})

test('HEAD is told what GET would be', async () => {
  const page = await askThrough(
    await liveWithout('', { 'content-type': 'text/html', 'content-length': '5000' }),
    'HEAD',
  )
  expect(page.status).toBe(404)
  expect(page.headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(documented.length),
  })
  const fitting = await askThrough(await liveWithout('', { 'content-length': '99' }), 'HEAD')
  expect(fitting.headers['content-length']).toBe('99')
})

test('what the log says of the path is what was asked for, not what the live platform makes of it', async () => {
  const { url } = await liveWithout('gone')
  const { ask } = await proxyTo(`${url}/prefix`)
  expect(await (await ask('/v1/files/%41?x=1')).json()).toEqual({ error: 'Not found.', path: '/v1/files/%41' })
})

test.each([400, 401, 403, 410, 500, 503])('a %i is never touched', async status => {
  const { body } = await askThrough(await liveWithout('<h1>no</h1>', {}, status))
  expect(body.toString()).toBe('<h1>no</h1>')
})

test('with errors untouched a 404 is as it came', async () => {
  const { body, headers } = await askThrough(
    await liveWithout('gone', { 'content-type': 'text/plain' }),
    'GET',
    'untouched',
  )
  expect([body.toString(), headers['content-type']]).toEqual(['gone', 'text/plain'])
})

test('a 404 that breaks off before its end is a 502', async () => {
  const head = 'HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n{"error":'
  const { chat } = await proxyTo(await liveOnSocket(socket => socket.end(head)))
  const response = await chat(hello)
  expect([response.status, await response.json()]).toEqual([
    502,
    { error: expect.stringContaining('could not be reached') },
  ])
})

test('a 404 that falls silent before its end is a 504', async () => {
  const head = 'HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n{"error":'
  const { chat } = await proxyTo(await liveOnSocket(socket => socket.write(head)), { upstream: { idleTimeoutMs: 50 } })
  const response = await chat(hello)
  expect([response.status, await response.json()]).toEqual([504, { error: expect.stringContaining('did not answer') }])
})

test('a 404 that never ends is not waited for', async () => {
  const { url } = await liveWith((_request, response) => {
    response.writeHead(404)
    const timer = setInterval(() => response.write('x'.repeat(10_000)), 1)
    response.on('close', () => clearInterval(timer))
  })
  const { ask } = await proxyTo(url)
  expect(await (await ask('/v1/models')).text()).toBe(documented)
})
