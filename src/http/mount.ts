/** The platform as a request handler for an existing server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasStopped, loopbackOnly, type PlatformError } from '../core/errors.js'
import { isLoopback } from '../core/origins.js'
import { type Outlet, setOutlet } from '../core/outlet.js'
import { isControl } from '../core/paths.js'
import { keepEarlierBody } from './body.js'
import { type Entrance, pathOfTarget } from './entrance.js'
import { errorReply } from './error-bodies.js'
import { endAfterRequest } from './send.js'

/**
 * Answers every request and never calls `next`. Works with `http.createServer`, express's `app.use`, and supertest.
 * Below a prefix (`app.use('/ai', …)`), paths start after that prefix, in error bodies as well.
 */
export type Handler = (request: IncomingMessage, response: ServerResponse, next?: unknown) => void

export function createMount(answer: Entrance) {
  const open = new Set<ServerResponse>()
  let stopped = false
  let resolveStop = () => {}

  function close(response: ServerResponse): void {
    open.delete(response)
    if (open.size === 0) resolveStop()
  }

  const handler: Handler = (request, response) => {
    if (stopped) return refuse(request, response, hasStopped())
    if (isControl(pathOfTarget(request.url ?? '/')) && !isOnLoopback(request))
      return refuse(request, response, loopbackOnly())
    keepEarlierBody(request)
    setOutlet(response, foreignOutlet(response))
    open.add(response)
    response.once('close', () => close(response))
    answer(request, response)
  }

  return {
    handler,
    /** Stops answering, waits up to `graceMs` for open requests, then cuts them. */
    async stop(graceMs: number): Promise<void> {
      stopped = true
      if (open.size === 0) return
      const cut = setTimeout(() => {
        for (const response of open) response.destroy()
      }, graceMs)
      await new Promise<void>(resolve => {
        resolveStop = resolve
      })
      clearTimeout(cut)
    },
  }
}

/**
 * Sets headers one by one instead of as node's flat array, which some middleware cannot read. Headers that an app has set
 * on the response are kept, unless the answer sets them too.
 */
const foreignOutlet = (response: ServerResponse): Outlet => ({
  writeHead(status, reason, headers) {
    for (let i = 0; i < headers.length; i += 2) response.removeHeader(headers[i] ?? '')
    for (let i = 0; i < headers.length; i += 2) response.appendHeader(headers[i] ?? '', headers[i + 1] ?? '')
    return reason === undefined ? response.writeHead(status) : response.writeHead(status, reason)
  },
  flushHeaders: () => response.flushHeaders(),
  write: (chunk, encoding = 'utf8') => response.write(chunk, encoding),
  end: (chunk = '', encoding = 'utf8') => response.end(chunk, encoding),
  get writableNeedDrain() {
    return response.writableNeedDrain
  },
})

/** Other machines may be able to reach the server, and the control API of a mounted platform requires no token. */
const isOnLoopback = ({ socket: { localAddress } }: IncomingMessage) =>
  localAddress === undefined || isLoopback(localAddress)

/** Answers with an error, without the request line. */
export function refuse({ url = '', headers }: IncomingMessage, response: ServerResponse, error: PlatformError): void {
  const { status, contentType, body } = errorReply(error, { path: url, headers })
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) })
  endAfterRequest(response, body)
}
