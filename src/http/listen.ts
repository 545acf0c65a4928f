/** Opens the port and closes it again. */
import { createServer, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { uptimeMs } from '../core/clock.js'
import { headersTooLarge, type PlatformError, requestTooSlow, unreadableRequest } from '../core/errors.js'
import { startError } from './address.js'
import type { Entrance } from './entrance.js'
import { errorReply } from './error-bodies.js'
import { KEEP_ALIVE_MS } from './send.js'
import { createWebSockets } from './websockets.js'

export interface Listener {
  /** The port that the server listens on. */
  readonly port: number
  /** Stops accepting connections, waits up to `graceMs` for open ones, then cuts them. Resolves when all are closed. */
  stop(graceMs: number): Promise<void>
}

interface ListenAddress {
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  /** Called with a sentence about a request that node cannot parse, and that so does not reach the line. */
  readonly warn?: (sentence: string) => void
}

/** Listens on `host` and `port`. Rejects with a StartError if that fails. */
export async function listen(
  { classes, answer }: Entrance,
  { host, port, warn = () => {} }: ListenAddress,
): Promise<Listener> {
  const warnOnce = createWarnings(warn)
  const server = createServer(
    {
      ...classes,
      // Otherwise node would silently keep only one of two Authorization headers.
      joinDuplicateHeaders: true,
      // The line checks this itself, with the platform's error body.
      requireHostHeader: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    answer,
  )
  server.on('clientError', (cause: ParserError, socket: Socket) => refuseAndWarn(warnOnce, cause, socket))
  const webSockets = createWebSockets({ classes, answer })
  // Emitted only for the WebSockets that are forwarded (`createRequestClass`).
  server.on('upgrade', webSockets.take)
  // Node would refuse unknown expectations itself; the line does it with the platform's error body.
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
    stop(graceMs) {
      // WebSockets stay open for as long as both sides like, so there is no end to wait for.
      webSockets.close()
      return closeServer(server, graceMs)
    },
  }
}

/** Closes a server, and after `graceMs` the connections that are still busy. */
const closeServer = (server: Server, graceMs: number) =>
  new Promise<void>(resolve => {
    const deadline = setTimeout(() => server.closeAllConnections(), graceMs)
    // A connection that was busy when the server closed becomes idle after its response, and would then stay open.
    const sweep = setInterval(() => server.closeIdleConnections(), 20)
    server.close(() => {
      clearTimeout(deadline)
      clearInterval(sweep)
      // Responses emit `close` in the last phase of this turn. After that the exchange is in the journal.
      setTimeout(resolve, 0)
    })
  })

/** An error of node's parser, with the bytes that caused it. */
interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string
  readonly rawPacket?: Buffer
}

/** RFC 8446 §5.1: a handshake record begins with the bytes 22 and 3. */
const isTls = ({ rawPacket }: ParserError) => rawPacket?.[0] === 22 && rawPacket[1] === 3

/** The same warning is repeated only after this time. */
const REPEAT_MS = 60_000

/** Logs the first warning of each kind at once, and later ones with the number of those suppressed in between. */
function createWarnings(warn: (sentence: string) => void) {
  const kinds = new Map<string, { readonly atMs: number; suppressed: number }>()
  return (kind: string, sentence: string) => {
    const last = kinds.get(kind)
    const nowMs = uptimeMs()
    if (last && nowMs - last.atMs < REPEAT_MS) return void last.suppressed++
    kinds.set(kind, { atMs: nowMs, suppressed: 0 })
    warn(last?.suppressed ? `${sentence} (${last.suppressed} more since the last time)` : sentence)
  }
}

type WarnOnce = ReturnType<typeof createWarnings>

function refuseAndWarn(note: WarnOnce, cause: ParserError, socket: Socket): void {
  const status = refuse(cause, socket)
  if (isTls(cause))
    note('tls', `A client uses TLS on port ${socket.localPort}, which is plain HTTP. Use http://, not https://.`)
  // A client that closes its side in the middle of a request has usually just disconnected.
  else if (status && cause.code !== 'HPE_INVALID_EOF_STATE')
    note(cause.code ?? '', `A request got a ${status} because it cannot be read: ${cause.reason ?? cause.message}.`)
}

/**
 * Answers a request that node's parser could not read with an error body, unless a response has already begun. Returns
 * its status.
 */
function refuse(cause: ParserError, socket: Socket): number | undefined {
  // Node's own name for the response in progress on a socket. Its default handler checks the same property.
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse }
  if (!socket.writable || cause.code === 'ECONNRESET' || response?.headersSent) {
    socket.destroy()
    return undefined
  }
  const error = parserErrors.get(cause.code) ?? unreadableRequest()
  const { status, body } = errorReply(error, { path: '', headers: {} })
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nConnection: close`
  socket.end(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  return status
}

const parserErrors = new Map<string | undefined, PlatformError>([
  ['HPE_HEADER_OVERFLOW', headersTooLarge()],
  ['ERR_HTTP_REQUEST_TIMEOUT', requestTooSlow()],
])
