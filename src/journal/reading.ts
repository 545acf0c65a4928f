/** Reads what the journal has kept: selected, in readable form, and without secrets. */
import type { Scopes } from '../core/scope.js'
import { credentialsOf, type Redact } from '../redact/index.js'
import { briefOf } from './brief.js'
import { curlOf } from './curl.js'
import { entryOf, type JournaledExchange } from './entry.js'
import { filterOf, type JournalFilter } from './filter.js'
import type { Place, Ring } from './ring.js'

export type Reading = ReturnType<typeof createReading>

interface Parts {
  readonly redact: () => Redact
  readonly most: number
  readonly isPast: Scopes['isPast']
  readonly cleared: (scope: string | undefined) => void
}

export const createReading = (ring: Ring, parts: Parts) => ({
  ...createSelection(ring, parts),
  ...createLookup(ring, parts),
  /** Removes the exchanges of a scope; all if none is given. */
  clear(scope?: string) {
    ring.clear(placesOf(ring, scope === undefined ? {} : { scope }))
    parts.cleared(scope)
  },
})

function placesOf(ring: Ring, filter: JournalFilter): readonly Place[] {
  const fits = filterOf(filter)
  return [...ring.all()].filter(([kept]) => fits(kept))
}

/** Reads the exchanges that match a filter, oldest first. */
function createSelection(ring: Ring, { redact, most, isPast }: Parts) {
  const fitting = (filter: JournalFilter) =>
    placesOf(ring, filter).flatMap(([kept]) => (isPast(kept.exchange) ? [] : [kept]))

  const partOf = (filter: JournalFilter, limit: number) =>
    filter.after === undefined ? fitting(filter).slice(-limit) : fitting(filter).slice(0, limit)

  return {
    /** If there are more than `limit`, the newest of them. */
    entries: (filter: JournalFilter = {}, limit = most) =>
      fitting(filter)
        .slice(-limit)
        .map(found => entryOf(found, redact())),
    /** The ids. If there are more than `limit`: the first ones if the filter has `after`, otherwise the newest. */
    ids: (filter: JournalFilter = {}, limit = most) => partOf(filter, limit).map(({ id }) => String(id)),
    /** Those whose ids `ids` returns, in short. */
    briefs: (filter: JournalFilter = {}, limit = most) => partOf(filter, limit).map(found => briefOf(found, redact())),
    /** The original exchanges with their secrets, for comparing and never for showing. */
    exchanges: (filter: JournalFilter = {}) =>
      fitting(filter).map(({ id, exchange }) => ({ id: String(id), exchange })),
    count: (filter: JournalFilter = {}) => fitting(filter).length,
  }
}

/** Reads one exchange by its id, or by the x-request-id of its answer. */
function createLookup(ring: Ring, { redact }: Parts) {
  /** Returns an exchange as it is kept, with its secrets, for uses such as making a recording. */
  function kept(id: string): JournaledExchange | undefined {
    // The number is compared with each id, rather than converting each to text.
    const wanted = /^(0|[1-9]\d*)$/.test(id) ? Number(id) : Number.NaN
    for (const [found] of ring.all()) if (found.id === wanted || found.exchange.outcome?.requestId === id) return found
    return undefined
  }

  return {
    kept,
    /** Longer bodies are cut to `shownBytes`. */
    get(id: string, shownBytes?: number) {
      const found = kept(id)
      return found && entryOf(found, redact(), shownBytes)
    },
    /** Returns the short form of an exchange, whether it is kept or not. */
    brief: (seen: JournaledExchange) => briefOf(seen, redact()),
    /** Returns a function that redacts a text assembled from parts of an exchange, where a secret may only show now. */
    redaction(id: string) {
      const found = kept(id)
      return found && redact()(credentialsOf(found.exchange, redact())).text
    },
    /** Returns a curl command that repeats the request at `url`. */
    curl(id: string, url: string) {
      const found = kept(id)
      return found && curlOf(found.exchange, redact(), url)
    },
  }
}
