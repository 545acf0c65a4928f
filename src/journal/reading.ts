/** Reads what the journal has kept: selected, in readable form, and without secrets. */
import type { Scopes } from '../core/scope.js'
import { credentialsOf, type Redact } from '../recordings/redact/index.js'
import { briefOf } from './brief.js'
import { curlOf } from './curl.js'
import { entryOf, type JournaledExchange } from './entry.js'
import { filterOf, type JournalFilter } from './filter.js'
import type { Kept } from './kept.js'

interface Parts {
  readonly redact: () => Redact
  readonly maxEntries: number
  readonly isPast: Scopes['isFromBeforeReset']
  readonly notifyCleared: (scope: string | undefined) => void
}

export const createReading = (kept: Kept, parts: Parts) => ({
  ...createSelection(kept, parts),
  ...createLookup(kept, parts),
  /** Removes the exchanges of a scope; all if none is given. */
  clear(scope?: string) {
    kept.remove(matchesIn(kept, scope === undefined ? {} : { scope }))
    parts.notifyCleared(scope)
  },
})

function matchesIn(kept: Kept, filter: JournalFilter): readonly JournaledExchange[] {
  const matches = filterOf(filter)
  return kept.all().filter(matches)
}

/** Reads the exchanges that match a filter, oldest first. */
function createSelection(kept: Kept, { redact, maxEntries, isPast }: Parts) {
  const select = (filter: JournalFilter) => matchesIn(kept, filter).filter(({ exchange }) => !isPast(exchange))

  const pageOf = (filter: JournalFilter, limit: number) =>
    filter.after === undefined ? select(filter).slice(-limit) : select(filter).slice(0, limit)

  return {
    /** If there are more than `limit`, the newest of them. */
    entries: (filter: JournalFilter = {}, limit = maxEntries) =>
      select(filter)
        .slice(-limit)
        .map(found => entryOf(found, redact())),
    /** The ids. If there are more than `limit`: the first ones if the filter has `after`, otherwise the newest. */
    ids: (filter: JournalFilter = {}, limit = maxEntries) => pageOf(filter, limit).map(({ id }) => String(id)),
    /** The same exchanges as `ids`, in short. */
    briefs: (filter: JournalFilter = {}, limit = maxEntries) =>
      pageOf(filter, limit).map(found => briefOf(found, redact())),
    /** The original exchanges with their secrets, for comparing and never for showing. */
    exchanges: (filter: JournalFilter = {}) => select(filter).map(({ id, exchange }) => ({ id: String(id), exchange })),
    count: (filter: JournalFilter = {}) => select(filter).length,
  }
}

/** Reads one exchange by its id, or by the x-request-id of its answer. */
function createLookup(kept: Kept, { redact }: Parts) {
  /** Returns an exchange as it is kept, with its secrets, for uses such as making a recording. */
  function find(id: string): JournaledExchange | undefined {
    // The number is compared with each id, rather than converting each to text.
    const number = /^(0|[1-9]\d*)$/.test(id) ? Number(id) : Number.NaN
    return kept.all().find(found => found.id === number || found.exchange.outcome?.requestId === id)
  }

  return {
    find,
    /** Longer bodies are cut to `shownBytes`. */
    get(id: string, shownBytes?: number) {
      const found = find(id)
      return found && entryOf(found, redact(), shownBytes)
    },
    /** Returns the short form of an exchange, whether it is kept or not. */
    brief: (journaled: JournaledExchange) => briefOf(journaled, redact()),
    /** Returns a function that redacts a text assembled from parts of an exchange, where a secret may only show now. */
    redaction(id: string) {
      const found = find(id)
      return found && redact()(credentialsOf(found.exchange, redact())).text
    },
    /** Returns a curl command that repeats the request at `url`. */
    curl(id: string, url: string) {
      const found = find(id)
      return found && curlOf(found.exchange, redact(), url)
    },
  }
}
