/** What happened: every exchange ends up here, the last of them are kept, and followers are notified. */
import { passedMs } from '../core/clock.js'
import type { Exchange } from '../core/exchange.js'
import { credentialsOf, type Redact } from '../redact/index.js'
import { briefOf } from './brief.js'
import { curlOf } from './curl.js'
import { entryOf, type JournaledExchange } from './entry.js'
import { filterOf, type JournalFilter } from './filter.js'
import type { JournalBrief, JournalEntry } from './shapes.js'
import { sizeOf } from './tally.js'

export interface Journal {
  /** Takes an exchange whose answer has left, or never will. */
  add(exchange: Exchange): void
  /** Calls `listener` for each exchange that was refused from now on. */
  followErrors(listener: (exchange: Exchange) => void): void
  /** Calls `listener` for each exchange from now on; what it gives back ends that. */
  follow(listener: (exchange: Exchange, id: string) => void): () => void
  /** Those that fit, from the oldest to the newest; of more than `limit` the newest. */
  entries(filter?: JournalFilter, limit?: number): readonly JournalEntry[]
  /** The ids of those that fit, in the same order; of more than `limit` the first ones where the filter says after which, and the newest otherwise. */
  ids(filter?: JournalFilter, limit?: number): readonly string[]
  /** The same as they came, secrets included: for comparing, never for showing. */
  exchanges(filter?: JournalFilter): readonly { readonly id: string; readonly exchange: Exchange }[]
  /** By its id or the header x-request-id of its answer. Of longer bodies it has the first `shownBytes`. */
  get(id: string, shownBytes?: number): JournalEntry | undefined
  /** One as it is kept, secrets included: for making something of it, such as a recording. */
  kept(id: string): JournaledExchange | undefined
  /** An exchange in short, whether it is kept or not. */
  brief(seen: JournaledExchange): JournalBrief
  /** Those whose ids `ids` gives back, in short. */
  briefs(filter?: JournalFilter, limit?: number): readonly JournalBrief[]
  /** Takes out of a text that was put together from parts of an exchange what only shows itself in it now. */
  redaction(id: string): ((text: string) => string) | undefined
  /** A command for a shell that sends the request once more, to the platform at `url`. */
  curl(id: string, url: string): string | undefined
  count(filter?: JournalFilter): number
  /** The id of the last exchange, kept or not; `0` before the first. */
  lastId(): string
  /** How many were not kept because there were too many at once. */
  passedOver(): number
  /** Forgets those that fit; all if no filter is given. */
  clear(filter?: JournalFilter): void
}

interface JournalParts {
  /** No more exchanges are kept, nor more bytes of their bodies. */
  readonly maxEntries: number
  readonly maxBytes: number
  /** Takes out what is secret, when it is read. */
  readonly redact: () => Redact
  /** Called when a listener fails. */
  readonly report?: (error: unknown) => void
}

export function createJournal({ maxEntries, maxBytes, redact, report = console.error }: JournalParts): Journal {
  const listeners = new Set<(exchange: Exchange, id: string) => void>()
  const errorListeners: ((exchange: Exchange) => void)[] = []
  /** A ring of the last that were kept. */
  const ring: (JournaledExchange | undefined)[] = Array.from({ length: maxEntries })
  /** What each of them was counted as: judging an answer may add to it later. */
  const sizes = new Float64Array(maxEntries)
  let keptCount = 0
  let lastId = 0
  let bytes = 0
  /** How many more may be kept now. */
  let room = maxEntries
  let roomAtMs = passedMs()
  let passedOver = 0

  function add(exchange: Exchange): void {
    const id = ++lastId
    const nowMs = passedMs()
    if (hasRoom(nowMs)) keep(id, exchange, nowMs)
    else passedOver++
    for (const listener of listeners) told(listener, exchange, String(id))
    if (exchange.outcome?.error !== undefined)
      for (const listener of errorListeners) told(listener, exchange, String(id))
  }

  const failing = new WeakSet<object>()

  /** The answer has left already: what fails now is reported, once for each listener, and harms nothing else. */
  function told(listener: (exchange: Exchange, id: string) => void, exchange: Exchange, id: string): void {
    try {
      listener(exchange, id)
    } catch (error) {
      if (!failing.has(listener)) report(error)
      failing.add(listener)
    }
  }

  /**
   * What is kept has to be looked after by the garbage collector, which in a flood costs more than answering does. After as many at once as there
   * is place for, a quarter of that is kept each second: with more, the first ones could not be seen any more.
   */
  function hasRoom(nowMs: number): boolean {
    if (room < 1) {
      room = Math.min(maxEntries, ((nowMs - roomAtMs) / 4000) * maxEntries)
      if (room < 1) return false
      roomAtMs = nowMs
    }
    room--
    return true
  }

  function keep(id: number, exchange: Exchange, nowMs: number): void {
    const { body } = exchange
    // What the network delivered may be a small part of a large buffer, which would be kept whole.
    if (body && body.buffer.byteLength > 2 * body.length) exchange.body = Buffer.from(body)
    const { said } = exchange.outcome ?? {}
    if (said?.kind === 'heard') together(said.beginning)
    const place = keptCount % maxEntries
    forget(place)
    const durationMs = nowMs - exchange.startedMs
    const size = sizeOf(exchange)
    sizes[place] = size
    ring[place] = { id, exchange, atMs: Date.now() - durationMs, durationMs }
    keptCount++
    bytes += size
    for (let oldest = keptCount - maxEntries; bytes > maxBytes && oldest < keptCount - 1; oldest++) {
      if (oldest >= 0) forget(oldest % maxEntries)
    }
  }

  function forget(place: number): void {
    if (!ring[place]) return
    bytes -= sizes[place] ?? 0
    ring[place] = undefined
  }

  /** From the oldest to the newest, with their places. */
  function* all(): Generator<readonly [kept: JournaledExchange, place: number]> {
    for (let nth = Math.max(0, keptCount - maxEntries); nth < keptCount; nth++) {
      const kept = ring[nth % maxEntries]
      if (kept) yield [kept, nth % maxEntries]
    }
  }

  function fitting(filter: JournalFilter): readonly (readonly [kept: JournaledExchange, place: number])[] {
    const fits = filterOf(filter)
    return [...all()].filter(([kept]) => fits(kept))
  }

  /** Of more than `limit` the first ones where the filter says after which, and the newest otherwise. */
  function partOf(filter: JournalFilter, limit: number): readonly JournaledExchange[] {
    const found = fitting(filter).map(([kept]) => kept)
    return filter.after === undefined ? found.slice(-limit) : found.slice(0, limit)
  }

  function kept(id: string): JournaledExchange | undefined {
    // A number is compared with each, not made a text first.
    const wanted = /^(0|[1-9]\d*)$/.test(id) ? Number(id) : Number.NaN
    for (const [found] of all()) if (found.id === wanted || found.exchange.outcome?.requestId === id) return found
    return undefined
  }

  return {
    add,
    followErrors: listener => void errorListeners.push(listener),
    follow(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    entries: (filter = {}, limit = maxEntries) =>
      fitting(filter)
        .slice(-limit)
        .map(([found]) => entryOf(found, redact())),
    ids: (filter = {}, limit = maxEntries) => partOf(filter, limit).map(({ id }) => String(id)),
    exchanges: (filter = {}) => fitting(filter).map(([{ id, exchange }]) => ({ id: String(id), exchange })),
    get(id, shownBytes) {
      const found = kept(id)
      return found && entryOf(found, redact(), shownBytes)
    },
    kept,
    brief: seen => briefOf(seen, redact()),
    briefs: (filter = {}, limit = maxEntries) => partOf(filter, limit).map(found => briefOf(found, redact())),
    redaction(id) {
      const found = kept(id)
      return found && redact()(credentialsOf(found.exchange, redact())).text
    },
    curl(id, url) {
      const found = kept(id)
      return found && curlOf(found.exchange, redact(), url)
    },
    count: (filter = {}) => fitting(filter).length,
    lastId: () => String(lastId),
    passedOver: () => passedOver,
    clear(filter = {}) {
      const cleared = fitting(filter)
      for (const [, place] of cleared) forget(place)
      // What is gone is no longer looked after: a test has as much room as the first one.
      room = Math.min(maxEntries, room + cleared.length)
    },
  }
}

/** Puts the bytes of all pieces into one buffer: node's buffers for small pieces are kept whole for the sake of any one piece in them. */
function together(pieces: Buffer[]): void {
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  let start = 0
  for (const [i, piece] of pieces.entries()) {
    piece.copy(bytes, start)
    pieces[i] = bytes.subarray(start, start + piece.length)
    start += piece.length
  }
}
