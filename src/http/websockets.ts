/** Passes WebSocket requests to the request line, after node has handed over their connections. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Entrance } from './entrance.js'

/** Keeps the connections that node hands over because they become WebSockets. */
export function createHandedOver({ classes, answer }: Entrance) {
  const Response = classes.ServerResponse
  const open = new Set<Socket>()

  /** Passes the request to the line with a response created here: node creates none for a connection that it hands over. */
  function begin(request: IncomingMessage, socket: Socket, early: Buffer): void {
    if (!Response) return void socket.destroy()
    const response = new Response(request)
    // Node does not read another request from this connection.
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    passDrain(socket, response)
    response.once('finish', () => {
      if (response.statusCode !== 101) socket.destroySoon()
    })
    noticeEnd(socket, response, early)
    answer(request, response)
  }

  return {
    take(request: IncomingMessage, connection: Duplex, early: Buffer): void {
      // The server of `listen` has sockets only.
      const socket = connection as Socket
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      // `close` follows, and nothing else can be done.
      socket.on('error', () => {})
      afterEarlier(socket, () => begin(request, socket, early))
    },
    /** Closes all connections. Node no longer tracks them. */
    cut(): void {
      for (const socket of open) socket.destroy()
    },
  }
}

/** Calls `begin` when the requests before this one on the connection have been answered, unless it was closed then. */
function afterEarlier(socket: Socket, begin: () => void): void {
  // Node's own name for the response in progress.
  const { _httpMessage: earlier } = socket as { _httpMessage?: ServerResponse }
  if (!earlier) return begin()
  passDrain(socket, earlier)
  earlier.once('close', () => {
    // Node has set this for a connection on which another request may come.
    socket.setTimeout(0)
    if (socket.writable) afterEarlier(socket, begin)
  })
}

/** Node only does this for connections that it still tracks. */
function passDrain(socket: Socket, response: ServerResponse): void {
  const pass = () => void response.emit('drain')
  socket.on('drain', pass)
  response.once('close', () => socket.off('drain', pass))
}

/** Notices a client that disconnects before it has an answer. Node only notices that while the connection is being read. */
function noticeEnd(socket: Socket, response: ServerResponse, early: Buffer): void {
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
