import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net, { type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { listening, liveKey, liveWith, proxyTo } from './live.js'

/** What a client may get: all the bytes, a documented error, or a part of the answer and a connection that is torn. */
type Course =
  | { readonly status: number; readonly body: string }
  | { readonly error: 502 | 504 }
  | { readonly cutAfter: string }

interface Misbehaviour {
  readonly how: string
  /** The answer to one request, on the bare socket. */
  speak(socket: Socket): void
  readonly course: Course
}

const all = (body: string, status = 200): Course => ({ status, body })
const refused: Course = { error: 502 }
const late: Course = { error: 504 }
const cut = (cutAfter: string): Course => ({ cutAfter })

/** The lines of a head and what stands behind it; letters are bytes. */
const answer = (lines: readonly string[], body = '') => ['HTTP/1.1 200 OK', ...lines, '', body].join('\r\n')
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const chunked = (...pieces: readonly string[]) => answer(['Transfer-Encoding: chunked'], pieces.map(chunk).join(''))
const lastChunk = '0\r\n\r\n'
const letters = (text: string) => Buffer.from(text).toString('latin1')

const says = (text: string) => (socket: Socket) => void socket.write(text, 'latin1')
const saysAndCloses = (text: string) => (socket: Socket) => void socket.end(text, 'latin1')
const saysAndResets = (text: string) => (socket: Socket) =>
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
  { how: 'says nothing', speak: () => {}, course: late },
  { how: 'closes the connection at once', speak: socket => socket.end(), course: refused },
  { how: 'resets the connection at once', speak: socket => socket.resetAndDestroy(), course: refused },
  { how: 'speaks another protocol', speak: saysAndCloses('SSH-2.0-OpenSSH_9.2\r\n'), course: refused },
  { how: 'speaks HTTP/2 without being asked', speak: says('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), course: refused },
  { how: 'closes in the middle of the head', speak: saysAndCloses('HTTP/1.1 200 OK\r\nContent-Le'), course: refused },
  { how: 'falls silent in the middle of the head', speak: says('HTTP/1.1 200 OK\r\nContent-Le'), course: late },
  { how: 'has a status below 100', speak: says('HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n'), course: refused },
  {
    how: 'has an unknown status',
    speak: says('HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\n{}'),
    course: refused,
  },
  {
    how: 'has no reason behind its status',
    speak: says('HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}'),
    course: all('{}'),
  },
  { how: 'has a header without a colon', speak: says(answer(['what is this', 'Content-Length: 0'])), course: refused },
  { how: 'has a zero byte in a header', speak: says(answer(['X-Odd: a\0b', 'Content-Length: 0'])), course: refused },
  {
    how: 'has more headers than anybody reads',
    speak: says(answer([`X-Long: ${'x'.repeat(100_000)}`])),
    course: refused,
  },
  {
    how: 'changes the protocol without being asked',
    speak: says('HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n'),
    course: refused,
  },
  {
    how: 'says 100 before it answers',
    speak: says(`HTTP/1.1 100 Continue\r\n\r\n${answer(['Content-Length: 2'], '{}')}`),
    course: all('{}'),
  },
  {
    how: 'gives hints before it answers',
    speak: says(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${answer(['Content-Length: 2'], '{}')}`),
    course: all('{}'),
  },
  { how: 'says 100 and closes', speak: saysAndCloses('HTTP/1.1 100 Continue\r\n\r\n'), course: refused },
  { how: 'says 100 and falls silent', speak: says('HTTP/1.1 100 Continue\r\n\r\n'), course: late },
  {
    how: 'has a shorter body than it says, and closes',
    speak: saysAndCloses(answer(['Content-Length: 10'], 'short')),
    course: cut('short'),
  },
  {
    how: 'has a shorter body than it says, and resets',
    speak: saysAndResets(answer(['Content-Length: 10'], 'short')),
    course: cut('short'),
  },
  {
    how: 'has a shorter body than it says, and falls silent',
    speak: says(answer(['Content-Length: 10'], 'short')),
    course: cut('short'),
  },
  {
    how: 'has a longer body than it says',
    speak: says(answer(['Content-Length: 2'], '{}and more of it')),
    course: all('{}'),
  },
  { how: 'has two lengths', speak: says(answer(['Content-Length: 2', 'Content-Length: 4'], '{}{}')), course: refused },
  {
    how: 'has a length and chunks',
    speak: says(answer(['Content-Length: 2', 'Transfer-Encoding: chunked'], chunk('{}') + lastChunk)),
    course: refused,
  },
  { how: 'has a length that is no number', speak: says(answer(['Content-Length: two'], '{}')), course: refused },
  { how: 'has a length below zero', speak: says(answer(['Content-Length: -1'], '{}')), course: refused },
  {
    how: 'answers twice',
    speak: says(answer(['Content-Length: 3'], 'one') + answer(['Content-Length: 3'], 'two')),
    course: all('one'),
  },
  { how: 'has chunks whose sizes are no numbers', speak: says(`${chunked('one')}zz\r\n`), course: refused },
  { how: 'has a chunk that is longer than it says', speak: says(`${chunked('one')}1\r\ntwo\r\n`), course: refused },
  { how: 'closes between two chunks', speak: saysAndCloses(chunked('one')), course: cut('one') },
  { how: 'closes in the middle of a chunk', speak: saysAndCloses(`${chunked('one')}a\r\ntwo`), course: cut('onetwo') },
  { how: 'resets between two chunks', speak: saysAndResets(chunked('one')), course: cut('one') },
  { how: 'falls silent between two chunks', speak: says(chunked('one')), course: cut('one') },
  {
    how: 'has trailers behind its chunks',
    speak: says(`${answer(['Trailer: X-Sum', 'Transfer-Encoding: chunked'], chunk('one'))}0\r\nX-Sum: 1\r\n\r\n`),
    course: all('one'),
  },
  {
    how: 'has extensions on its chunks',
    speak: says(`${answer(['Transfer-Encoding: chunked'])}3;a=b\r\none\r\n${lastChunk}`),
    course: all('one'),
  },
  {
    how: 'has chunks that end inside characters',
    speak: drips([chunked(), ...letters('né😀').split('').map(chunk), lastChunk]),
    course: all('né😀'),
  },
  { how: 'speaks letter by letter', speak: drips(chunked('one', 'two') + lastChunk), course: all('onetwo') },
  {
    how: 'speaks letter by letter, with a length',
    speak: drips(answer(['Content-Length: 5'], 'whole')),
    course: all('whole'),
  },
  {
    how: 'encodes chunks in a way that was not asked for',
    speak: says(answer(['Transfer-Encoding: gzip, chunked'], chunk(zipped) + lastChunk)),
    course: refused,
  },
  {
    how: 'says gzip of what is none',
    speak: says(answer(['Content-Encoding: gzip', 'Content-Length: 5'], 'plain')),
    course: all('plain'),
  },
  {
    how: 'breaks a gzip off, and says that it is whole',
    speak: says(answer(['Content-Encoding: gzip', 'Content-Length: 9'], zipped.slice(0, 9))),
    course: all(Buffer.from(zipped.slice(0, 9), 'latin1').toString()),
  },
  { how: 'has a body behind a 204', speak: says('HTTP/1.1 204 No Content\r\n\r\nbody'), course: all('', 204) },
  {
    how: 'has a length on a 304',
    speak: says('HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n'),
    course: all('', 304),
  },
  { how: 'knows HTTP/1.0 alone', speak: saysAndCloses('HTTP/1.0 200 OK\r\n\r\nold'), course: all('old') },
  {
    how: 'knows HTTP/1.0 alone, and resets in the middle',
    speak: saysAndResets('HTTP/1.0 200 OK\r\n\r\nold'),
    course: cut('old'),
  },
  {
    how: 'closes after an answer without a word',
    speak: saysAndCloses(answer(['Content-Length: 2'], '{}')),
    course: all('{}'),
  },
  {
    how: 'resets after an answer without a word',
    speak: saysAndResets(answer(['Content-Length: 2'], '{}')),
    course: all('{}'),
  },
]

/** A live platform that misbehaves for as long as it is told to. */
async function misbehaving(speak: (socket: Socket) => void) {
  const manners = { good: false }
  const server = net.createServer(socket => {
    onTestFinished(() => void socket.destroy())
    socket
      .on('error', () => {})
      .on('data', () => {
        if (manners.good) says(answer(['Content-Length: 4'], 'well'))(socket)
        else speak(socket)
      })
  })
  return { url: await listening(server), manners }
}

/** What a client gets that listens for as long as there is something to hear. */
async function hear(url: string, apiKey: string) {
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
  'a live platform that %s',
  async (_how, { speak, course }) => {
    const { url, manners } = await misbehaving(speak)
    // Short only where the live platform falls silent: on a busy machine, an answer that comes letter by letter takes long.
    const timeoutMs = 'body' in course ? 10_000 : 500
    const platform = await proxyTo(url, { upstream: { firstByteTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs } })
    const { status, headers, trailers, complete, body } = await hear(platform.url, platform.apiKey)
    if ('error' in course) {
      expect([status, complete, headers['content-type']]).toEqual([course.error, true, 'application/json'])
      expect(JSON.parse(body)).toEqual({ error: expect.stringMatching(/^The live platform .+\.$/) })
    } else if ('cutAfter' in course) {
      expect([complete, body]).toEqual([false, course.cutAfter])
    } else {
      expect([status, complete, body]).toEqual([course.status, true, course.body])
      expect([trailers, headers.trailer]).toEqual([{}, undefined])
    }

    manners.good = true
    expect(await hear(platform.url, platform.apiKey)).toMatchObject({ status: 200, complete: true, body: 'well' })
  },
)

test('a client of HTTP/1.0 cannot take a part for the whole: its connection is reset', async () => {
  const { url, nextRequest } = await liveWith((_request, response) => response.writeHead(200).write('begun'))
  const platform = await proxyTo(url)
  const { hostname, port } = new URL(platform.url)
  const socket = net.connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const asked = nextRequest()
  socket.write(`GET /v1/models HTTP/1.0\r\nAuthorization: Bearer ${platform.apiKey}\r\n\r\n`)
  const [, live] = await asked
  await once(socket, 'data')
  live.destroy()
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ECONNRESET')
})

test('a live platform that answers before it has read the body is heard', async () => {
  const early = (socket: Socket) => void socket.end(`${answer(['Content-Length: 5', 'Connection: close'], 'early')}`)
  const { url } = await misbehaving(early)
  const { ask } = await proxyTo(url)
  const response = await ask('/v1/files', { method: 'POST', body: Buffer.alloc(50_000) })
  expect(await response.text()).toBe('early')
})

test('16 MB go both ways, byte for byte', async () => {
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

test('a hundred clients of a live platform that dies in the middle are all cut, and all are answered afterwards', async () => {
  const { url, manners } = await misbehaving(saysAndResets(chunked('begun')))
  const platform = await proxyTo(url)
  const crowd = () => Promise.all(Array.from({ length: 100 }, () => hear(platform.url, platform.apiKey)))
  for (const heard of await crowd()) expect(heard).toMatchObject({ complete: false, body: 'begun' })
  manners.good = true
  for (const heard of await crowd()) expect(heard).toMatchObject({ complete: true, body: 'well' })
})
