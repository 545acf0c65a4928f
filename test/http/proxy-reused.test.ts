import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import { openPlatform } from '../../src/platform.js'
import { selfSigned } from '../certificate.js'
import { folderWith } from '../command.js'
import { hello } from '../scene.js'
import { notReached } from '../sentences.js'
import { listening, liveKey, proxyTo } from './live.js'

type Reaction = (socket: Socket) => void

const answers: Reaction = socket =>
  void socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"ok":true}')
const closes: Reaction = socket => void socket.end()
const resets: Reaction = socket => void socket.resetAndDestroy()
const writes =
  (text: string, then: Reaction): Reaction =>
  socket =>
    void socket.write(text, () => setTimeout(then, 30, socket))
const after =
  (ms: number, then: Reaction): Reaction =>
  socket =>
    void setTimeout(then, ms, socket)

interface Reactions {
  /** What happens at the first request on the first connection. */
  readonly onFirst?: Reaction
  /** What happens at the first byte of a second request on a connection. */
  readonly onReuse?: Reaction
  /** What happens at the first request on the second and every later connection. */
  readonly onNew?: Reaction
  readonly isSecure?: boolean
}

/** A live platform on bare sockets that answers once on each connection, and keeps the requests of each. */
async function liveThatAnswersOnce(reactions: Reactions = {}) {
  const { onFirst = answers, onReuse = resets, onNew = answers, isSecure = false } = reactions
  const connections: string[][] = []
  const accept = (socket: Socket) => {
    const requests: string[] = []
    const react = connections.push(requests) === 1 ? onFirst : onNew
    let received = ''
    socket.on('error', () => {})
    socket.on('data', bytes => {
      received += bytes.toString('latin1')
      if (requests.length === 0 && !isWhole(received)) return
      requests.push(received)
      received = ''
      if (requests.length === 1) react(socket)
      else if (requests.length === 2) onReuse(socket)
    })
    onTestFinished(() => void socket.destroy())
  }
  const server = isSecure ? tls.createServer(selfSigned(), accept) : net.createServer(accept)
  const url = await listening(server)
  return {
    url: isSecure ? url.replace('http:', 'https:') : url,
    connections,
    /** The method and the path of each request. */
    lines: () => connections.map(requests => requests.map(text => text.split(' HTTP/1.1')[0])),
  }
}

function isWhole(request: string): boolean {
  const end = request.indexOf('\r\n\r\n')
  const length = Number(/^content-length: *(\d+)/im.exec(request)?.[1] ?? 0)
  return end >= 0 && request.length >= end + 4 + length
}

const bodyOf = (request = '') => request.slice(request.indexOf('\r\n\r\n') + 4)

// Documented paths have connections of their own; http-proxy-middleware sends the other requests.
const first = 'GET /v1/first'
const firstModels = 'GET /v1/models?first'

test.each([
  ['closes', closes],
  ['resets', resets],
  ['soon closes', after(30, closes)],
])('a request succeeds when the live platform %s the kept connection on which it is sent', async (_how, onReuse) => {
  const live = await liveThatAnswersOnce({ onReuse })
  const { ask, chat } = await proxyTo(live.url)
  await (await ask('/v1/models?first')).text()
  const response = await chat(hello)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ ok: true })
  expect(live.lines()).toEqual([[firstModels, 'POST /v1/chat/completions'], ['POST /v1/chat/completions']])
  const again = live.connections[1]?.[0]
  expect(JSON.parse(bodyOf(again))).toEqual(hello)
  expect(again?.toLowerCase()).toContain(`authorization: bearer ${liveKey}`)
})

test.each([
  ['GET', undefined],
  ['PUT', '{"name":"ada"}'],
])('%s is retried once, on any path', async (method, body) => {
  const live = await liveThatAnswersOnce()
  const { ask } = await proxyTo(live.url)
  await (await ask('/v1/first')).text()
  const { status } = await ask('/v1/things/1?a=b', { method, ...(body !== undefined && { body }) })
  expect(status).toBe(200)
  const line = `${method} /v1/things/1?a=b`
  expect(live.lines()).toEqual([[first, line], [line]])
  expect(bodyOf(live.connections[1]?.[0])).toBe(body ?? '')
})

test('a POST that may change something is not retried', async () => {
  const live = await liveThatAnswersOnce()
  const { ask } = await proxyTo(live.url)
  await (await ask('/v1/first')).text()
  const response = await ask('/v1/things', { method: 'POST', body: '{}' })
  expect(response.status).toBe(502)
  expect(await response.json()).toMatchObject({ error: expect.stringContaining('ECONNRESET') })
  expect(live.lines()).toEqual([[first, 'POST /v1/things']])
})

test.each([
  ['POST', '/v1/chat/completions', JSON.stringify(hello)],
  ['PUT', '/v1/things/1', '{}'],
  ['DELETE', '/v1/things/1', undefined],
])('%s %s is sent once if the live platform closes its new connection', async (method, path, body) => {
  const live = await liveThatAnswersOnce({ onFirst: closes })
  const { ask } = await proxyTo(live.url)
  const headers = { 'content-type': 'application/json' }
  const response = await ask(path, { method, headers, ...(body !== undefined && { body }) })
  expect([response.status, await response.json()]).toEqual([502, { error: notReached('ECONNRESET') }])
  expect(live.lines()).toEqual([[`${method} ${path}`]])
})

test('a chat is sent once if the live platform closes a kept connection after it has begun to answer', async () => {
  const live = await liveThatAnswersOnce({ onReuse: writes('HTTP/1.1 100 Continue\r\n\r\n', closes) })
  const { ask, chat } = await proxyTo(live.url)
  await (await ask('/v1/models?first')).text()
  expect((await chat(hello)).status).toBe(502)
  expect(live.lines()).toEqual([[firstModels, 'POST /v1/chat/completions']])
})

test('over TLS, 100 Continue is passed over, and a chat whose kept connection is closed is sent again', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  const continues = writes('HTTP/1.1 100 Continue\r\n\r\n', answers)
  const live = await liveThatAnswersOnce({ onReuse: closes, onNew: continues, isSecure: true })
  const { ask, chat } = await proxyTo(live.url)
  await (await ask('/v1/models?first')).text()
  expect(await (await chat(hello)).json()).toEqual({ ok: true })
  expect(live.lines()).toEqual([[firstModels, 'POST /v1/chat/completions'], ['POST /v1/chat/completions']])
})

test('a request that got part of its answer is cut off, and not retried', async () => {
  const onReuse = writes('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort', resets)
  const live = await liveThatAnswersOnce({ onReuse })
  const { ask } = await proxyTo(live.url)
  await (await ask('/v1/models?first')).text()
  const response = await ask('/v1/models?second')
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
  expect(live.connections.length).toBe(1)
})

/** A platform in front of `baseUrl`, with its journal. */
async function journaledTo(baseUrl: string, more: Readonly<Record<string, string>> = {}) {
  const given = { port: 0, state: 'memory', mode: 'proxy', 'upstream.baseUrl': baseUrl, ...more }
  const flags = Object.entries(given).map(([name, value]) => ({ path: name.split('.'), value, origin: 'the test' }))
  const platform = await openPlatform({ cwd: import.meta.dirname, file: false, flags })
  onTestFinished(() => platform.stop())
  const headers = { authorization: `Bearer ${platform.apiKey}` }
  const journaled: Exchange[] = []
  const ask = (path: string, init: RequestInit = {}) => fetch(platform.url + path, { headers, ...init })
  await (await ask('/v1/models?first')).text()
  platform.journal.follow(exchange => void journaled.push(exchange))
  const nextJournaled = () => new Promise<Exchange>(resolve => platform.journal.follow(resolve))
  return { ...platform, headers, ask, journaled, nextJournaled }
}

test('a retried request is recorded and journaled once', async () => {
  const live = await liveThatAnswersOnce()
  const { ask, headers, journaled, receipt } = await journaledTo(live.url, {
    mode: 'record',
    'recordings.dir': folderWith(),
  })
  const response = await ask('/v1/chat/completions', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(hello),
  })
  expect(await response.json()).toEqual({ ok: true })
  expect(live.lines().map(lines => lines.length)).toEqual([2, 1])
  await expect.poll(() => receipt()).toMatchObject({ recorded: 2, passed: 2 })
  expect(journaled).toEqual([expect.objectContaining({ path: '/v1/chat/completions' })])
  expect(journaled[0]?.outcome).toMatchObject({ status: 200, complete: true, error: undefined })
})
