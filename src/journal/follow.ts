/** Sends what happens as an event stream. What its reader is too slow for is dropped, and the reader is told how much. */
import type { ServerResponse } from 'node:http'
import { filterOf, type JournalFilter } from './filter.js'
import type { Journal } from './journal.js'
import type { JournalEntry } from './shapes.js'

/** Exchanges are sent together, so that many at a time do not hold each other up. */
const PAUSE_MS = 20
/** And no longer than this at a time: answering requests comes first. */
const MOST_WORK_MS = 5
/** At most this many wait for a slow reader. */
const MOST_WAITING = 1000
/** Keeps what is in between from taking a quiet stream for a dead one. */
const HEARTBEAT_MS = 15_000

interface Followed {
  readonly filter: JournalFilter
  /** The ids of what is sent before anything new. */
  readonly first: readonly string[]
}

/** Takes a response whose head has been written. It ends with the connection, or by calling what is given back. */
export function follow(response: ServerResponse, journal: Journal, { filter, first }: Followed): () => void {
  const fits = filterOf(filter)
  const waiting = [...first]
  let skipped = 0
  let timer: NodeJS.Timeout | undefined

  function tellSoon(): void {
    if (timer || response.writableNeedDrain) return
    timer = setTimeout(tell, PAUSE_MS)
  }

  function tell(): void {
    timer = undefined
    const untilMs = performance.now() + MOST_WORK_MS
    while (waiting.length > 0 && !response.writableNeedDrain && performance.now() < untilMs) tellOne()
    if (waiting.length > 0) tellSoon()
    else tellSkipped()
  }

  function tellOne(): void {
    const id = waiting.shift() ?? ''
    const entry = entryOf(id)
    // In a flood not everything is kept, and not for long.
    if (!entry) return void skipped++
    tellSkipped()
    response.write(`event: exchange\nid: ${id}\ndata: ${JSON.stringify(entry)}\n\n`)
  }

  /** In a timer nothing catches what is thrown. */
  function entryOf(id: string): JournalEntry | undefined {
    try {
      return journal.get(id)
    } catch {
      return undefined
    }
  }

  function tellSkipped(): void {
    if (skipped > 0) response.write(`event: skipped\ndata: {"count":${skipped}}\n\n`)
    skipped = 0
  }

  const unfollow = journal.follow((exchange, id) => {
    if (!fits({ exchange, id: Number(id) })) return
    waiting.push(id)
    if (waiting.length > Math.max(MOST_WAITING, first.length)) {
      waiting.shift()
      skipped++
    }
    tellSoon()
  })
  const heart = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': still here\n\n')
  }, HEARTBEAT_MS)

  function leave(): void {
    unfollow()
    clearInterval(heart)
    clearTimeout(timer)
  }

  response.on('drain', tellSoon)
  response.once('close', leave)
  // The head leaves with the first bytes.
  response.write(': following\n\n')
  if (waiting.length > 0) tellSoon()
  return () => {
    leave()
    response.end()
  }
}
