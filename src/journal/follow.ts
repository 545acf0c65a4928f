/**
 * Streams exchanges as events. If the reader is too slow, some are skipped, and an event says how many. A list is also
 * told which requests are in flight, and what decides the next answer.
 */
import type { ServerResponse } from 'node:http'
import { uptimeMs } from '../core/clock.js'
import type { JournaledExchange } from './fields.js'
import { filterOf, type JournalFilter } from './filter.js'
import { type Journal, sizeOf } from './journal.js'

/** At most this many exchanges wait for a slow reader. */
const MOST_WAITING = 1000
/** They are held with their bodies, even if the journal has dropped them in the meantime. */
const MOST_WAITING_BYTES = 8 * 1_048_576
/** At most this many are sent to a list at once, since answering requests comes first. */
const MOST_AT_ONCE = 50
/** How often a stream shows that it is alive, so that a quiet one is not considered dead. */
const BEAT_MS = 5000
/** Exchanges within this time are sent together, so that they do not hold each other up. */
const PAUSE_MS = 20
const PAUSE_OF_LISTS_MS = 100
/** How often a list is told how far the requests in flight are. */
const GROWTH_MS = 200

interface FollowOptions {
  readonly filter: JournalFilter
  /** Whether each exchange is sent in short, several in one event. */
  readonly isBrief: boolean
  /** What is sent first, before anything new. */
  readonly first: readonly JournaledExchange[]
  /** Changes with each start of the platform, when ids begin again. */
  readonly run: string
  /** What decides the next answer. */
  readonly situation: FollowedSituation
  /** The holds at which requests in flight wait, by the ids of these. */
  readonly holds: () => ReadonlyMap<string, string>
}

/** What decides the next answer, and who is told when it changes. */
export interface FollowedSituation {
  current(): unknown
  /** Returns a function that stops this. */
  follow(listener: () => void): () => void
}

/** Takes a response whose head has been written. Ends with the connection, or when the returned function is called. */
// Long because all of it shares the state of one stream.
export function follow(response: ServerResponse, journal: Journal, options: FollowOptions): () => void {
  const { filter, isBrief, first, run, situation, holds } = options
  const matches = filterOf(filter)
  const waiting = createWaiting(first)
  const { write, send } = createSender(response, journal, waiting, isBrief)
  const sendFlights = createFlightSender(journal, { filter, holds }, write)
  let timer: NodeJS.Timeout | undefined

  function sendSoon(): void {
    timer ??= setTimeout(sendNow, isBrief ? PAUSE_OF_LISTS_MS : PAUSE_MS)
  }

  function sendNow(): void {
    timer = undefined
    // A slow reader gets the rest when there is room again.
    while (waiting.hasMore() && !response.writableNeedDrain) {
      send(isBrief ? MOST_AT_ONCE : 1)
      if (isBrief) break
    }
    if (waiting.hasMore() && !response.writableNeedDrain) sendSoon()
    else if (isBrief && !response.writableNeedDrain && sendFlights()) timer = setTimeout(sendNow, GROWTH_MS)
  }

  const sendSituation = () => write('situation', situation.current())

  const ends = [
    journal.follow((exchange, id) => {
      const durationMs = (exchange.endedMs ?? uptimeMs()) - exchange.startedMs
      const journaled = { id, exchange, atMs: Date.now() - durationMs, durationMs }
      if (!matches(journaled) || journal.isPast(exchange)) return
      waiting.add(journaled)
      sendSoon()
    }),
    ...(isBrief ? [journal.followBeginnings(sendSoon), situation.follow(sendSituation)] : []),
    journal.followClears(scope => {
      if (!isBrief) return
      // Exchanges from before are sent first.
      send(Number.POSITIVE_INFINITY)
      write('cleared', { scope })
    }),
    beating(response),
    () => clearTimeout(timer),
  ]

  function stop(): void {
    for (const end of ends) end()
  }

  // The head is sent with the first bytes. From `began` on, ids have gaps only if exchanges are skipped.
  if (!isBrief) response.write(': following\n\n')
  else {
    write('began', { run, after: first[0] ? String(first[0].id - 1) : journal.lastId(), cleared: journal.clearedId() })
    sendSituation()
    send(Number.POSITIVE_INFINITY)
  }
  response.on('drain', sendSoon).once('close', stop)
  sendSoon()
  return () => {
    stop()
    response.end()
  }
}

/** Writes events. The id of an event is that of its last exchange. */
function createSender(response: ServerResponse, journal: Journal, waiting: Waiting, isBrief: boolean) {
  const show = (journaled: JournaledExchange) => (isBrief ? journal.brief(journaled) : journal.entry(journaled))

  const write = (event: string, value: unknown, id?: string) =>
    response.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`)

  return {
    write,
    send(most: number): void {
      const { shown, skipped } = waiting.take(most, show)
      if (skipped > 0) write('skipped', { count: skipped })
      if (!isBrief) for (const entry of shown) write('exchange', entry, entry.id)
      else if (shown.length > 0) write('exchanges', shown, shown.at(-1)?.id)
    },
  }
}

/** Sends the requests in flight if they have changed. Returns whether there are any. */
function createFlightSender(
  journal: Journal,
  { filter, holds }: Pick<FollowOptions, 'filter' | 'holds'>,
  write: (event: string, value: unknown) => unknown,
) {
  // They have no ids of the journal yet.
  const matches = filterOf({ ...filter, after: undefined, before: undefined })
  let sent = '[]'
  return (): boolean => {
    const waiting = holds()
    const flights = journal.flights(matches).map(flight => ({ ...flight, hold: waiting.get(flight.id) ?? null }))
    const text = JSON.stringify(flights)
    if (text !== sent) write('flights', flights)
    sent = text
    return flights.length > 0
  }
}

/** Shows that a stream is alive. Returns a function that stops this. */
function beating(response: ServerResponse): () => void {
  const timer = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': still here\n\n')
  }, BEAT_MS)
  return () => clearInterval(timer)
}

type Waiting = ReturnType<typeof createWaiting>

/** Exchanges that wait to be sent. If there are too many, or they are too large, the oldest are dropped. */
function createWaiting(first: readonly JournaledExchange[]) {
  // The journal has the first ones anyway, so that their bytes do not count.
  const queue = first.map(journaled => ({ journaled, bytes: 0 }))
  let totalBytes = 0
  let skipped = 0

  function next(): JournaledExchange | undefined {
    const one = queue.shift()
    totalBytes -= one?.bytes ?? 0
    return one?.journaled
  }

  return {
    hasMore: () => queue.length > 0 || skipped > 0,
    add(journaled: JournaledExchange): void {
      const bytes = sizeOf(journaled.exchange)
      queue.push({ journaled, bytes })
      totalBytes += bytes
      while (queue.length > MOST_WAITING + first.length || (totalBytes > MOST_WAITING_BYTES && queue.length > 1)) {
        next()
        skipped++
      }
    },
    /** Takes the ones that have waited longest, and says how many were skipped. */
    take<Shown>(most: number, show: (journaled: JournaledExchange) => Shown) {
      const shown: Shown[] = []
      while (queue.length > 0 && shown.length < most) {
        const one = next() as JournaledExchange
        try {
          shown.push(show(one))
        } catch {
          // Nothing catches errors that are thrown in a timer.
          skipped++
        }
      }
      const result = { shown, skipped }
      skipped = 0
      return result
    },
  }
}
