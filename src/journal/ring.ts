/** The latest exchanges, up to a number and a size. Under heavy load only some are kept. */
import { uptimeMs } from '../core/clock.js'
import type { Exchange } from '../core/exchange.js'
import type { JournaledExchange } from './entry.js'
import { sizeOf } from './size.js'

/** An exchange, and its index in the ring. */
export type RingEntry = readonly [journaled: JournaledExchange, index: number]

/** Its slots are allocated at the start, so that keeping an exchange creates no further object. */
export class Ring {
  private readonly ring: (Exchange | undefined)[]
  private readonly ids: Float64Array
  /** When each exchange began, in milliseconds since 1970. */
  private readonly atMs: Float64Array
  /** The size of each exchange when it was added. Checking its answer may make it larger later. */
  private readonly sizes: Float64Array
  private keptCount = 0
  private bytes = 0
  /** How many more exchanges may be kept at the moment. */
  private room: number
  private roomAtMs = uptimeMs()

  constructor(
    private readonly maxEntries: number,
    private readonly maxBytes: number,
  ) {
    this.ring = new Array(maxEntries)
    this.ids = new Float64Array(maxEntries)
    this.atMs = new Float64Array(maxEntries)
    this.sizes = new Float64Array(maxEntries)
    this.room = maxEntries
  }

  add(id: number, exchange: Exchange, nowMs: number): void {
    if (!this.hasRoom(nowMs)) return
    freeBuffers(exchange)
    const index = this.keptCount % this.maxEntries
    this.forget(index)
    const size = sizeOf(exchange)
    this.sizes[index] = size
    this.ids[index] = id
    this.atMs[index] = Date.now() - (nowMs - exchange.startedMs)
    this.ring[index] = exchange
    this.keptCount++
    this.bytes += size
    const newest = this.keptCount - 1
    for (let nth = this.keptCount - this.maxEntries; this.bytes > this.maxBytes && nth < newest; nth++) {
      if (nth >= 0) this.forget(nth % this.maxEntries)
    }
  }

  /** From the oldest to the newest. */
  *all(): Generator<RingEntry> {
    for (let nth = Math.max(0, this.keptCount - this.maxEntries); nth < this.keptCount; nth++) {
      const index = nth % this.maxEntries
      const exchange = this.ring[index]
      if (exchange) yield [this.journaledAt(index, exchange), index]
    }
  }

  /** Removes these exchanges and makes room for as many, so that each test starts with the same room. */
  clear(entries: readonly RingEntry[]): void {
    for (const [, index] of entries) this.forget(index)
    this.room = Math.min(this.maxEntries, this.room + entries.length)
  }

  private journaledAt(index: number, exchange: Exchange): JournaledExchange {
    const { startedMs, endedMs = startedMs } = exchange
    return { id: this.ids[index] ?? 0, exchange, atMs: this.atMs[index] ?? 0, durationMs: endedMs - startedMs }
  }

  private forget(index: number): void {
    if (!this.ring[index]) return
    this.bytes -= this.sizes[index] ?? 0
    this.ring[index] = undefined
  }

  /**
   * Kept exchanges cost garbage collections, which under heavy load cost more than answering. Once the ring was filled
   * in one go, only a quarter of its size is kept per second: more could not be read in time.
   */
  private hasRoom(nowMs: number): boolean {
    if (this.room < 1) {
      this.room = Math.min(this.maxEntries, ((nowMs - this.roomAtMs) / 4000) * this.maxEntries)
      if (this.room < 1) return false
      this.roomAtMs = nowMs
    }
    this.room--
    return true
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
