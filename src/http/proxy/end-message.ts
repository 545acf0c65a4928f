/** Ends a message with a complete body: a request to the live platform, or its answer to the client. */
import { OutgoingMessage } from 'node:http'
import type { Writable } from 'node:stream'

/** Bodies up to this size are copied to be sent with the head. */
const SHORT_BYTES = 16_384

/** Sends exactly `body` and ends the message. */
export function endMessage(message: OutgoingMessage, body: Buffer | undefined): void {
  if (!body || body.length === 0) message.end()
  else if (body.length > SHORT_BYTES || !endInOneWrite(message, body)) message.end(body)
}

/** Node's own fields for the head of a message. */
interface MessageInternals {
  _header: string | null
  _headerSent: boolean
  readonly _hasBody: boolean
  _implicitHeader(): void
}

/**
 * Writes head and body as one text in one write. Node would write an empty text after them, and joining the two takes
 * a quarter of the time of a forwarded request. Returns false for messages that node frames in another way or sends
 * later, and for those whose methods were replaced by a fault or by an app's middleware.
 */
function endInOneWrite(message: OutgoingMessage, body: Buffer): boolean {
  const internals = message as unknown as MessageInternals
  const { socket } = message
  if (!socket?.writable || message.end !== OutgoingMessage.prototype.end || internals._headerSent) return false
  if (internals._header === null) internals._implicitHeader()
  if (!internals._hasBody || message.chunkedEncoding) return false
  writeHeadAndBody(socket, internals._header ?? '', body)
  // From now on, `end` only ends the message.
  internals._headerSent = true
  message.end()
  return true
}

/** Writes a head and a body that is already complete. */
export function writeHeadAndBody(socket: Writable, head: string, body: Buffer | undefined): void {
  if (!body || body.length <= SHORT_BYTES) {
    // As latin1, one character per byte, they can be joined without converting either.
    socket.write(body ? head + body.toString('latin1') : head, 'latin1')
    return
  }
  socket.cork()
  socket.write(head, 'latin1')
  socket.write(body)
  socket.uncork()
}
