/** Opens the port and closes it again. */
import { createServer, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { headersTooLarge, type PlatformError, requestTooSlow, unreadableRequest } from '../core/errors.js'
import { startError } from './address.js'
import type { Entrance } from './entrance.js'
import { errorReply } from './error-bodies.js'

export interface Listener {
  /** The port that was taken. */
  readonly port: number
  /** Takes no more connections, gives what is open `graceMs` to end, then cuts it. Resolves when all is closed. */
  stop(graceMs: number): Promise<void>
}

/** Listens on `host` and `port` (0: any free one). Rejects with a StartError when that cannot be. */
export async function listen(
  { classes, answer }: Entrance,
  { host, port }: { host: string; port: number },
): Promise<Listener> {
  const server = createServer(
    {
      ...classes,
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
