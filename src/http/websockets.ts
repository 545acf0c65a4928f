/** Passes WebSocket requests, whose connections node hands over, to the request line. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Entrance } from './entrance.js'

/** Answers the requests on connections that node hands over, and keeps track of these connections. */
export function createWebSockets({ classes, answer }: Entrance) {
  const Response = classes.ServerResponse
  const open = new Set<Socket>()

  /** Passes the request to the line with a response created here: node creates none for a connection that it hands over. */
  function answerOn(request: IncomingMessage, socket: Socket, early: Buffer): void {
    if (!Response) return void socket.destroy()
    const response = new Response(request)
    // Node does not read another request from this connection.
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    passDrain(socket, response)
    response.once('finish', () => {
      if (response.statusCode !== 101) socket.destroySoon()
    })
    watchForEnd(socket, response, early)
    answer(request, response)
  }

  return {
    take(request: IncomingMessage, connection: Duplex, early: Buffer): void {
      // `listen` creates a server of sockets.
      const socket = connection as Socket
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      // Nothing has to be done, because `close` follows.
      socket.on('error', () => {})
      whenNext(socket, () => answerOn(request, socket, early))
    },
    /** Closes all connections. Node no longer tracks them. */
    close(): void {
      for (const socket of open) socket.destroy()
    },
  }
}

/** Calls `begin` when the earlier requests on the connection have been answered, unless it is closed by then. */
function whenNext(socket: Socket, begin: () => void): void {
  // Node's own name for the response in progress.
  const { _httpMessage: earlier } = socket as { _httpMessage?: ServerResponse }
  if (!earlier) return begin()
  passDrain(socket, earlier)
  earlier.once('close', () => {
    // Node has set a timeout for the next request on the connection.
    socket.setTimeout(0)
    if (socket.writable) whenNext(socket, begin)
  })
}

/** Node only does this for connections that it still tracks. */
function passDrain(socket: Socket, response: ServerResponse): void {
  const emitDrain = () => void response.emit('drain')
  socket.on('drain', emitDrain)
  response.once('close', () => socket.off('drain', emitDrain))
}

/**
 * Closes the connection of a client that disconnects before it has an answer. Node only notices that while the
 * connection is being read.
 */
function watchForEnd(socket: Socket, response: ServerResponse, early: Buffer): void {
  if (early.length > 0) return void socket.unshift(early)
  socket.once('end', () => {
    if (!response.headersSent) socket.destroy()
  })
  // The first bytes are for the live platform. They wait until it has accepted the WebSocket (`joinWebSocket`).
  socket.once('data', (bytes: Buffer) => {
    socket.pause()
    socket.unshift(bytes)
  })
}
