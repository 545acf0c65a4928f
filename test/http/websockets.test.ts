import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { PlatformOptions } from '../../src/index.js'
import { folderWith } from '../command.js'
import { onTheWire, wireTo } from '../wire.js'
import { listening, liveKey, proxyTo } from './live.js'

/** A live platform that echoes the messages of its WebSockets; with a `refusal` it answers every request with that. */
async function liveEcho(refusal?: { readonly status: number; readonly body: string }) {
  const opened: { readonly socket: WebSocket; readonly request: IncomingMessage }[] = []
  const server = http.createServer((_request, response) => {
    const { status = 200, body = '' } = refusal ?? {}
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
  })
  if (!refusal) {
    const sockets = new WebSocketServer({ server, handleProtocols: ([first]) => first ?? false })
    sockets.on('connection', (socket, request) => {
      opened.push({ socket, request })
      socket.send(`welcome to ${request.url}`)
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
    })
    onTestFinished(() => {
      for (const socket of sockets.clients) socket.terminate()
    })
  }
  return { url: await listening(server), opened }
}

interface SocketOptions {
  readonly bearer?: string | null
  readonly headers?: Record<string, string>
  readonly protocols?: string[]
}

type At = Pick<Awaited<ReturnType<typeof proxyTo>>, 'url' | 'apiKey'>

/** Requests a WebSocket. */
function socketAt({ url, apiKey }: At, path: string, { bearer = apiKey, headers, protocols }: SocketOptions = {}) {
  const authorization = bearer === null ? {} : { authorization: `Bearer ${bearer}` }
  const socket = new WebSocket(url.replace('http', 'ws') + path, protocols, {
    headers: { ...authorization, ...headers },
  })
  // Emitted when a socket that was not opened is terminated.
  socket.on('error', () => {})
  onTestFinished(() => socket.terminate())
  return socket
}

/** The response to a request for a WebSocket that is not opened. */
async function refusal(socket: WebSocket) {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  let body = ''
  for await (const piece of response) body += piece
  return { status: response.statusCode, connection: response.headers.connection, body: JSON.parse(body) }
}

/** An open WebSocket on both sides, after the welcome. */
async function opened(options: PlatformOptions = {}) {
  const live = await liveEcho()
  const platform = await proxyTo(live.url, options)
  const socket = socketAt(platform, '/v1/realtime')
  await once(socket, 'message')
  const [other] = live.opened
  if (!other) throw new Error('The live platform opened nothing.')
  return { platform, socket, live: other.socket }
}

test('a WebSocket is forwarded to the live platform with the live key, and messages pass in both directions', async () => {
  const live = await liveEcho()
  const platform = await proxyTo(`${live.url}/live`)
  const socket = socketAt(platform, '/v1/realtime?model=gpt-realtime', { protocols: ['realtime'] })
  const [welcome] = await once(socket, 'message')
  expect(String(welcome)).toBe('welcome to /live/v1/realtime?model=gpt-realtime')
  expect(socket.protocol).toBe('realtime')
  expect(live.opened[0]?.request.headers).toMatchObject({ authorization: `Bearer ${liveKey}`, connection: 'Upgrade' })

  const long = Buffer.alloc(3_000_000, 'long')
  socket.send(long)
  const [repeated, isBinary] = await once(socket, 'message')
  expect([isBinary, long.equals(repeated)]).toEqual([true, true])
})

test('when one side closes a WebSocket, the other gets the code and the reason', async () => {
  const left = await opened()
  left.socket.close(4001, 'done')
  expect((await once(left.live, 'close')).map(String)).toEqual(['4001', 'done'])
  const dismissed = await opened()
  dismissed.live.close(4002, 'enough')
  expect((await once(dismissed.socket, 'close')).map(String)).toEqual(['4002', 'enough'])
})

test('a WebSocket counts as under way while it is open, and is journaled afterwards', async () => {
  const { platform, socket } = await opened()
  expect(await platform.journal.underWay).toBe(1)
  socket.close()
  await platform.idle()
  expect(await platform.journal.find()).toMatchObject([
    { request: { method: 'GET', path: '/v1/realtime' }, source: 'live', status: 101, complete: true },
  ])
})

test('stopping the platform ends its WebSockets on both sides', async () => {
  const { platform, socket, live } = await opened()
  const closed = Promise.all([once(socket, 'close'), once(live, 'close')])
  await platform.stop()
  await closed
})

test('without a valid credential, or from a foreign page, a WebSocket is refused here', async () => {
  const live = await liveEcho()
  const platform = await proxyTo(live.url)
  const unknown = { status: 404, connection: 'close', body: { error: 'Not found.', path: '/v1/realtime' } }
  expect(await refusal(socketAt(platform, '/v1/realtime', { bearer: null }))).toEqual(unknown)
  expect(await refusal(socketAt(platform, '/v1/realtime', { bearer: 'sk-local-unknown' }))).toEqual(unknown)
  const headers = { origin: 'https://evil.test' }
  expect(await refusal(socketAt(platform, '/v1/realtime', { headers }))).toMatchObject({ status: 403 })
  expect(live.opened).toEqual([])
})

test("the live platform's refusal of a WebSocket reaches the client", async () => {
  const long = JSON.stringify({ error: 'x'.repeat(2_000_000) })
  for (const [status, body] of [
    [401, '{"error":"Bad key."}'],
    [404, '{"error":"No such model."}'],
    [200, long],
  ] as const) {
    const live = await liveEcho({ status, body })
    const platform = await proxyTo(live.url, { upstream: { errors: 'untouched' } })
    const refused = await refusal(socketAt(platform, '/v1/realtime'))
    expect(refused).toEqual({ status, connection: 'close', body: JSON.parse(body) })
    await platform.idle()
    expect(await platform.journal.find()).toMatchObject([{ status, source: 'live' }])
  }
})

test('a WebSocket that is pipelined behind other requests starts after their answers', async () => {
  const live = await liveEcho()
  const platform = await proxyTo(live.url)
  const wire = await wireTo(platform.url)
  const key = `Authorization: Bearer ${platform.apiKey}`
  const models = onTheWire('GET /v1/models', [key])
  await wire.say(models + models + onTheWire('GET /v1/realtime', [key, ...upgradeHeaders]))
  expect((await wire.answer()).status).toBe(200)
  expect((await wire.answer()).status).toBe(200)
  await vi.waitFor(() => expect(live.opened).toHaveLength(1), 10_000)
  live.opened[0]?.socket.terminate()
  const rest = await wire.rest()
  expect(rest).toMatch(/^HTTP\/1\.1 101 /)
  expect(rest).toContain('welcome to /v1/realtime')
  expect((await fetch(`${platform.url}/__standin/ready`)).status).toBe(200)
})

const upgradeHeaders = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

test.each([
  ['in mode emulate', 'emulate', 'GET /v1/realtime', 404],
  ['for a documented path', 'proxy', 'GET /v1/models', 200],
  ['with another method', 'proxy', 'DELETE /v1/realtime', 200],
  ['to another protocol', 'proxy', 'POST /v1/realtime', 200, '{}', ['Connection: Upgrade', 'Upgrade: h2c']],
] as const)('a request to upgrade %s is answered like any other, and the connection stays open', async (...row) => {
  const [, mode, line, status, body = '', upgrade = upgradeHeaders] = row
  const live = await liveEcho({ status: 200, body: '"http"' })
  const platform = await proxyTo(live.url, { mode, recordings: { dir: folderWith({}) } })
  const wire = await wireTo(platform.url)
  for (let i = 0; i < 2; i++) {
    await wire.say(onTheWire(line, [`Authorization: Bearer ${platform.apiKey}`, ...upgrade], body))
    const answer = await wire.answer()
    expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'keep-alive'])
  }
})
