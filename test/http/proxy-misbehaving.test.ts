import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net, { type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { listening, liveKey, liveWith, proxyTo } from './live.js'

/** What a client may get: the whole body, a documented error, or part of the body and a broken connection. */
type Expected =
  | { readonly status: number; readonly body: string }
  | { readonly error: 502 | 504 }
  | { readonly cutAfter: string }

interface Misbehaviour {
  readonly how: string
  /** The answer to one request, on the bare socket. */
  respond(socket: Socket): void
  readonly expected: Expected
}

const all = (body: string, status = 200): Expected => ({ status, body })
const refused: Expected = { error: 502 }
const late: Expected = { error: 504 }
const cut = (cutAfter: string): Expected => ({ cutAfter })

/** A head with these lines, and a body in which each character is a byte. */
const answer = (lines: readonly string[], body = '') => ['HTTP/1.1 200 OK', ...lines, '', body].join('\r\n')
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const chunked = (...pieces: readonly string[]) => answer(['Transfer-Encoding: chunked'], pieces.map(chunk).join(''))
const lastChunk = '0\r\n\r\n'
const asBytes = (text: string) => Buffer.from(text).toString('latin1')

const writes = (text: string) => (socket: Socket) => void socket.write(text, 'latin1')
const writesAndCloses = (text: string) => (socket: Socket) => void socket.end(text, 'latin1')
const writesAndResets = (text: string) => (socket: Socket) =>
  void socket.write(text, 'latin1', () => setTimeout(() => socket.resetAndDestroy(), 20))
/** One piece in each network packet. */
const drips = (pieces: Iterable<string>) => async (socket: Socket) => {
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

const zipped = gzipSync('{"ok":true}').toString('latin1')

const misbehaviours: readonly Misbehaviour[] = [
  { how: 'sends nothing', respond: () => {}, expected: late },
  { how: 'closes the connection immediately', respond: socket => socket.end(), expected: refused },
  { how: 'resets the connection immediately', respond: socket => socket.resetAndDestroy(), expected: refused },
  { how: 'speaks another protocol', respond: writesAndCloses('SSH-2.0-OpenSSH_9.2\r\n'), expected: refused },
  {
    how: 'speaks HTTP/2 without being asked',
    respond: writes('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    expected: refused,
  },
  {
    how: 'closes in the middle of the head',
    respond: writesAndCloses('HTTP/1.1 200 OK\r\nContent-Le'),
    expected: refused,
  },
  { how: 'stalls in the middle of the head', respond: writes('HTTP/1.1 200 OK\r\nContent-Le'), expected: late },
  { how: 'has a status below 100', respond: writes('HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n'), expected: refused },
  {
    how: 'has an unknown status',
    respond: writes('HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\n{}'),
    expected: refused,
  },
  {
    how: 'has no reason phrase',
    respond: writes('HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}'),
    expected: all('{}'),
  },
  {
    how: 'has a header without a colon',
    respond: writes(answer(['what is this', 'Content-Length: 0'])),
    expected: refused,
  },
  {
    how: 'has a zero byte in a header',
    respond: writes(answer(['X-Odd: a\0b', 'Content-Length: 0'])),
    expected: refused,
  },
  {
    how: 'has a header that is too long',
    respond: writes(answer([`X-Long: ${'x'.repeat(100_000)}`])),
    expected: refused,
  },
  {
    how: 'switches protocols without being asked',
    respond: writes('HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n'),
    expected: refused,
  },
  {
    how: 'sends 100 Continue before it answers',
    respond: writes(`HTTP/1.1 100 Continue\r\n\r\n${answer(['Content-Length: 2'], '{}')}`),
    expected: all('{}'),
  },
  {
    how: 'sends early hints before it answers',
    respond: writes(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${answer(['Content-Length: 2'], '{}')}`),
    expected: all('{}'),
  },
  {
    how: 'sends 100 Continue and closes',
    respond: writesAndCloses('HTTP/1.1 100 Continue\r\n\r\n'),
    expected: refused,
  },
  { how: 'sends 100 Continue and stalls', respond: writes('HTTP/1.1 100 Continue\r\n\r\n'), expected: late },
  {
    how: 'has a body shorter than its Content-Length, and closes',
    respond: writesAndCloses(answer(['Content-Length: 10'], 'short')),
    expected: cut('short'),
  },
  {
    how: 'has a body shorter than its Content-Length, and resets',
    respond: writesAndResets(answer(['Content-Length: 10'], 'short')),
    expected: cut('short'),
  },
  {
    how: 'has a body shorter than its Content-Length, and stalls',
    respond: writes(answer(['Content-Length: 10'], 'short')),
    expected: cut('short'),
  },
  {
    how: 'has a body longer than its Content-Length',
    respond: writes(answer(['Content-Length: 2'], '{}and more of it')),
    expected: all('{}'),
  },
  {
    how: 'has two Content-Length headers',
    respond: writes(answer(['Content-Length: 2', 'Content-Length: 4'], '{}{}')),
    expected: refused,
  },
  {
    how: 'has a Content-Length and chunked encoding',
    respond: writes(answer(['Content-Length: 2', 'Transfer-Encoding: chunked'], chunk('{}') + lastChunk)),
    expected: refused,
  },
  {
    how: 'has a Content-Length that is not a number',
    respond: writes(answer(['Content-Length: two'], '{}')),
    expected: refused,
  },
  { how: 'has a negative Content-Length', respond: writes(answer(['Content-Length: -1'], '{}')), expected: refused },
  {
    how: 'answers twice',
    respond: writes(answer(['Content-Length: 3'], 'one') + answer(['Content-Length: 3'], 'two')),
    expected: all('one'),
  },
  { how: 'has a chunk size that is not a number', respond: writes(`${chunked('one')}zz\r\n`), expected: refused },
  { how: 'has a chunk longer than its size', respond: writes(`${chunked('one')}1\r\ntwo\r\n`), expected: refused },
  { how: 'closes between two chunks', respond: writesAndCloses(chunked('one')), expected: cut('one') },
  {
    how: 'closes in the middle of a chunk',
    respond: writesAndCloses(`${chunked('one')}a\r\ntwo`),
    expected: cut('onetwo'),
  },
  { how: 'resets between two chunks', respond: writesAndResets(chunked('one')), expected: cut('one') },
  { how: 'stalls between two chunks', respond: writes(chunked('one')), expected: cut('one') },
  {
    how: 'has trailers after its chunks',
    respond: writes(`${answer(['Trailer: X-Sum', 'Transfer-Encoding: chunked'], chunk('one'))}0\r\nX-Sum: 1\r\n\r\n`),
    expected: all('one'),
  },
  {
    how: 'has chunk extensions',
    respond: writes(`${answer(['Transfer-Encoding: chunked'])}3;a=b\r\none\r\n${lastChunk}`),
    expected: all('one'),
  },
  {
    how: 'splits characters between chunks',
    respond: drips([chunked(), ...asBytes('né😀').split('').map(chunk), lastChunk]),
    expected: all('né😀'),
  },
  { how: 'sends byte by byte', respond: drips(chunked('one', 'two') + lastChunk), expected: all('onetwo') },
  {
    how: 'sends byte by byte, with a Content-Length',
    respond: drips(answer(['Content-Length: 5'], 'whole')),
    expected: all('whole'),
  },
  {
    how: 'uses a transfer encoding that was not requested',
    respond: writes(answer(['Transfer-Encoding: gzip, chunked'], chunk(zipped) + lastChunk)),
    expected: refused,
  },
  {
    how: 'declares gzip for a body that is not',
    respond: writes(answer(['Content-Encoding: gzip', 'Content-Length: 5'], 'plain')),
    expected: all('plain'),
  },
  {
    how: 'truncates a gzip body, with a matching Content-Length',
    respond: writes(answer(['Content-Encoding: gzip', 'Content-Length: 9'], zipped.slice(0, 9))),
    expected: all(Buffer.from(zipped.slice(0, 9), 'latin1').toString()),
  },
  { how: 'sends a body with a 204', respond: writes('HTTP/1.1 204 No Content\r\n\r\nbody'), expected: all('', 204) },
  {
    how: 'sends a Content-Length with a 304',
    respond: writes('HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n'),
    expected: all('', 304),
  },
  { how: 'supports only HTTP/1.0', respond: writesAndCloses('HTTP/1.0 200 OK\r\n\r\nold'), expected: all('old') },
  {
    how: 'supports only HTTP/1.0, and resets in the middle',
    respond: writesAndResets('HTTP/1.0 200 OK\r\n\r\nold'),
    expected: cut('old'),
  },
  {
    how: 'closes after an answer without announcing it',
    respond: writesAndCloses(answer(['Content-Length: 2'], '{}')),
    expected: all('{}'),
  },
  {
    how: 'resets after an answer without announcing it',
    respond: writesAndResets(answer(['Content-Length: 2'], '{}')),
    expected: all('{}'),
  },
]

/** A live platform that misbehaves until `manners.good` is set. */
async function misbehaving(respond: (socket: Socket) => void) {
  const manners = { good: false }
  const server = net.createServer(socket => {
    onTestFinished(() => void socket.destroy())
    socket
      .on('error', () => {})
      .on('data', () => {
        if (manners.good) writes(answer(['Content-Length: 4'], 'well'))(socket)
        else respond(socket)
      })
  })
  return { url: await listening(server), manners }
}

/** Asks for the models, and reads until the response closes. */
async function readModels(url: string, apiKey: string) {
  const request = http.get(`${url}/v1/models`, { agent: false, headers: { authorization: `Bearer ${apiKey}` } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  request.on('error', () => {})
  response.on('data', piece => chunks.push(piece)).on('error', () => {})
  await new Promise(closed => response.once('close', closed))
  const { statusCode: status, headers, trailers, complete } = response
  return { status, headers, trailers, complete, body: Buffer.concat(chunks).toString() }
}

test.each(misbehaviours.map(one => [one.how, one] as const))(
  'the client gets the whole answer, an error or a visible cut from a live platform that %s',
  async (_how, { respond, expected }) => {
    const { url, manners } = await misbehaving(respond)
    // Short only where the live platform may stall: on a busy machine, every other answer may take longer.
    const timeoutMs = expected === late || 'cutAfter' in expected ? 500 : 10_000
    const platform = await proxyTo(url, { upstream: { timeoutMs } })
    const { status, headers, trailers, complete, body } = await readModels(platform.url, platform.apiKey)
    if ('error' in expected) {
      expect([status, complete, headers['content-type']]).toEqual([expected.error, true, 'application/json'])
      expect(JSON.parse(body)).toEqual({ error: expect.stringMatching(/^The live platform .+\.$/) })
    } else if ('cutAfter' in expected) {
      expect([complete, body]).toEqual([false, expected.cutAfter])
    } else {
      expect([status, complete, body]).toEqual([expected.status, true, expected.body])
      expect([trailers, headers.trailer]).toEqual([{}, undefined])
    }

    manners.good = true
    expect(await readModels(platform.url, platform.apiKey)).toMatchObject({ status: 200, complete: true, body: 'well' })
  },
)

test('an HTTP/1.0 client sees an answer that is cut as a reset', async () => {
  const { url, nextRequest } = await liveWith((_request, response) => response.writeHead(200).write('begun'))
  const platform = await proxyTo(url)
  const { hostname, port } = new URL(platform.url)
  const socket = net.connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const arrived = nextRequest()
  socket.write(`GET /v1/models HTTP/1.0\r\nAuthorization: Bearer ${platform.apiKey}\r\n\r\n`)
  const [, live] = await arrived
  await once(socket, 'data')
  live.destroy()
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ECONNRESET')
})

test('an answer that the live platform sends before it has read the body reaches the client', async () => {
  const early = (socket: Socket) => void socket.end(`${answer(['Content-Length: 5', 'Connection: close'], 'early')}`)
  const { url } = await misbehaving(early)
  const { ask } = await proxyTo(url)
  const response = await ask('/v1/files', { method: 'POST', body: Buffer.alloc(50_000) })
  expect(await response.text()).toBe('early')
})

test('16 MB are sent in both directions, byte for byte', async () => {
  const size = 16 * 1024 * 1024
  const body = Buffer.alloc(size)
  for (let at = 0; at < size; at += 4) body.writeUInt32LE((at * 2_654_435_761) >>> 0, at)
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  const { url, seen } = await liveWith((_request, response) => void response.end(seen.at(-1)?.body))
  const { ask } = await proxyTo(url, { limits: { bodyBytes: size } })
  const response = await ask('/v1/files', { method: 'POST', body })
  expect(digest(Buffer.from(await response.arrayBuffer()))).toBe(digest(body))
  expect(seen[0]?.request.headers).toMatchObject({ 'content-length': String(size), authorization: `Bearer ${liveKey}` })
})

test('when the live platform dies in the middle of a hundred answers, all clients are cut off, and all are answered afterwards', async () => {
  const { url, manners } = await misbehaving(writesAndResets(chunked('begun')))
  const platform = await proxyTo(url)
  const crowd = () => Promise.all(Array.from({ length: 100 }, () => readModels(platform.url, platform.apiKey)))
  for (const received of await crowd()) expect(received).toMatchObject({ complete: false, body: 'begun' })
  manners.good = true
  for (const received of await crowd()) expect(received).toMatchObject({ complete: true, body: 'well' })
})
