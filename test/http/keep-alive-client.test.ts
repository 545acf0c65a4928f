import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parserFactory } from '../../src/http/proxy/answer-parser.js'
import { runs } from '../runs.js'
import { hello } from '../scene.js'
import { onTheWire, wireTo } from '../wire.js'
import { listening, proxyTo } from './live.js'

// Documented paths go through a client of our own, and undocumented ones through node's. Neither the caller nor the live platform may notice a difference.

const bodies = fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes).toString('latin1'))
const trailers = fc.constantFrom('', 'X-Sum: 1\r\n')
const chunked = (body: string, trailer: string) =>
  `${body && `${body.length.toString(16)};x=1\r\n${body}\r\n`}0\r\n${trailer}\r\n`

/** The header that frames a body, and the body. */
const wellFormed = fc.oneof(
  bodies.map(body => `Content-Length: ${body.length}\r\n\r\n${body}`),
  fc.tuple(bodies, trailers).map(parts => `Transfer-Encoding: chunked\r\n\r\n${chunked(...parts)}`),
  // The body ends with the connection.
  bodies.map(body => `\r\n${body}`),
)

const malformed = fc.oneof(
  bodies.map(body => `Content-Length: ${body.length + 3}\r\n\r\n${body}`),
  bodies.map(body => `Content-Length: ${body.length}\r\n\r\n${body}HTTP/1.1 200 OK\r\n\r\n`),
  fc.constantFrom('Content-Length: x\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\nz\r\n', 'no header\r\n\r\n', 'X-Y: '),
)

const name = fc.stringMatching(/^X-[A-Za-z-]{1,8}$/)
const value = fc.stringMatching(/^[!-~\xa1-\xff]([ -~\xa1-\xff]{0,20}[!-~\xa1-\xff])?$/)

const heads = fc
  .record({
    before: fc.constantFrom('', '', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
    status: fc.constantFrom('200 OK', '201', '204 No Content', '304 Not Modified', '299 Gr\xfc\xdfe', '099 X'),
    version: fc.constantFrom('1.1', '1.1', '1.0'),
    // Enough for node's parser to report them in parts.
    headers: fc.array(fc.tuple(name, value), { maxLength: 40 }),
    connection: fc.constantFrom('', 'Connection: close\r\n', 'Connection: keep-alive, X-A\r\nX-A: 1\r\n'),
  })
  .map(({ before, status, version, headers, connection }) => {
    const lines = headers.map(header => `${header.join(': ')}\r\n`).join('')
    return `${before}HTTP/${version} ${status}\r\nDate: today\r\n${lines}${connection}`
  })

/** Answers, in the pieces in which they are sent. */
const answers = fc.oneof(
  fc.tuple(heads, wellFormed, fc.nat(400)).map(([head, rest, at]) => {
    const answer = head + rest
    return [answer.slice(0, at), answer.slice(at)]
  }),
  fc.tuple(heads, malformed).map(([head, rest]) => [head + rest]),
)

/** A live platform that keeps the request in `answer.received`, sends `answer.pieces`, and ends the connection. */
async function liveThatSends() {
  const answer = { pieces: [''] as readonly string[], received: '' }
  const server = createServer(async socket => {
    socket.on('error', () => {}).setNoDelay()
    const [received] = await once(socket, 'data')
    answer.received = received.toString('latin1')
    for (const piece of answer.pieces) await new Promise(sent => socket.write(piece, 'latin1', sent))
    socket.end()
  })
  return { answer, url: await listening(server) }
}

/** An answer without what varies: its chunks, its request id, and the number of earlier findings. */
function normalized(answer: string) {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const isChunked = /^transfer-encoding: chunked/im.test(head)
  let body = rest.join('\r\n\r\n')
  const isWhole = !isChunked || /(^|\r\n)0\r\n\r\n$/.test(body)
  for (let left = isChunked ? body : ''; left !== ''; ) {
    if (left === body) body = ''
    const [size = ''] = left.split('\r\n', 1)
    const from = size.length + 2
    body += left.slice(from, from + Number.parseInt(size, 16))
    left = left.slice(from + Number.parseInt(size, 16) + 2)
  }
  const lines = head
    .split('\r\n')
    .filter(line => !/^(transfer-encoding|content-length|date|x-standin-violations|x-request-id):/i.test(line))
  return { lines, body, isWhole }
}

test("a caller gets the same answer as through node's client", async () => {
  const { answer, url } = await liveThatSends()
  const { apiKey, url: platformUrl } = await proxyTo(url)
  const headers = [`Authorization: Bearer ${apiKey}`, 'Connection: close']
  const get = async (request: string) => {
    const wire = await wireTo(platformUrl)
    await wire.say(onTheWire(request, headers))
    return normalized(await wire.rest().catch(error => error.code))
  }
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('GET', 'GET', 'HEAD'), answers, async (method, pieces) => {
      answer.pieces = pieces
      expect(await get(`${method} /v1/models`)).toEqual(await get(`${method} /v1/elsewhere`))
    }),
    { numRuns: runs(500) },
  )
})

test('trailers after a long head do not become headers', async () => {
  const { answer, url } = await liveThatSends()
  const { ask } = await proxyTo(url)
  const long = Array.from({ length: 40 }, (_, i) => `X-${i}: 1\r\n`).join('')
  const head = `HTTP/1.1 200 OK\r\n${long}Transfer-Encoding: chunked\r\n\r\n`
  answer.pieces = [head + chunked('whole', 'Set-Cookie: late=1\r\n')]
  const { headers } = await ask('/v1/models')
  expect([headers.get('x-39'), headers.get('set-cookie')]).toEqual(['1', null])
})

test("the live platform gets the same request as from node's client", async () => {
  const { answer, url } = await liveThatSends()
  const { apiKey, url: platformUrl } = await proxyTo(url)
  answer.pieces = ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n']
  const received = async (path: string, headers: readonly string[], body: string) => {
    const wire = await wireTo(platformUrl)
    await wire.say(onTheWire(path, [`Authorization: Bearer ${apiKey}`, 'Connection: close', ...headers], body))
    await wire.rest()
    return answer.received.replace(/ \/v1\/\S+/, '')
  }
  const own = fc.array(fc.tuple(name, value), { maxLength: 5 }).map(all => all.map(header => header.join(': ')))
  const sent = fc.constantFrom(
    ['GET', 'models', ''],
    ['HEAD', 'models?a=b', ''],
    ['POST', 'chat/completions', JSON.stringify(hello)],
  )
  await fc.assert(
    fc.asyncProperty(sent, own, async ([method, path, body = ''], headers) => {
      const other = await received(`${method} /v1/elsewhere`, headers, body)
      expect(await received(`${method} /v1/${path}`, headers, body)).toBe(other)
    }),
    { numRuns: runs(200) },
  )
})

test.each([
  ['no parser', undefined],
  ['another parser', new (class Parser {})()],
  [
    'a parser that reports nothing',
    new (class Parser {
      initialize() {}
      execute() {}
      close() {}
    })(),
  ],
])("a connection with %s falls back to node's client", (_what, parser) => {
  expect(parserFactory({ socket: { parser } } as unknown as IncomingMessage)).toBe(undefined)
})
