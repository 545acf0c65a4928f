/** The journal: takes every exchange, keeps the latest, and notifies followers. */
import { uptimeMs } from '../core/clock.js'
import type { Exchange } from '../core/exchange.js'
import { DASHBOARD_HEADER } from '../core/paths.js'
import type { Scopes } from '../core/scope.js'
import type { Redact } from '../recordings/redact/index.js'
import { createKept } from './kept.js'
import { createReading } from './reading.js'

/** As many requests as a long test run makes, and more than anybody reads back. */
const MOST_ENTRIES = 2000
/** 32 MB of bodies: enough for 2,000 ordinary chats, and little beside the process itself. */
const MOST_BYTES = 33_554_432

type Listener = (exchange: Exchange, id: number) => void
type ClearListener = (scope: string | undefined) => void

export type Journal = ReturnType<typeof createJournal>

interface JournalParts {
  /** Limits on the number of exchanges and on the bytes of their bodies. */
  readonly maxEntries?: number
  readonly maxBytes?: number
  /** Returns the current redaction, which is applied when an exchange is read. */
  readonly redact: () => Redact
  /** Whether an exchange began before the last reset. Such exchanges are not shown. */
  readonly isPast?: Scopes['isFromBeforeReset']
  readonly report?: (error: unknown) => void
}

export function createJournal({
  maxEntries = MOST_ENTRIES,
  maxBytes = MOST_BYTES,
  redact,
  isPast = () => false,
  report = console.error,
}: JournalParts) {
  const { notify, follow, followErrors } = createFollowers(report)
  const kept = createKept(maxEntries, maxBytes)
  const { notifyCleared, followClears } = createClears(scope => {
    if (scope === undefined) clearedId = lastId
  })
  let lastId = 0
  let clearedId = 0
  return {
    ...createReading(kept, { redact, maxEntries, isPast, notifyCleared }),
    /** Adds an exchange whose answer has been sent, or never will be. */
    add(exchange: Exchange): void {
      if (exchange.headers[DASHBOARD_HEADER] !== undefined && isFromDashboard(exchange)) return
      const id = ++lastId
      const nowMs = uptimeMs()
      exchange.endedMs = nowMs
      kept.add(id, exchange, nowMs)
      notify(exchange, id)
    },
    ...{ follow, followErrors, followClears, isPast },
    /** The id of the last exchange, whether kept or not; `0` before the first. */
    lastId: () => String(lastId),
    /** The last id when all exchanges were last cleared; `0` before that. */
    clearedId: () => String(clearedId),
  }
}

/**
 * Whether a request marked as the dashboard's comes from the dashboard. A foreign page cannot hide its requests this
 * way, because browsers send its origin.
 */
function isFromDashboard({ headers: { origin, host } }: Exchange): boolean {
  return origin === undefined || origin.slice(origin.indexOf('//') + 2) === host
}

function createFollowers(report: (error: unknown) => void) {
  // Rebuilt when a listener is added or removed, so that calling the listeners needs no iterator.
  let listeners: readonly Listener[] = []
  let errorListeners: readonly Listener[] = []
  const failedListeners = new WeakSet<object>()
  return {
    /** The answer has been sent already, so an error of a listener is only reported, once per listener. */
    notify(exchange: Exchange, id: number): void {
      const recipients = exchange.outcome?.error === undefined ? listeners : [...listeners, ...errorListeners]
      for (let at = 0; at < recipients.length; at++) {
        const listener = recipients[at] as Listener
        try {
          listener(exchange, id)
        } catch (error) {
          if (!failedListeners.has(listener)) report(error)
          failedListeners.add(listener)
        }
      }
    },
    /** Calls `listener` for each further exchange. Returns a function that stops this. */
    follow(listener: Listener): () => void {
      listeners = [...listeners, listener]
      return () => {
        listeners = listeners.filter(other => other !== listener)
      }
    },
    /** Calls `listener` for each further exchange that was refused. */
    followErrors(listener: (exchange: Exchange) => void): void {
      errorListeners = [...errorListeners, listener]
    },
  }
}

function createClears(first: ClearListener) {
  const listeners = new Set([first])
  return {
    notifyCleared(scope: string | undefined): void {
      for (const listener of listeners) listener(scope)
    },
    /** Calls `listener` each time the exchanges of a scope, or all of them, were cleared. Returns a function that stops this. */
    followClears(listener: ClearListener): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
