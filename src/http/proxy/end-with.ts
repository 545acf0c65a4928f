/** Ends a message with bytes that are there already. */
import type { OutgoingMessage } from 'node:http'

/** Longer bodies are not worth being copied. */
const SHORT_BYTES = 16_384

/** Sends `body` and nothing more, just as it is. */
export function endWith(message: OutgoingMessage, body: Buffer | undefined): void {
  if (!body || body.length === 0) message.end()
  // One letter a byte: then node puts head and body together and writes once.
  else if (body.length <= SHORT_BYTES) message.end(body.toString('latin1'), 'latin1')
  else message.end(body)
}
