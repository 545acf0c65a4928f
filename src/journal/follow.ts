/** Streams exchanges as events. If the reader is too slow, some are dropped, and the reader is told how many. */
import type { ServerResponse } from 'node:http'
import { passedMs } from '../core/clock.js'
import type { Exchange } from '../core/exchange.js'
import type { JournaledExchange } from './entry.js'
import { filterOf, type JournalFilter } from './filter.js'
import type { Journal } from './journal.js'

/** At most this many exchanges wait for a slow reader. */
export const MOST_WAITING = 1000
/** The longest time to work without a break, since answering requests comes first. */
const MOST_WORK_MS = 5

interface Following {
  readonly filter: JournalFilter
  /** Exchanges within this time are sent together, so that they do not hold each other up. */
  readonly pauseMs: number
  readonly beatMs: number
  /** Takes a matching exchange, which is sent later. */
  take(seen: JournaledExchange): void
  /** Sends waiting exchanges until then. Returns true if more are waiting. */
  send(untilMs: number): boolean
  /** Called when the exchanges of a scope, or all of them, were cleared. */
  cleared?(scope: string | undefined): void
  /** Called at regular intervals while the reader keeps up. */
  beat(): void
}

/** Takes a response whose head has been written. Ends with the connection, or when the returned function is called. */
export function followWith(response: ServerResponse, journal: Journal, following: Following): () => void {
  const fits = filterOf(following.filter)
  let timer: NodeJS.Timeout | undefined

  function sendSoon(): void {
    timer ??= setTimeout(sendNow, following.pauseMs)
  }

  function sendNow(): void {
    timer = undefined
    // A slow reader gets the rest when there is room again.
    if (response.writableNeedDrain) return
    if (following.send(performance.now() + MOST_WORK_MS)) sendSoon()
  }

  const unfollow = journal.follow((exchange, id) => {
    const seen = seenNow(exchange, id)
    if (!fits(seen) || journal.isPast(exchange)) return
    following.take(seen)
    sendSoon()
  })
  const unfollowClears = journal.followClears(scope => following.cleared?.(scope))
  const beating = setInterval(() => {
    if (!response.writableNeedDrain) following.beat()
  }, following.beatMs)

  function leave(): void {
    unfollow()
    unfollowClears()
    clearInterval(beating)
    clearTimeout(timer)
  }

  response.on('drain', sendSoon)
  response.once('close', leave)
  sendSoon()
  return () => {
    leave()
    response.end()
  }
}

function seenNow(exchange: Exchange, id: number): JournaledExchange {
  const durationMs = (exchange.endedMs ?? passedMs()) - exchange.startedMs
  return { id, exchange, atMs: Date.now() - durationMs, durationMs }
}

/** Nothing catches errors that are thrown in a timer. An exchange that cannot be read counts as skipped. */
export function readSafely<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

interface Followed {
  readonly filter: JournalFilter
  /** The ids of what is sent first, before anything new. */
  readonly first: readonly string[]
}

/** Sends each exchange in full, as its own event. */
export function follow(response: ServerResponse, journal: Journal, { filter, first }: Followed): () => void {
  const waiting = [...first]
  let skipped = 0

  function sendOne(): void {
    const id = waiting.shift() ?? ''
    const entry = readSafely(() => journal.get(id))
    // Under heavy load not everything is kept, and not for long.
    if (!entry) return void skipped++
    sendSkipped()
    response.write(`event: exchange\nid: ${id}\ndata: ${JSON.stringify(entry)}\n\n`)
  }

  function sendSkipped(): void {
    if (skipped > 0) response.write(`event: skipped\ndata: {"count":${skipped}}\n\n`)
    skipped = 0
  }

  // The head is sent with the first bytes.
  response.write(': following\n\n')
  return followWith(response, journal, {
    ...{ filter, pauseMs: 20, beatMs: 15_000 },
    take({ id }) {
      waiting.push(String(id))
      if (waiting.length <= Math.max(MOST_WAITING, first.length)) return
      waiting.shift()
      skipped++
    },
    send(untilMs) {
      while (waiting.length > 0 && !response.writableNeedDrain && performance.now() < untilMs) sendOne()
      if (waiting.length === 0) sendSkipped()
      return waiting.length > 0
    },
    // So that a quiet stream is not considered dead.
    beat: () => void response.write(': still here\n\n'),
  })
}
