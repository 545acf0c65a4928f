/** The platform as a function of the web's own `Request` and `Response`, for Next, Hono, MSW and others. */
import { once as occurs } from 'node:events'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { loopbackOnly } from '../core/errors.js'
import { isControl } from '../core/paths.js'
import { once } from '../core/work.js'
import { errorReply } from '../http/error-bodies.js'
import type { Handler } from '../http/mount.js'

/** Answers a request, whatever its origin: its method, path, query, headers and body count. */
export type WebHandler = (request: Request) => Promise<Response>

/** These describe a connection, not a message. The length is that of the body as it is sent. */
const ofConnection = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
])

/** A `Response` with one of these must not have a body. */
const withoutBody: readonly number[] = [204, 205, 304]

/**
 * Requests go through a port on loopback, which the first one opens: so pieces, aborts and cut connections arrive as they do from the
 * platform's own port. It does not keep the process alive.
 */
export function createWebHandler(handler: Handler): WebHandler {
  const port = once(async () => {
    const server = createServer(handler).listen(0, '127.0.0.1')
    await occurs(server, 'listening')
    server.unref()
    return (server.address() as AddressInfo).port
  })
  return async request => {
    const { pathname, search, host } = new URL(request.url)
    // Who sent the request is not known here, and the control API requires no token on loopback.
    if (isControl(pathname)) return refusalOf(pathname)
    const headers: Record<string, string> = { host }
    for (const [name, value] of request.headers) if (!ofConnection.has(name)) headers[name] = value
    const { method, signal } = request
    const outgoing = send({ host: '127.0.0.1', port: await port(), method, path: pathname + search, headers, signal })
    const answered = occurs(outgoing, 'response') as Promise<[IncomingMessage]>
    // A client that leaves while it sends makes the wait for the answer fail, too.
    if (request.body) pipeline(Readable.fromWeb(request.body as ReadableStream), outgoing).catch(() => {})
    else outgoing.end()
    const [answer] = await answered
    return responseOf(answer)
  }
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 500, rawHeaders } = answer
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name.toLowerCase() === 'content-length' || !ofConnection.has(name.toLowerCase()))
      headers.append(name, rawHeaders[i + 1] ?? '')
  }
  if (withoutBody.includes(status)) {
    answer.resume()
    return new Response(null, { status, headers })
  }
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers })
}

function refusalOf(path: string): Response {
  const { status, contentType, body } = errorReply(loopbackOnly(), { path, headers: {} })
  return new Response(body.toString(), { status, headers: { 'content-type': contentType } })
}
