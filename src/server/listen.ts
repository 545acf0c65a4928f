/** Opens the port and closes it again. */
import { createServer, IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { headersTooLarge, type PlatformError, requestTooSlow, unreadableRequest } from '../core/errors.js'
import { isReserved } from '../core/reserved.js'
import { startError } from './address.js'
import type { Prototypes } from './app.js'
import { errorReply } from './error-bodies.js'
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

/** Listens on `host` and `port` (0: any free one). Rejects with a StartError when that cannot be. */
export async function listen({ line, rest }: Doors, { host, port }: { host: string; port: number }): Promise<Listener> {
  // Classes of this server's own: express is going to put its methods behind their prototypes.
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  const prototypes = { request: Request.prototype, response: Response.prototype }

  function answer(request: IncomingMessage, response: ServerResponse) {
    const path = pathOf(request.url ?? '/')
    if (isReserved(path)) rest(request, response, prototypes)
    else line(request, response, path)
  }

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
    answer,
  )
  server.on('clientError', refuse)
  // Node would refuse by itself what it expects to be expected; the line does it in the platform's words.
  server.on('checkExpectation', answer)

  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(startError(error, host, port)))
    server.listen({ host, port, backlog: 4096 }, () => {
      server.removeAllListeners('error')
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
          // A cut is told to its response in the last phase of this turn; whoever waits here then finds it in the journal.
          setTimeout(resolve, 0)
        })
      }),
  }
}

/** The path of a request target, as it was sent. A client may also send the whole address (RFC 9112 §3.2.2). */
function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?]*/i, '')
  const query = local.indexOf('?')
  return (query < 0 ? local : local.slice(0, query)) || '/'
}

/** What node's parser could not read gets an error body as well, unless an answer is already on its way. */
function refuse(cause: NodeJS.ErrnoException, socket: Socket): void {
  // Node's own name for the response that a socket is busy with; its default handler looks at the same.
  const { _httpMessage: answering } = socket as { _httpMessage?: ServerResponse }
  if (!socket.writable || cause.code === 'ECONNRESET' || answering?.headersSent) return void socket.destroy()
  const error = unreadable.get(cause.code) ?? unreadableRequest()
  const { status, body } = errorReply(error, { path: '', headers: {} })
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nConnection: close`
  socket.end(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
}

const unreadable = new Map<string | undefined, PlatformError>([
  ['HPE_HEADER_OVERFLOW', headersTooLarge()],
  ['ERR_HTTP_REQUEST_TIMEOUT', requestTooSlow()],
])
