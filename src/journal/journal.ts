/** What happened: every exchange ends up here, the last of them are kept, and followers are notified. */
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
  /** Takes an exchange whose answer has left, or never will. */
  add(exchange: Exchange): void
  /** Calls `listener` for each exchange that was refused from now on. */
  followErrors(listener: (exchange: Exchange) => void): void
  /** Calls `listener` for each exchange from now on; what it gives back ends that. */
  follow(listener: Listener): () => void
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
  /** The last two minutes, second by second, from the first that had a request. */
  seconds(): readonly Second[]
  /** Forgets those that fit; all if no filter is given. */
  clear(filter?: JournalFilter): void
}

interface JournalParts {
  /** No more exchanges are kept, nor more bytes of their bodies. */
  readonly maxEntries: number
  readonly maxBytes: number
  /** Whether requests that the dashboard itself makes are kept and told. */
  readonly dashboard?: boolean
  /** Takes out what is secret, when it is read. */
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

/** Calls listeners. The answer has left already: an error is reported, once for each listener, and affects nothing else. */
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

/** What can be read of the exchanges that are kept. */
function reading(ring: Ring, redact: () => Redact, most: number) {
  const fitting = (filter: JournalFilter) => placesOf(ring, filter).map(([kept]) => kept)

  function partOf(filter: JournalFilter, limit: number): readonly JournaledExchange[] {
    const found = fitting(filter)
    return filter.after === undefined ? found.slice(-limit) : found.slice(0, limit)
  }

  function kept(id: string): JournaledExchange | undefined {
    // A number is compared with each, not made a text first.
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
