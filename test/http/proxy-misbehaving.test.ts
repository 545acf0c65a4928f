import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net, { type Socket } from 'node:net'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { runs } from '../runs.js'
import { hello } from '../scene.js'
import { listening, liveKey, liveOnSocket, liveWith, proxyTo, send } from './live.js'

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
  /** The only path at which this is expected. */
  readonly at?: string
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

const writes = (text: string) => (socket: Socket) => void socket.write(text, 'latin1')
const writesAndCloses = (text: string) => (socket: Socket) => void socket.end(text, 'latin1')
const writesAndResets = (text: string) => (socket: Socket) =>
  void socket.write(text, 'latin1', () => setTimeout(() => socket.resetAndDestroy(), 20))

const misbehaviours: readonly Misbehaviour[] = [
  { how: 'sends nothing', respond: () => {}, expected: late },
  { how: 'closes the connection immediately', respond: socket => socket.end(), expected: refused },
  { how: 'resets the connection immediately', respond: socket => socket.resetAndDestroy(), expected: refused },
  { how: 'has a status below 100', respond: writes('HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n'), expected: refused },
  {
    how: 'has an unknown status',
    respond: writes('HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\n{}'),
    expected: refused,
  },
  {
    how: 'switches protocols without being asked',
    respond: writes('HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n'),
    expected: refused,
  },
  {
    how: 'sends 100 Continue although nobody waits for it, and nothing more',
    respond: writes('HTTP/1.1 100 Continue\r\n\r\n'),
    expected: late,
  },
  {
    how: 'has a body shorter than its Content-Length, and stalls',
    respond: writes(answer(['Content-Length: 10'], 'short')),
    expected: cut('short'),
  },
  {
    how: 'has a Content-Length and chunked encoding',
    respond: writes(answer(['Content-Length: 2', 'Transfer-Encoding: chunked'], chunk('{}') + lastChunk)),
    expected: refused,
  },
  { how: 'closes between two chunks', respond: writesAndCloses(chunked('one')), expected: cut('one') },
  { how: 'stalls between two chunks', respond: writes(chunked('one')), expected: cut('one') },
  {
    how: 'has trailers after its chunks',
    respond: writes(`${answer(['Trailer: X-Sum', 'Transfer-Encoding: chunked'], chunk('one'))}0\r\nX-Sum: 1\r\n\r\n`),
    expected: all('one'),
  },
  { how: 'sends a body with a 204', respond: writes('HTTP/1.1 204 No Content\r\n\r\nbody'), expected: all('', 204) },
  {
    how: 'sends a last chunk with a 204',
    respond: writes(`HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n${lastChunk}`),
    expected: all('', 204),
  },
  {
    how: 'names the length of what a 304 would have',
    respond: writes('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'),
    expected: all('', 304),
  },
  {
    how: 'sends more than its Content-Length',
    respond: writes(answer(['Content-Length: 2'], '{}and more')),
    expected: all('{}'),
  },
  { how: 'answers with a greeting of SMTP', respond: writes('220 mail.example ESMTP\r\n'), expected: refused },
  {
    // Undici takes any end of the connection for the end of such a body, node does not.
    at: '/v1/models',
    how: 'ends a body without a length by a reset',
    respond: writesAndResets('HTTP/1.0 200 OK\r\n\r\nold'),
    expected: all('old'),
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

/** Asks, and reads until the response closes. */
async function read(url: string, apiKey: string) {
  const request = http.get(url, { agent: false, headers: { authorization: `Bearer ${apiKey}` } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  request.on('error', () => {})
  response.on('data', piece => chunks.push(piece)).on('error', () => {})
  await new Promise(closed => response.once('close', closed))
  const { statusCode: status, headers, trailers, complete } = response
  return { status, headers, trailers, complete, body: Buffer.concat(chunks).toString() }
}

/** A documented path and another one, which have clients of their own. */
const paths = ['/v1/models', '/v1/things']

const everywhere = paths.flatMap(path =>
  misbehaviours.filter(({ at = path }) => at === path).map(one => [path, one.how, one] as const),
)

test.each(everywhere)(
  'at %s, the client gets the whole answer, an error or a visible cut from a live platform that %s',
  async (path, _how, { respond, expected }) => {
    const { url, manners } = await misbehaving(respond)
    // Short only where the live platform may stall: on a busy machine, every other answer may take longer.
    const timeoutMs = expected === late || 'cutAfter' in expected ? 500 : 10_000
    const platform = await proxyTo(url, { upstream: { timeoutMs } })
    const { status, headers, trailers, complete, body } = await read(platform.url + path, platform.apiKey)
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
    expect(await read(platform.url + path, platform.apiKey)).toMatchObject({
      status: 200,
      complete: true,
      body: 'well',
    })
  },
)

const CHAT = '/v1/chat/completions'
const chat: Readonly<Record<string, object>> = { [CHAT]: { method: 'POST', body: JSON.stringify(hello) } }

const bodies = fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes).toString('latin1'))

/** An answer in any two pieces, and what the client must get of it. */
const validAnswers = fc
  .record({
    before: fc.array(fc.constantFrom('103 Early Hints\r\nLink: </a>', '100 Continue', '100 \r\nX-Why: no'), {
      maxLength: 2,
    }),
    status: fc.constantFrom('200 OK', '201', '299 Gr\xfc\xdfe'),
    version: fc.constantFrom('1.1', '1.0'),
    value: fc.stringMatching(/^[!-~\xa1-\xff]([ -~\xa1-\xff]{0,20}[!-~\xa1-\xff])?$/),
    framing: fc.constantFrom('length', 'chunks', 'connection'),
    body: bodies,
    splitAt: fc.nat(200),
  })
  .map(({ before, status, version, value, framing, body, splitAt }) => {
    const informational = before.map(head => `HTTP/1.1 ${head}\r\n\r\n`).join('')
    const head = `${informational}HTTP/${version} ${status}\r\nX-Value: ${value}\r\n`
    const text = {
      length: `${head}Content-Length: ${body.length}\r\n\r\n${body}`,
      chunks: `${head}Transfer-Encoding: chunked\r\n\r\n${body && chunk(body)}${lastChunk}`,
      connection: `${head}\r\n${body}`,
    }[framing]
    return { pieces: [text.slice(0, splitAt), text.slice(splitAt)], status: Number.parseInt(status, 10), value, body }
  })

test('a request is sent once, and any valid answer arrives with its status, its headers and its bytes, however the network splits it', async () => {
  let pieces: readonly string[] = []
  let requests = 0
  const url = await liveOnSocket(async socket => {
    requests++
    for (const piece of pieces) await new Promise(sent => socket.write(piece, 'latin1', sent))
    socket.end()
  })
  const platform = await proxyTo(url)
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths, CHAT), validAnswers, async (path, { status, value, body, ...sent }) => {
      pieces = sent.pieces
      requests = 0
      const headers = { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' }
      const received = await send(platform.url + path, { headers, ...chat[path] })
      expect(requests).toBe(1)
      expect([received.status, received.headers['x-value']]).toEqual([status, value])
      expect(received.body.toString('latin1')).toBe(body)
    }),
    { numRuns: runs(100) },
  )
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
