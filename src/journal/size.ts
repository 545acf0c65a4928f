/** What an exchange holds in memory, as far as it can be large. */
import type { Exchange, Heard, Reply } from '../core/exchange.js'

export function sizeOf({ path, query, body, chat, outcome }: Exchange): number {
  const bodyBytes = body?.length ?? 0
  // What a chat request asks is kept beside its bytes.
  const asked = path.length + query.length + bodyBytes + (chat ? bodyBytes : 0)
  const { said, upstream, piecesAtMs = none } = outcome ?? {}
  return asked + piecesAtMs.length * TIME_BYTES + (said ? heldOf(said) : 0) + (upstream ? heldOf(upstream) : 0)
}

const none: readonly number[] = []
const TIME_BYTES = 8
/** What a piece of a body takes beyond its bytes. */
const PIECE_BYTES = 150
const TEXT_BYTES = 24

/** The pieces of a stream may be shared with the rule or the recording that says them, or not. Bytes that can be made once more are used again. */
function heldOf(said: Reply | Heard): number {
  if (said.kind === 'heard') return said.beginning.reduce((sum, { length }) => sum + length + PIECE_BYTES, 0)
  const { body, again } = said
  if (typeof body === 'string') return body.length
  if (Buffer.isBuffer(body)) return again ? 0 : body.length
  return body.pieces.reduce((sum, { length }) => sum + length + TEXT_BYTES, 0)
}
