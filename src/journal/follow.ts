/** Streams exchanges as events. If the reader is too slow, some are skipped, and an event says how many. */
import type { ServerResponse } from 'node:http'
import { uptimeMs } from '../core/clock.js'
import type { Exchange } from '../core/exchange.js'
import type { JournaledExchange } from './entry.js'
import { filterOf, type JournalFilter } from './filter.js'
import type { Journal } from './journal.js'

/** At most this many exchanges wait for a slow reader. */
export const MOST_WAITING = 1000
/** How often a stream shows that it is alive, so that a quiet one is not considered dead. */
const BEAT_MS = 5000

interface Follower {
  readonly filter: JournalFilter
  /** Exchanges within this time are sent together, so that they do not hold each other up. */
  readonly pauseMs: number
  /** Takes a matching exchange, which is sent later. */
  take(journaled: JournaledExchange): void
  /** Sends some of the waiting exchanges. Returns whether more are waiting. */
  send(): boolean
  /** Called when the exchanges of a scope, or all of them, were cleared. */
  cleared?(scope: string | undefined): void
}

/** Takes a response whose head has been written. Ends with the connection, or when the returned function is called. */
export function followWith(response: ServerResponse, journal: Journal, follower: Follower): () => void {
  const matches = filterOf(follower.filter)
  let timer: NodeJS.Timeout | undefined

  function sendSoon(): void {
    timer ??= setTimeout(sendNow, follower.pauseMs)
  }

  function sendNow(): void {
    timer = undefined
    // A slow reader gets the rest when there is room again.
    if (response.writableNeedDrain) return
    if (follower.send()) sendSoon()
  }

  const unfollow = journal.follow((exchange, id) => {
    const journaled = journaledNow(exchange, id)
    if (!matches(journaled) || journal.isPast(exchange)) return
    follower.take(journaled)
    sendSoon()
  })
  const unfollowClears = journal.followClears(scope => follower.cleared?.(scope))
  const beatTimer = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': still here\n\n')
  }, BEAT_MS)

  function stop(): void {
    unfollow()
    unfollowClears()
    clearInterval(beatTimer)
    clearTimeout(timer)
  }

  response.on('drain', sendSoon)
  response.once('close', stop)
  sendSoon()
  return () => {
    stop()
    response.end()
  }
}

function journaledNow(exchange: Exchange, id: number): JournaledExchange {
  const durationMs = (exchange.endedMs ?? uptimeMs()) - exchange.startedMs
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

interface FollowOptions {
  readonly filter: JournalFilter
  /** The ids of exchanges that are sent before any new ones. */
  readonly firstIds: readonly string[]
}

/** Sends each exchange in full, as its own event. */
export function follow(response: ServerResponse, journal: Journal, { filter, firstIds }: FollowOptions): () => void {
  const waitingIds = [...firstIds]
  let skipped = 0

  function sendOne(): void {
    const id = waitingIds.shift() ?? ''
    const entry = readSafely(() => journal.get(id))
    // Under heavy load the journal keeps only some exchanges, and not for long.
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
    ...{ filter, pauseMs: 20 },
    take({ id }) {
      waitingIds.push(String(id))
      if (waitingIds.length <= Math.max(MOST_WAITING, firstIds.length)) return
      waitingIds.shift()
      skipped++
    },
    send() {
      while (waitingIds.length > 0 && !response.writableNeedDrain) sendOne()
      if (waitingIds.length === 0) sendSkipped()
      return waitingIds.length > 0
    },
  })
}
