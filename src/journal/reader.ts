/** Serves the journal over HTTP, as a page or as a stream. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { StreamedAnswer } from '../control/operation.js'
import { invalidRequest, noSuchExchange } from '../core/errors.js'
import { sendAgain } from './again.js'
import type { JournalFilter } from './filter.js'
import { follow } from './follow.js'
import { followInBrief } from './follow-brief.js'
import type { Journal } from './journal.js'

/** With `brief`, a stream begins with at most this many earlier exchanges. */
const MOST_EARLIER = 1000

interface Parts {
  readonly journal: Journal
  /** The address of the platform, for curl commands. */
  readonly url: () => string
  /** Aborted when the platform stops, which ends all streams. */
  readonly stopping: AbortSignal
}

export type Reader = ReturnType<typeof createReader>

export function createReader({ journal, url, stopping }: Parts) {
  const run = randomUUID()
  const stream = createStreams(stopping)
  const brief = (id: string) => {
    const journaled = journal.find(id)
    return journaled && journal.brief(journaled)
  }

  const orNotFound = <T>(value: T | undefined, id: string): T => {
    if (value === undefined) throw noSuchExchange(id, journal.lastId())
    return value
  }

  return {
    /** The last `limit` matching exchanges, or the first ones if the filter has `after`. Longer bodies are cut to `shownBytes`. */
    page: (filter: JournalFilter, limit: number, shownBytes?: number) =>
      pageOf(journal, filter, limit, id => journal.get(id, shownBytes)),
    /** The same exchanges in short. */
    briefPage: (filter: JournalFilter, limit: number) => pageOf(journal, filter, limit, brief),
    /** New exchanges, after the last `limit` ones, or after all those since `lastId`. */
    follow(
      filter: JournalFilter,
      { limit, isBrief, lastId }: { limit: number | undefined; lastId: unknown; isBrief: boolean },
    ): StreamedAnswer {
      if (filter.before !== undefined) throw invalidRequest('before cannot be combined with follow.')
      const after = lastId ?? filter.after
      const startFilter = { ...filter, ...(typeof after === 'string' && /^\d+$/.test(after) && { after }) }
      return stream(response => {
        const firstIds = earlierIds(journal, startFilter, limit)
        if (!isBrief) return follow(response, journal, { filter, firstIds })
        const firstBriefs = firstIds.slice(-MOST_EARLIER).flatMap(id => brief(id) ?? [])
        return followInBrief(response, journal, { filter, run, firstBriefs })
      })
    },
    /** Throws a 404 that says whether the exchange ever existed. */
    get: (id: string) => orNotFound(journal.get(id), id),
    curl: (id: string) => orNotFound(journal.curl(id, url()), id),
    /** Repeats the request with its own credential. Resolves to the id of the new exchange when it has ended. */
    sendAgain: async (id: string) => sendAgain(orNotFound(journal.find(id), id).exchange, url(), journal),
    count: (filter: JournalFilter) => journal.count(filter),
    clear: (scope: string | undefined) => journal.clear(scope),
  }
}

/** Streams of events, which end when the platform stops. `start` returns the function that ends its stream. */
function createStreams(stopping: AbortSignal) {
  const ends = new Set<() => void>()
  stopping.addEventListener('abort', () => {
    for (const end of ends) end()
  })
  return (start: (response: ServerResponse) => () => void) =>
    new StreamedAnswer('text/event-stream; charset=utf-8', response => {
      if (stopping.aborted) return response.end()
      const end = start(response)
      ends.add(end)
      return response.once('close', () => ends.delete(end))
    })
}

/** `next` is the id from which to continue; absent on the last page. */
function pageOf<E>(journal: Journal, filter: JournalFilter, limit: number, find: (id: string) => E | undefined) {
  // One more than is shown, to find out whether there are more.
  const found = journal.ids(filter, limit + 1)
  const forward = filter.after !== undefined
  const ids = forward ? found.slice(0, limit) : found.slice(-limit)
  const next = found.length > limit ? (forward ? ids.at(-1) : ids.at(0)) : undefined
  return { data: ids.flatMap(id => find(id) ?? []), ...(next !== undefined && { next }) }
}

/** The earlier exchanges to send first: all after a given one, or the last `limit`. */
function earlierIds(journal: Journal, filter: JournalFilter, limit: number | undefined): readonly string[] {
  if (filter.after !== undefined) return journal.ids(filter)
  return limit === undefined ? [] : journal.ids(filter, limit)
}
