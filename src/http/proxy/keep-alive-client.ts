/** Sends requests over connections that are kept open, in half the time that node's client takes. */
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { parserFactory } from './answer-parser.js'
import { type ConnectionEvents, KeepAliveConnection, MOST_IDLE_MS } from './keep-alive-connection.js'
import type { LiveAddress } from './live-answer.js'
import type { ProxiedRequest } from './proxied-request.js'

/** At most this many idle connections are kept. */
const MOST_IDLE = 256

/**
 * Returns a function that sends a proxied request. It returns false for requests that it does not send, because
 * node's parser is not available or because node's client would refuse them.
 */
export function createKeepAliveClient(
  address: LiveAddress,
  events: Pick<ConnectionEvents, 'onAnswer' | 'onError'>,
): (proxied: ProxiedRequest) => boolean {
  const open = createConnect(address)
  // The most recently used one is taken first, so that the others can close.
  const idle: KeepAliveConnection[] = []
  const connectionEvents = {
    ...events,
    onIdle(connection: KeepAliveConnection) {
      if (idle.push(connection) > MOST_IDLE) idle.shift()?.socket.destroy()
    },
    onUnusable(connection: KeepAliveConnection) {
      const at = idle.lastIndexOf(connection)
      if (at >= 0) idle.splice(at, 1)
    },
  }

  return proxied => {
    const createParser = parserFactory(proxied.context.request)
    const head = headOf(proxied)
    if (!createParser || head === undefined) return false
    const connection = idle.pop() ?? new KeepAliveConnection(open(), createParser, connectionEvents)
    connection.send(proxied, head, proxied.context.exchange.body)
    return true
  }
}

/** Returns a function that opens a connection as one of node's agents would. */
function createConnect({ protocol, hostname, port }: LiveAddress): () => Socket {
  const address = { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
  // The session of an earlier connection shortens the handshake of the next.
  let session: Buffer | undefined

  function connectWithTls(): Socket {
    const servername = isIP(hostname) === 0 ? hostname : ''
    const tlsOptions = { ALPNProtocols: ['http/1.1'], ...(session && { session }) }
    const socket = connectSecurely({ ...address, ...tlsOptions, servername })
    socket.on('session', given => {
      session = given
    })
    return socket.once('close', hadError => {
      if (hadError) session = undefined
    })
  }

  return () => {
    const socket = protocol === 'https:' ? connectWithTls() : connect(address)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 1_000)
    socket.setTimeout(MOST_IDLE_MS)
    // The client's own connection keeps the process alive for as long as it waits.
    return socket.unref()
  }
}

/** Methods for which node's client sends no `Content-Length: 0`. */
const bodiless = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'])

/** Characters that are not allowed in a path, and in the value of a header (RFC 9110 §5.5). */
const notInPath = /[^\x21-\xff]/
const notInValue = /[^\t\x20-\x7e\x80-\xff]/

/** Everything before the body, as node's client writes it; `undefined` for a request that it would refuse. */
function headOf({ method, target, headers }: ProxiedRequest): string | undefined {
  if (notInPath.test(target)) return undefined
  let head = `${method} ${target === '' ? '/' : target} HTTP/1.1\r\n`
  for (const name in headers) {
    const value = headers[name] ?? ''
    for (const one of typeof value === 'string' ? [value] : value) {
      if (notInValue.test(one)) return undefined
      head += `${name}: ${one}\r\n`
    }
  }
  if (headers['content-length'] === undefined && !bodiless.has(method)) head += 'Content-Length: 0\r\n'
  return `${head}Connection: keep-alive\r\n\r\n`
}
