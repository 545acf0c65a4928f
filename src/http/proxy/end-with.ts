/** Ends a message with a complete body. */
import type { OutgoingMessage } from 'node:http'

/** Longer bodies are not worth copying. */
const SHORT_BYTES = 16_384

/** Sends exactly `body` and ends the message. */
export function endWith(message: OutgoingMessage, body: Buffer | undefined): void {
  if (!body || body.length === 0) message.end()
  // As latin1, one character per byte, node joins head and body and writes once.
  else if (body.length <= SHORT_BYTES) message.end(body.toString('latin1'), 'latin1')
  else message.end(body)
}
