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

// Documented paths are carried by a client of our own, and undocumented ones by node's. Neither side may notice a difference.

const bodies = fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes).toString('latin1'))
const trailers = fc.constantFrom('', 'X-Sum: 1\r\n')
const chunked = (body: string, trailer: string) =>
  `${body && `${body.length.toString(16)};x=1\r\n${body}\r\n`}0\r\n${trailer}\r\n`

/** The length of a body, and the body. */
const sound = fc.oneof(
  bodies.map(body => `Content-Length: ${body.length}\r\n\r\n${body}`),
  fc.tuple(bodies, trailers).map(parts => `Transfer-Encoding: chunked\r\n\r\n${chunked(...parts)}`),
  // The end of the connection is the end of the body.
  bodies.map(body => `\r\n${body}`),
)

const unsound = fc.oneof(
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
    // So many that node's parser reports them in parts.
    headers: fc.array(fc.tuple(name, value), { maxLength: 40 }),
    connection: fc.constantFrom('', 'Connection: close\r\n', 'Connection: keep-alive, X-A\r\nX-A: 1\r\n'),
  })
  .map(({ before, status, version, headers, connection }) => {
    const lines = headers.map(header => `${header.join(': ')}\r\n`).join('')
    return `${before}HTTP/${version} ${status}\r\nDate: today\r\n${lines}${connection}`
  })

/** Answers in the pieces in which they are sent. */
const answers = fc.oneof(
  fc.tuple(heads, sound, fc.nat(400)).map(([head, rest, at]) => {
    const answer = head + rest
    return [answer.slice(0, at), answer.slice(at)]
  }),
  fc.tuple(heads, unsound).map(([head, rest]) => [head + rest]),
)

/** A live platform that sends `answer.pieces` and ends the connection, with what it was asked. */
async function liveThatSends() {
  const answer = { pieces: [''] as readonly string[], asked: '' }
  const server = createServer(async socket => {
    socket.on('error', () => {}).setNoDelay()
    const [asked] = await once(socket, 'data')
    answer.asked = asked.toString('latin1')
    for (const piece of answer.pieces) await new Promise(sent => socket.write(piece, 'latin1', sent))
    socket.end()
  })
  return { answer, url: await listening(server) }
}

/** An answer without what depends on the moment: how it is divided, its number, and how many findings came before. */
function undivided(answer: string) {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const isDivided = /^transfer-encoding: chunked/im.test(head)
  let body = rest.join('\r\n\r\n')
  const isWhole = !isDivided || /(^|\r\n)0\r\n\r\n$/.test(body)
  for (let left = isDivided ? body : ''; left !== ''; ) {
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

test('What a client gets is what it would get through node', async () => {
  const { answer, url } = await liveThatSends()
  const { apiKey, url: platformUrl } = await proxyTo(url)
  const headers = [`Authorization: Bearer ${apiKey}`, 'Connection: close']
  const get = async (request: string) => {
    const wire = await wireTo(platformUrl)
    await wire.say(onTheWire(request, headers))
    return undivided(await wire.rest().catch(error => error.code))
  }
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('GET', 'GET', 'HEAD'), answers, async (method, pieces) => {
      answer.pieces = pieces
      expect(await get(`${method} /v1/models`)).toEqual(await get(`${method} /v1/elsewhere`))
    }),
    { numRuns: runs(500) },
  )
})

test('Trailers after a long head do not become headers', async () => {
  const { answer, url } = await liveThatSends()
  const { ask } = await proxyTo(url)
  const long = Array.from({ length: 40 }, (_, i) => `X-${i}: 1\r\n`).join('')
  const head = `HTTP/1.1 200 OK\r\n${long}Transfer-Encoding: chunked\r\n\r\n`
  answer.pieces = [head + chunked('whole', 'Set-Cookie: late=1\r\n')]
  const { headers } = await ask('/v1/models')
  expect([headers.get('x-39'), headers.get('set-cookie')]).toEqual(['1', null])
})

test('What the live platform is asked is what node would ask', async () => {
  const { answer, url } = await liveThatSends()
  const { apiKey, url: platformUrl } = await proxyTo(url)
  answer.pieces = ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n']
  const asked = async (path: string, headers: readonly string[], body: string) => {
    const wire = await wireTo(platformUrl)
    await wire.say(onTheWire(path, [`Authorization: Bearer ${apiKey}`, 'Connection: close', ...headers], body))
    await wire.rest()
    return answer.asked.replace(/ \/v1\/\S+/, '')
  }
  const own = fc.array(fc.tuple(name, value), { maxLength: 5 }).map(all => all.map(header => header.join(': ')))
  const sent = fc.constantFrom(
    ['GET', 'models', ''],
    ['HEAD', 'models?a=b', ''],
    ['POST', 'chat/completions', JSON.stringify(hello)],
  )
  await fc.assert(
    fc.asyncProperty(sent, own, async ([method, path, body = ''], headers) => {
      const other = await asked(`${method} /v1/elsewhere`, headers, body)
      expect(await asked(`${method} /v1/${path}`, headers, body)).toBe(other)
    }),
    { numRuns: runs(200) },
  )
})

test.each([
  ['no parser', undefined],
  ['another parser', new (class Parser {})()],
  [
    'a parser that says nothing',
    new (class Parser {
      initialize() {}
      execute() {}
      close() {}
    })(),
  ],
])('A connection with %s leaves the request to node', (_what, parser) => {
  expect(parserFactory({ socket: { parser } } as unknown as IncomingMessage)).toBe(undefined)
})
