/** The latest exchanges, up to a number and a size. Under heavy load only some are kept. */
import { uptimeMs } from '../core/clock.js'
import type { Exchange } from '../core/exchange.js'
import type { JournaledExchange } from './entry.js'
import { sizeOf } from './size.js'

export type Kept = ReturnType<typeof createKept>

interface KeptExchange extends JournaledExchange {
  /** The size when it was added. Checking its answer may make it larger later. */
  readonly bytes: number
}

export function createKept(maxEntries: number, maxBytes: number) {
  const room = createRoom(maxEntries)
  /** From the oldest to the newest. */
  let all: KeptExchange[] = []
  let totalBytes = 0
  return {
    all: (): readonly JournaledExchange[] => all,
    add(id: number, exchange: Exchange, nowMs: number): void {
      if (!room.take(nowMs)) return
      freeBuffers(exchange)
      const durationMs = nowMs - exchange.startedMs
      const bytes = sizeOf(exchange)
      all.push({ id, exchange, atMs: Date.now() - durationMs, durationMs, bytes })
      totalBytes += bytes
      while (all.length > maxEntries || (totalBytes > maxBytes && all.length > 1)) totalBytes -= all.shift()?.bytes ?? 0
    },
    /** Removes these exchanges, and makes room for as many, so that each test starts with the same room. */
    remove(removed: readonly JournaledExchange[]): void {
      const gone = new Set(removed)
      all = all.filter(one => !gone.has(one))
      totalBytes = all.reduce((sum, { bytes }) => sum + bytes, 0)
      room.give(removed.length)
    },
  }
}

/**
 * Kept exchanges cost garbage collections, which under heavy load cost more than answering. Once the journal was filled
 * in one go, only a quarter of its size is kept per second: more could not be read in time.
 */
function createRoom(maxEntries: number) {
  let room = maxEntries
  let atMs = uptimeMs()
  return {
    take(nowMs: number): boolean {
      if (room < 1) {
        room = Math.min(maxEntries, ((nowMs - atMs) / 4000) * maxEntries)
        if (room < 1) return false
        atMs = nowMs
      }
      room--
      return true
    },
    give(count: number): void {
      room = Math.min(maxEntries, room + count)
    },
  }
}

/** The bytes may be a small part of a large network buffer, which would otherwise stay in memory. */
function freeBuffers(exchange: Exchange): void {
  const { body, outcome } = exchange
  if (body && body.buffer.byteLength > 2 * body.length) exchange.body = Buffer.from(body)
  if (outcome?.answer?.kind === 'upstream') moveIntoOneBuffer(outcome.answer.beginning)
}

/** Copies all pieces into one buffer, since a single piece keeps its whole original buffer in memory. */
function moveIntoOneBuffer(pieces: Buffer[]): void {
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  let start = 0
  for (const [i, piece] of pieces.entries()) {
    piece.copy(bytes, start)
    pieces[i] = bytes.subarray(start, start + piece.length)
    start += piece.length
  }
}
