/**
 * Requests for another protocol. Once one of them may open a WebSocket, node before 24.9 hands over the connections of
 * all. They are put back, so that each is answered like any other request.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

interface Options {
  readonly server: Server
  /** Whether a WebSocket is forwarded to the live platform. Others are answered like any other request. */
  readonly isForwarded: (request: IncomingMessage) => boolean
  /** The last response on a connection. */
  readonly lastResponse: (socket: Socket) => ServerResponse | undefined
}

export function createUpgrades({ server, isForwarded, lastResponse }: Options) {
  const open = new Set<Socket>()

  function putBack(request: IncomingMessage, socket: Socket, early: Buffer): void {
    if (socket.destroyed) return
    // Node has set a timeout for the next request on the connection.
    socket.setTimeout(0)
    if (early.length > 0) socket.unshift(early)
    if (isForwarded(request)) return void server.emit('connection', new Handshake(request, socket))
    socket.unshift(headOf(request))
    server.emit('connection', socket)
  }

  return {
    take(request: IncomingMessage, connection: Duplex, early: Buffer): void {
      // `listen` creates a server of sockets.
      const socket = connection as Socket
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      // Nothing has to be done, because `close` follows.
      socket.on('error', () => {})
      const earlier = lastResponse(socket)
      if (!earlier || earlier.writableFinished) putBack(request, socket, early)
      else earlier.once('close', () => putBack(request, socket, early))
    },
    /** Closes all connections. Node no longer tracks them. */
    close(): void {
      for (const socket of open) socket.destroy()
    },
  }
}

/** The head of a request as it was sent, with another Connection header or none. Node then takes it for an ordinary request. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage, connection?: string): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== 'connection') lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  }
  if (connection !== undefined) lines.push(`Connection: ${connection}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/**
 * A connection with one request, which opens a WebSocket. It ends with the answer, unless the WebSocket takes over the
 * socket behind it.
 */
export class Handshake extends Duplex {
  private isTaken = false

  constructor(
    request: IncomingMessage,
    readonly socket: Socket,
  ) {
    super({
      read() {},
      write: (bytes: Buffer, _encoding, done) => void (this.isTaken ? done() : socket.write(bytes, done)),
      final: done => {
        if (!this.isTaken) socket.destroySoon()
        done()
      },
      destroy: (error, done) => {
        if (!this.isTaken) socket.destroy()
        done(error)
      },
    })
    this.push(headOf(request, 'close'))
    socket.once('close', () => this.destroy())
    // Shows that a client disconnects before it has an answer. Its first bytes wait until the WebSocket is open.
    socket.once('end', () => {
      if (!this.isTaken) socket.destroy()
    })
    socket.once('data', this.keepFirstBytes)
  }

  private readonly keepFirstBytes = (bytes: Buffer): void => {
    this.socket.pause()
    this.socket.unshift(bytes)
  }

  /** Returns the socket for the WebSocket. What is written to the response from now on is not sent. */
  takeSocket(): Socket {
    this.isTaken = true
    this.socket.off('data', this.keepFirstBytes)
    return this.socket
  }

  /** Resets the connection, as a socket does. */
  resetAndDestroy(): void {
    this.socket.resetAndDestroy()
  }
}

/** The connection of a request that opens a WebSocket; `undefined` for any other request. */
export function handshakeOf({ headers, socket }: IncomingMessage): Handshake | undefined {
  if (headers.upgrade === undefined) return undefined
  const connection: Duplex = socket
  return connection instanceof Handshake ? connection : undefined
}
