/** Opens the port and closes it again, and says which URL reaches it. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { StartError } from '../check/problem.js'
import { uptimeMs } from '../core/clock.js'
import { headersTooLarge, type PlatformError, requestTooSlow, unreadableRequest } from '../core/errors.js'
import { isLoopback } from '../core/origins.js'
import type { Entrance } from './entrance.js'
import { errorReply } from './error-bodies.js'
import { createServer, STATUS_CODES } from './node-http.js'
import { KEEP_ALIVE_MS } from './send.js'
import { createUpgrades } from './upgrades.js'

export interface Listener {
  /** The port that the server listens on. */
  readonly port: number
  /** Stops accepting connections, waits up to `graceMs` for open ones, then cuts them. Resolves when all are closed. */
  stop(graceMs: number): Promise<void>
  /** Called when WebSockets may have become possible, or impossible. */
  renew(): void
}

interface ListenAddress {
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  /** Called with a sentence about a request that node cannot parse, and that so does not reach the line. */
  readonly warn?: (sentence: string) => void
  /** Decides whether a request opens a WebSocket to the live platform; returns `undefined` while none does. */
  readonly webSockets?: () => ((request: IncomingMessage) => boolean) | undefined
}

/** Listens on `host` and `port`. Rejects with a StartError if that fails. */
export async function listen(
  entrance: Entrance,
  { host, port, warn = () => {}, webSockets = () => undefined }: ListenAddress,
): Promise<Listener> {
  const warnOnce = createWarnings(warn)
  /** The last response on each connection. */
  const responses = new WeakMap<Duplex, ServerResponse>()
  const answer: Entrance = (request, response) => {
    responses.set(request.socket, response)
    entrance(request, response)
  }
  const isForwarded = (request: IncomingMessage) => webSockets()?.(request) ?? false
  // From 24.9 on, node asks this instead of handing over every request to upgrade. Its types do not know the option yet.
  const upgradeOptions = { shouldUpgradeCallback: isForwarded }
  const server = createServer(
    {
      ...upgradeOptions,
      // Otherwise node would silently keep only one of two Authorization headers.
      joinDuplicateHeaders: true,
      // The line checks this itself, with the platform's error body.
      requireHostHeader: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    answer,
  )
  server.on('clientError', (cause: ParserError, socket: Socket) => {
    refuseAndWarn(warnOnce, cause, socket, responses.get(socket))
  })
  const upgrades = createUpgrades({
    server,
    isForwarded,
    lastResponse: socket => responses.get(socket),
  })
  // Without a listener, node answers requests to upgrade like any others.
  function renew(): void {
    server.off('upgrade', upgrades.take)
    if (webSockets()) server.on('upgrade', upgrades.take)
  }
  renew()
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
    renew,
    stop(graceMs) {
      // WebSockets stay open for as long as both sides like, so there is no end to wait for.
      upgrades.close()
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

function refuseAndWarn(
  warn: ReturnType<typeof createWarnings>,
  cause: ParserError,
  socket: Socket,
  last: ServerResponse | undefined,
): void {
  const status = refuseUnreadable(cause, socket, last)
  // RFC 8446 §5.1: a handshake record begins with the bytes 22 and 3.
  if (cause.rawPacket?.[0] === 22 && cause.rawPacket[1] === 3)
    warn('tls', `A client uses TLS on port ${socket.localPort}, which is plain HTTP. Use http://, not https://.`)
  // A client that closes its side in the middle of a request has usually just disconnected.
  else if (status && cause.code !== 'HPE_INVALID_EOF_STATE')
    warn(cause.code ?? '', `A request got a ${status} because it cannot be read: ${cause.reason ?? cause.message}.`)
}

/**
 * Answers a request that node's parser could not read with an error body, unless a response has already begun. Returns
 * its status.
 */
function refuseUnreadable(cause: ParserError, socket: Socket, last: ServerResponse | undefined): number | undefined {
  // A response without a socket waits for an earlier one.
  const hasBegun = last !== undefined && !last.writableFinished && (last.headersSent || last.socket === null)
  if (!socket.writable || cause.code === 'ECONNRESET' || hasBegun) {
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

/** The host to use in a URL that reaches, from this machine, a server listening on `host`. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** Whether a request to `address` would reach the server that listens on `host` and `port` on this machine. */
export function isOwnAddress(address: string, host: string, port: number): boolean {
  const url = new URL(address)
  const ownName = isLoopback(url.hostname) || ['0.0.0.0', '[::]', host].includes(url.hostname)
  return ownName && Number(url.port || 80) === port
}

/** Turns the error of a failed `listen` into a StartError that says what to do. Returns other errors unchanged. */
function startError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartError(
        `Port ${port} is already in use. Stop the process that uses it, or start with --port 0 for any free port.`,
      )
    case 'EACCES':
      return new StartError(`Port ${port} may not be used by this user. Start with --port and a number from 1024.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartError(`${host} is not an address of this machine. Start with --host 127.0.0.1.`)
    default:
      return error
  }
}
