/** Joins the two connections of a WebSocket once the live platform has accepted it. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { handshakeOf } from '../upgrades.js'
import { withoutHopByHop } from './headers.js'
import type { ProxiedRequest } from './proxied-request.js'
import { failUnreadable, sendHead } from './send-answer.js'

/** `early` has the bytes that the live platform sent right after it accepted. */
export function joinWebSocket(proxied: ProxiedRequest, answer: IncomingMessage, live: Duplex, early: Buffer): void {
  const { request, response } = proxied.context
  const handshake = handshakeOf(request)
  // `close` follows the error.
  live.on('error', () => {})
  proxied.answer = answer
  proxied.stopFirstByteTimer()
  if (proxied.isOver || !handshake) return void live.destroy()
  if (early.length > 0) live.unshift(early)
  try {
    sendHead(proxied, answer, {
      headers: [...withoutHopByHop(answer), 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
    })
    response.flushHeaders()
  } catch (error) {
    live.destroy()
    return failUnreadable(proxied, error)
  }
  const client = handshake.takeSocket()
  live.once('close', () => client.destroySoon())
  client.once('close', () => live.destroy())
  // If neither side ended the connection, the WebSocket was cut off.
  const end = () => {
    proxied.completeAnswer()
    response.end()
  }
  live.once('end', end)
  client.once('end', end)
  client.pipe(live).pipe(client)
}
