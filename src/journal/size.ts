/** What an exchange holds in memory, as far as it can be large. */
import type { Exchange, Heard, Reply } from '../core/exchange.js'

export function sizeOf({ path, query, body, outcome }: Exchange): number {
  const asked = path.length + query.length + (body?.length ?? 0)
  const { said, piecesAtMs = none } = outcome ?? {}
  return asked + piecesAtMs.length * TIME_BYTES + (said ? heldOf(said) : 0)
}

const none: readonly number[] = []
const TIME_BYTES = 8

/** Of streams the texts are shared with the rules that say them, and bytes are used again. */
function heldOf(said: Reply | Heard): number {
  if (said.kind === 'heard') return said.beginning.reduce((sum, { length }) => sum + length, 0)
  return typeof said.body === 'string' ? said.body.length : 0
}
