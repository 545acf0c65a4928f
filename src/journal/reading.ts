/** Reads what the journal has kept: selected, in readable form, and without secrets. */
import type { Exchange } from '../core/exchange.js'
import type { Scopes } from '../core/scope.js'
import { credentialsOf, type Redact } from '../redact/index.js'
import { briefOf } from './brief.js'
import { curlOf } from './curl.js'
import { entryOf, type JournaledExchange } from './entry.js'
import { filterOf, type JournalFilter } from './filter.js'
import type { Place, Ring } from './ring.js'
import type { JournalBrief, JournalEntry } from './shapes.js'

export interface Reading {
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
  /** Removes the exchanges of a scope; all if none is given. */
  clear(scope?: string): void
}

function placesOf(ring: Ring, filter: JournalFilter): readonly Place[] {
  const fits = filterOf(filter)
  return [...ring.all()].filter(([kept]) => fits(kept))
}

/** Finds an exchange by its id, or by the request id that its answer had. */
function keptIn(ring: Ring, id: string): JournaledExchange | undefined {
  // The number is compared with each id, rather than converting each to text.
  const wanted = /^(0|[1-9]\d*)$/.test(id) ? Number(id) : Number.NaN
  for (const [found] of ring.all()) if (found.id === wanted || found.exchange.outcome?.requestId === id) return found
  return undefined
}

interface Parts {
  readonly redact: () => Redact
  /** The number of exchanges that are kept at most. */
  readonly most: number
  readonly isPast: Scopes['isPast']
  readonly cleared: (scope: string | undefined) => void
}

export function createReading(ring: Ring, { redact, most, isPast, cleared }: Parts): Reading {
  const fitting = (filter: JournalFilter) =>
    placesOf(ring, filter).flatMap(([kept]) => (isPast(kept.exchange) ? [] : [kept]))

  function partOf(filter: JournalFilter, limit: number): readonly JournaledExchange[] {
    const found = fitting(filter)
    return filter.after === undefined ? found.slice(-limit) : found.slice(0, limit)
  }

  const kept = (id: string) => keptIn(ring, id)

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
    clear(scope) {
      ring.clear(placesOf(ring, scope === undefined ? {} : { scope }))
      cleared(scope)
    },
  }
}
