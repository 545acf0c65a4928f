/** How tests reach a platform: in their own process, or over HTTP. Everything that they do goes through its operations. */

import type { ControlOperations } from '../control/operations.js'
import type { Calls } from '../core/client.js'
import { createListeners } from '../core/part.js'
import { TEST_HEADER } from '../core/paths.js'
import type { JournalEntry } from '../journal/index.js'
import type { Platform } from '../platform.js'
import { exchangeParts } from './exchange-filter.js'

export type Control = Calls<ControlOperations>

/** The scope that an operation is about; empty for all. */
export interface ScopeQuery {
  readonly scope?: string
}

/** Calls `changed` at each change. Returns a function that stops this. */
type Watch<Args extends readonly unknown[] = []> = (changed: () => void, ...args: Args) => () => void

export interface Door {
  readonly control: Control
  readonly watchJournal: Watch<[ScopeQuery]>
  readonly watchOutbox: Watch
  /** Returns what has the parts of an exchange with their secrets, for comparing. No operation does: they must not leave the process. */
  readonly originals?: () => (entry: JournalEntry) => Readonly<Record<string, unknown>> | undefined
}

// Saved before a test can install fake timers, so that these do not affect waiting.
const { setInterval, clearInterval } = globalThis

/** How often a platform in another process is polled while a test waits. */
const POLL_INTERVAL_MS = 50

function poll(changed: () => void): () => void {
  const timer = setInterval(changed, POLL_INTERVAL_MS)
  return () => clearInterval(timer)
}

/** The headers of each call over HTTP. */
export const testHeaders = { [TEST_HEADER]: 'yes' }

/** The door to a platform in another process. */
export const remoteDoor = (control: Control): Door => ({
  control,
  watchOutbox: poll,
  /** Calls back when the newest exchange is another one, since fetching them all each time would be too much. */
  watchJournal(changed, scopeQuery) {
    let newest: string | undefined
    const look = async () => {
      const { data } = await control('GET /journal', { query: { ...scopeQuery, limit: 1, brief: true } })
      const [last] = data
      const seen = last && `${last.id} ${last.at}`
      if (seen !== newest) changed()
      newest = seen
    }
    return poll(() => void look().catch(changed))
  },
})

/** The door to a platform in this process, which tells of changes by itself. */
export function localDoor({ journal, onMessage }: Platform, control: Control): Door {
  const sent = createListeners<unknown>()
  onMessage(sent.emit)
  return {
    control,
    watchJournal: changed => journal.follow(changed),
    watchOutbox: sent.add,
    originals() {
      const byId = new Map(journal.exchanges().map(({ id, exchange }) => [id, exchange]))
      return entry => {
        const exchange = byId.get(entry.id)
        return exchange && exchangeParts(exchange, () => entry.response.body)
      }
    },
  }
}
