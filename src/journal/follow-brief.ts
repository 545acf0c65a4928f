/** Sends a list what happens: exchanges in short, many at a time, and each second how many there were and how long they took. */
import type { ServerResponse } from 'node:http'
import { passedMs } from '../core/clock.js'
import type { JournaledExchange } from './entry.js'
import { filterOf, type JournalFilter } from './filter.js'
import type { Journal } from './journal.js'
import type { JournalBrief } from './shapes.js'
import { createTally, sizeOf } from './tally.js'

/** What comes in this time is sent together. */
const PAUSE_MS = 100
/** If more are waiting, the last ones are sent, and the rest is counted. */
const MOST_WAITING = 1000
/** They are held with their bodies, which the journal may have forgotten by then. */
const MOST_WAITING_BYTES = 8 * 1_048_576
/** No longer than this at a time: answering requests comes first. */
const MOST_WORK_MS = 5
const TICK_MS = 1000

interface Followed {
  readonly filter: JournalFilter
  /** What is sent before anything new. */
  readonly first: readonly JournalBrief[]
  /** Changes with each start of the platform: ids start over then. */
  readonly run: string
}

/** Takes a response whose head has been written. It ends with the connection, or by calling what is given back. */
export function followInBrief(
  response: ServerResponse,
  journal: Journal,
  { filter, first, run }: Followed,
): () => void {
  const fits = filterOf(filter)
  const tally = createTally()
  let tallyFromMs = performance.now()
  const waiting: JournaledExchange[] = []
  let waitingBytes = 0
  let skipped = 0
  let timer: NodeJS.Timeout | undefined

  const write = (event: string, value: object, id = '') =>
    response.write(`event: ${event}\n${id && `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`)

  /** The one that has waited for longest. */
  function nextWaiting(): JournaledExchange | undefined {
    const seen = waiting.shift()
    waitingBytes = waiting.length === 0 || !seen ? 0 : waitingBytes - sizeOf(seen.exchange)
    return seen
  }

  function tellSoon(): void {
    timer ??= setTimeout(tell, PAUSE_MS)
  }

  function tell(): void {
    timer = undefined
    // A slow reader gets it when there is room again.
    if (response.writableNeedDrain) return
    const untilMs = performance.now() + MOST_WORK_MS
    const briefs: JournalBrief[] = []
    while (performance.now() < untilMs) {
      const seen = nextWaiting()
      if (!seen) break
      const brief = briefOf(seen)
      if (brief) briefs.push(brief)
      else skipped++
    }
    if (skipped > 0) write('skipped', { count: skipped })
    skipped = 0
    tellAll(briefs)
    if (waiting.length > 0) tellSoon()
  }

  /** In a timer nothing catches what is thrown. */
  function briefOf(seen: JournaledExchange): JournalBrief | undefined {
    try {
      return journal.brief(seen)
    } catch {
      return undefined
    }
  }

  function tellAll(briefs: readonly JournalBrief[]): void {
    if (briefs.length > 0) write('exchanges', briefs, briefs.at(-1)?.id)
  }

  function tick(): void {
    // What was not sent yet stays counted.
    if (response.writableNeedDrain) return
    const nowMs = performance.now()
    write('tick', { at: new Date().toISOString(), overMs: Math.round(nowMs - tallyFromMs), ...tally.take() })
    tallyFromMs = nowMs
  }

  const unfollow = journal.follow((exchange, id) => {
    const seen = seenNow(exchange, id)
    if (!fits(seen)) return
    tally.add(exchange, seen.durationMs)
    waiting.push(seen)
    waitingBytes += sizeOf(exchange)
    while (waiting.length > MOST_WAITING || (waitingBytes > MOST_WAITING_BYTES && waiting.length > 1)) {
      nextWaiting()
      skipped++
    }
    tellSoon()
  })
  const ticking = setInterval(tick, TICK_MS)

  function leave(): void {
    unfollow()
    clearInterval(ticking)
    clearTimeout(timer)
  }

  response.on('drain', tellSoon)
  response.once('close', leave)
  // From here on ids have gaps only where something is skipped.
  write('began', { run, after: first[0] ? String(Number(first[0].id) - 1) : journal.lastId() })
  tellAll(first)
  return () => {
    leave()
    response.end()
  }
}

function seenNow(exchange: JournaledExchange['exchange'], id: string): JournaledExchange {
  const durationMs = passedMs() - exchange.startedMs
  return { id: Number(id), exchange, atMs: Date.now() - durationMs, durationMs }
}
