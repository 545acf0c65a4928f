/** How much memory exchanges hold. */
import type { Exchange } from '../core/exchange.js'
import type { Reply, UpstreamResponse } from '../core/reply.js'

/** Counts only parts that can be large. */
export function sizeOf({ path, query, body, chat, outcome }: Exchange): number {
  const bodyBytes = body?.length ?? 0
  // The parsed chat request is kept in addition to its bytes.
  const requestBytes = path.length + query.length + bodyBytes + (chat ? bodyBytes : 0)
  const { answer, upstream, piecesAtMs = noTimes } = outcome ?? {}
  return (
    requestBytes +
    piecesAtMs.length * TIME_BYTES +
    (answer ? memoryOf(answer) : 0) +
    (upstream ? memoryOf(upstream) : 0)
  )
}

const noTimes: readonly number[] = []
const TIME_BYTES = 8
/** The memory that a piece of a body takes in addition to its bytes. */
const PIECE_BYTES = 150
const TEXT_BYTES = 24

/**
 * Counts the pieces of a stream in full, although they may be shared with their rule or recording.
 */
function memoryOf(answer: Reply | UpstreamResponse): number {
  if (answer.kind === 'upstream') return answer.beginning.reduce((sum, { length }) => sum + length + PIECE_BYTES, 0)
  const { body } = answer
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body.length
  return body.pieces.reduce((sum, { length }) => sum + length + TEXT_BYTES, 0)
}
