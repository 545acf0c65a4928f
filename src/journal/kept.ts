/** The latest exchanges, up to a number and a size. */
import type { Exchange } from '../core/exchange.js'
import type { Reply, UpstreamResponse } from '../core/reply.js'
import { READ_BYTES } from './facts.js'
import type { JournaledExchange } from './fields.js'

interface KeptExchange extends JournaledExchange {
  /** The size when it was added. Checking its answer may make it larger later. */
  readonly bytes: number
}

export function createKept(maxEntries: number, maxBytes: number) {
  /** From the oldest to the newest. */
  let all: KeptExchange[] = []
  let totalBytes = 0
  return {
    all: (): readonly JournaledExchange[] => all,
    add(id: number, exchange: Exchange, nowMs: number): void {
      freeMemory(exchange)
      const durationMs = nowMs - exchange.startedMs
      const bytes = sizeOf(exchange)
      all.push({ id, exchange, atMs: Date.now() - durationMs, durationMs, bytes })
      totalBytes += bytes
      while (all.length > maxEntries || (totalBytes > maxBytes && all.length > 1)) totalBytes -= all.shift()?.bytes ?? 0
    },
    remove(removed: readonly JournaledExchange[]): void {
      const gone = new Set(removed)
      all = all.filter(one => !gone.has(one))
      totalBytes = all.reduce((sum, { bytes }) => sum + bytes, 0)
    },
  }
}

/** Drops what can be read again, and network buffers of which the bytes are only a small part. */
function freeMemory(exchange: Exchange): void {
  const { body, bodyCutFromBytes, outcome } = exchange
  if (body && bodyCutFromBytes === undefined && body.length <= READ_BYTES) exchange.chat = undefined
  if (body && body.buffer.byteLength > 2 * body.length) exchange.body = Buffer.from(body)
  if (outcome?.answer?.kind === 'upstream') {
    const { beginning } = outcome.answer
    beginning.splice(0, beginning.length, Buffer.concat(beginning))
  }
}

const TIME_BYTES = 8
/** The memory that a piece of a body takes in addition to its bytes. */
const PIECE_BYTES = 150
const TEXT_BYTES = 24

/** How much memory an exchange holds, counting only parts that can be large. */
export function sizeOf({ path, query, body, chat, outcome }: Exchange): number {
  const { answer, upstream, piecesAtMs } = outcome ?? {}
  const bodyBytes = body?.length ?? 0
  return (
    path.length +
    query.length +
    // A parsed chat request is kept in addition to its bytes.
    (chat ? 2 * bodyBytes : bodyBytes) +
    (piecesAtMs?.length ?? 0) * TIME_BYTES +
    (answer ? answerBytes(answer) : 0) +
    (upstream ? answerBytes(upstream) : 0)
  )
}

/** Counts the pieces of a stream in full, although they may be shared with their rule or recording. */
function answerBytes(answer: Reply | UpstreamResponse): number {
  if (answer.kind === 'upstream') return answer.beginning.reduce((sum, { length }) => sum + length + PIECE_BYTES, 0)
  const { body } = answer
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body.length
  return body.pieces.reduce((sum, { length }) => sum + length + TEXT_BYTES, 0)
}
