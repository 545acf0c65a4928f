/** The journal: takes every exchange, keeps the latest, and notifies followers. */
import { passedMs } from '../core/clock.js'
import type { Exchange } from '../core/exchange.js'
import { DASHBOARD_HEADER } from '../core/paths.js'
import { credentialsOf, type Redact } from '../redact/index.js'
import { briefOf } from './brief.js'
import { curlOf } from './curl.js'
import { entryOf, type JournaledExchange } from './entry.js'
import { filterOf, type JournalFilter } from './filter.js'
import { type Place, Ring } from './ring.js'
import type { JournalBrief, JournalEntry } from './shapes.js'
import { createSeconds, type Second } from './tally.js'

type Listener = (exchange: Exchange, id: number) => void

export interface Journal {
  /** Adds an exchange whose answer has been sent, or never will be. */
  add(exchange: Exchange): void
  /** Calls `listener` for each further exchange that was refused. */
  followErrors(listener: (exchange: Exchange) => void): void
  /** Calls `listener` for each further exchange. Returns a function that stops this. */
  follow(listener: Listener): () => void
  /** Returns the matching exchanges, oldest first. If there are more than `limit`, the newest of them. */
  entries(filter?: JournalFilter, limit?: number): readonly JournalEntry[]
  /**
   * Returns the ids of the matching exchanges, oldest first. If there are more than `limit`: the first ones if the
   * filter has `after`, otherwise the newest.
   */
  ids(filter?: JournalFilter, limit?: number): readonly string[]
  /** Returns the original exchanges with their secrets, for comparing and never for showing. */
  exchanges(filter?: JournalFilter): readonly { readonly id: string; readonly exchange: Exchange }[]
  /** Finds an exchange by its id or by the x-request-id of its answer. Longer bodies are cut to `shownBytes`. */
  get(id: string, shownBytes?: number): JournalEntry | undefined
  /** Returns an exchange as it is kept, with its secrets, for uses such as making a recording. */
  kept(id: string): JournaledExchange | undefined
  /** Returns the short form of an exchange, whether it is kept or not. */
  brief(seen: JournaledExchange): JournalBrief
  /** Returns the short forms of the exchanges whose ids `ids` returns. */
  briefs(filter?: JournalFilter, limit?: number): readonly JournalBrief[]
  /**
   * Returns a function that redacts a text assembled from parts of an exchange, where a secret may only become visible
   * now.
   */
  redaction(id: string): ((text: string) => string) | undefined
  /** Returns a curl command that repeats the request at `url`. */
  curl(id: string, url: string): string | undefined
  count(filter?: JournalFilter): number
  /** The id of the last exchange, whether kept or not; `0` before the first. */
  lastId(): string
  /** The number of exchanges that were not kept because there were too many at once. */
  passedOver(): number
  /** Counts for the last two minutes, second by second, from the first second with a request. */
  seconds(): readonly Second[]
  /** Removes the matching exchanges; all if no filter is given. */
  clear(filter?: JournalFilter): void
}

interface JournalParts {
  /** Limits on the number of exchanges and on the bytes of their bodies. */
  readonly maxEntries: number
  readonly maxBytes: number
  /** Whether requests of the dashboard itself are logged and kept. */
  readonly dashboard?: boolean
  /** Returns the current redaction, which is applied when an exchange is read. */
  readonly redact: () => Redact
  /** Called when a listener fails. */
  readonly report?: (error: unknown) => void
}

export function createJournal({
  maxEntries,
  maxBytes,
  dashboard,
  redact,
  report = console.error,
}: JournalParts): Journal {
  // Put together again when one comes or goes, so that walking it needs no iterator.
  let listeners: readonly Listener[] = []
  const errorListeners: Listener[] = []
  const notify = notifier(report)
  const ring = new Ring(maxEntries, maxBytes)
  const seconds = createSeconds()
  let lastId = 0
  let passedOver = 0
  return {
    add(exchange) {
      if (!dashboard && exchange.headers[DASHBOARD_HEADER] !== undefined && isDashboards(exchange)) return
      const id = ++lastId
      const nowMs = passedMs()
      exchange.endedMs = nowMs
      if (!ring.add(id, exchange, nowMs)) passedOver++
      seconds.add(exchange, nowMs - exchange.startedMs, nowMs)
      for (let at = 0; at < listeners.length; at++) notify(listeners[at] as Listener, exchange, id)
      if (exchange.outcome?.error !== undefined) for (const listener of errorListeners) notify(listener, exchange, id)
    },
    followErrors: listener => void errorListeners.push(listener),
    follow(listener) {
      listeners = [...listeners, listener]
      return () => {
        listeners = listeners.filter(other => other !== listener)
      }
    },
    ...reading(ring, redact, maxEntries),
    lastId: () => String(lastId),
    passedOver: () => passedOver,
    seconds: () => seconds.last(),
    clear: (filter = {}) => ring.clear(placesOf(ring, filter)),
  }
}

/** Whether what is marked as the page's comes from it. A page elsewhere cannot hide what it does: browsers name its origin. */
function isDashboards({ headers: { origin, host } }: Exchange): boolean {
  return origin === undefined || origin.slice(origin.indexOf('//') + 2) === host
}

/** Calls listeners. The answer has been sent already, so an error is only reported, once per listener. */
function notifier(report: (error: unknown) => void) {
  const failing = new WeakSet<object>()
  return (listener: Listener, exchange: Exchange, id: number) => {
    try {
      listener(exchange, id)
    } catch (error) {
      if (!failing.has(listener)) report(error)
      failing.add(listener)
    }
  }
}

function placesOf(ring: Ring, filter: JournalFilter): readonly Place[] {
  const fits = filterOf(filter)
  return [...ring.all()].filter(([kept]) => fits(kept))
}

/** The reading functions of the journal. */
function reading(ring: Ring, redact: () => Redact, most: number) {
  const fitting = (filter: JournalFilter) => placesOf(ring, filter).map(([kept]) => kept)

  function partOf(filter: JournalFilter, limit: number): readonly JournaledExchange[] {
    const found = fitting(filter)
    return filter.after === undefined ? found.slice(-limit) : found.slice(0, limit)
  }

  function kept(id: string): JournaledExchange | undefined {
    // The number is compared with each id, rather than converting each to text.
    const wanted = /^(0|[1-9]\d*)$/.test(id) ? Number(id) : Number.NaN
    for (const [found] of ring.all()) if (found.id === wanted || found.exchange.outcome?.requestId === id) return found
    return undefined
  }

  return {
    entries: (filter: JournalFilter = {}, limit = most) =>
      fitting(filter)
        .slice(-limit)
        .map(found => entryOf(found, redact())),
    ids: (filter: JournalFilter = {}, limit = most) => partOf(filter, limit).map(({ id }) => String(id)),
    exchanges: (filter: JournalFilter = {}) =>
      fitting(filter).map(({ id, exchange }) => ({ id: String(id), exchange })),
    get(id: string, shownBytes?: number) {
      const found = kept(id)
      return found && entryOf(found, redact(), shownBytes)
    },
    kept,
    brief: (seen: JournaledExchange) => briefOf(seen, redact()),
    briefs: (filter: JournalFilter = {}, limit = most) => partOf(filter, limit).map(found => briefOf(found, redact())),
    redaction(id: string) {
      const found = kept(id)
      return found && redact()(credentialsOf(found.exchange, redact())).text
    },
    curl(id: string, url: string) {
      const found = kept(id)
      return found && curlOf(found.exchange, redact(), url)
    },
    count: (filter: JournalFilter = {}) => fitting(filter).length,
  }
}
