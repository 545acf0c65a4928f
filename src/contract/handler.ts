/** Gives a handler an address, on any free port of this machine. */
import { once } from 'node:events'
import http, { type RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An express app is one, too. */
export type Handler = Server | RequestListener

/** The address under which it answers. It keeps no process alive, and a server that listens already is left as it is. */
export async function addressOf(handler: Handler): Promise<string> {
  const server = handler instanceof Server ? handler : http.createServer(handler)
  if (!server.listening) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    server.unref()
  }
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
