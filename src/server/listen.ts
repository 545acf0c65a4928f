/** Opens the port and closes it again. */
import { createServer, IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { isReserved } from '../core/reserved.js'
import type { Prototypes } from './app.js'
import type { Line } from './handle.js'

export interface Listener {
  /** The port that was taken. */
  readonly port: number
  /** Takes no more connections, gives what is open `graceMs` to end, then cuts it. Resolves when all is closed. */
  stop(graceMs: number): Promise<void>
}

interface Doors {
  readonly line: Line
  /** Answers what is not on the line. */
  readonly rest: (request: IncomingMessage, response: ServerResponse, prototypes: Prototypes) => void
}

/** Listens on `host` and `port` (0: any free one). Rejects with node's own error when that cannot be. */
export async function listen({ line, rest }: Doors, { host, port }: { host: string; port: number }): Promise<Listener> {
  // Classes of this server's own: express is going to put its methods behind their prototypes.
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  const prototypes = { request: Request.prototype, response: Response.prototype }

  const server = createServer(
    {
      IncomingMessage: Request,
      ServerResponse: Response,
      // Two Authorization headers must not silently become one.
      joinDuplicateHeaders: true,
      // The line says so itself, in the platform's words.
      requireHostHeader: false,
      // Longer than clients keep a connection for reuse, so that none reuses one that is just being closed.
      keepAliveTimeout: 65_000,
    },
    (request, response) => {
      const path = pathOf(request.url ?? '/')
      if (isReserved(path)) rest(request, response, prototypes)
      else line(request, response, path)
    },
  )
  server.on('clientError', refuse)

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', reject)
      resolve()
    })
  })

  return {
    port: (server.address() as AddressInfo).port,
    stop: graceMs =>
      new Promise(resolve => {
        const deadline = setTimeout(() => server.closeAllConnections(), graceMs)
        // A connection that was busy when the server closed becomes idle with its answer, and would then stay open.
        const sweep = setInterval(() => server.closeIdleConnections(), 20)
        server.close(() => {
          clearTimeout(deadline)
          clearInterval(sweep)
          resolve()
        })
      }),
  }
}

/** The path of a request target. A client may also send the whole address (RFC 9112 §3.2.2). */
function pathOf(target: string): string {
  const query = target.indexOf('?')
  const path = query < 0 ? target : target.slice(0, query)
  if (path.startsWith('/') || !URL.canParse(target)) return path
  return new URL(target).pathname
}

/** What node's parser could not read gets an error body as well. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const [status, message] = unreadable[error.code ?? ''] ?? [400, 'The request is not valid HTTP.']
  const body = JSON.stringify({ error: message })
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close`
  socket.end(`${head}\r\n\r\n${body}`)
}

const unreadable: Record<string, readonly [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
}
