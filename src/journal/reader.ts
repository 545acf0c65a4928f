/** Serves the journal over HTTP, as a page or as a stream, and repeats requests. Loaded with the control API. */
import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { createIds } from '../core/clock.js'
import { invalidRequest, noSuchExchange, notRepeatable } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { StreamedAnswer } from '../core/operation.js'
import { AGAIN_HEADER } from '../core/paths.js'
import { isRepeatable } from './facts.js'
import type { JournaledExchange } from './fields.js'
import type { JournalFilter } from './filter.js'
import { type FollowedSituation, follow } from './follow.js'
import type { Journal } from './journal.js'

/** With `brief`, a stream begins with at most this many earlier exchanges. */
const MOST_EARLIER = 1000

interface Parts {
  readonly journal: Journal
  /** The address of the platform, for curl commands. */
  readonly url: () => string
  readonly situation: FollowedSituation
  /** The holds at which requests in flight wait, by the ids of these. */
  readonly holds: () => ReadonlyMap<string, string>
  /** Aborted when the platform stops, which ends all streams. */
  readonly stopping: AbortSignal
}

interface Again {
  readonly began?: (mark: string) => () => void
  /** Sent in place of its own body. */
  readonly body?: string | undefined
}

export type Reader = ReturnType<typeof createReader>

export function createReader({ journal, url, situation, holds, stopping }: Parts) {
  const run = randomUUID()

  /** Throws a 404 that says whether the exchange ever existed. */
  const orNotFound = <T>(value: T | undefined, id: string): T => {
    if (value === undefined) throw noSuchExchange(id, journal.lastId())
    return value
  }

  return {
    /** The last `limit` matching exchanges, or the first ones if the filter has `after`. Longer bodies are cut to `shownBytes`. */
    page: (filter: JournalFilter, limit: number, shownBytes?: number) =>
      pageOf(journal, filter, limit, found => journal.entry(found, shownBytes)),
    /** The same exchanges in short. */
    briefPage: (filter: JournalFilter, limit: number) => ({
      ...pageOf(journal, filter, limit, journal.brief),
      count: journal.count({ ...filter, after: undefined, before: undefined }),
      total: journal.count(),
    }),
    /** New exchanges, after the last `limit` ones, or after all those since `lastId`. */
    follow(
      filter: JournalFilter,
      { limit, isBrief, lastId }: { limit: number | undefined; lastId: unknown; isBrief: boolean },
    ): StreamedAnswer {
      if (filter.before !== undefined) throw invalidRequest('before cannot be combined with follow.')
      const after = typeof lastId === 'string' && /^\d+$/.test(lastId) ? lastId : filter.after
      return new StreamedAnswer('text/event-stream; charset=utf-8', response => {
        if (stopping.aborted) return response.end()
        const earlier = after === undefined && limit === undefined ? [] : journal.select({ ...filter, after }, limit)
        const first = isBrief ? earlier.slice(-MOST_EARLIER) : earlier
        const end = follow(response, journal, { filter, isBrief, first, run, situation, holds })
        stopping.addEventListener('abort', end)
        return response.once('close', () => stopping.removeEventListener('abort', end))
      })
    },
    /** How many requests are under way, in any scope. */
    underWay: () => journal.underWay(),
    /** Longer bodies are cut to `shownBytes`. */
    get: (id: string, shownBytes?: number) => orNotFound(journal.get(id, shownBytes), id),
    curl: (id: string) => orNotFound(journal.curl(id, url()), id),
    /**
     * Repeats the request with its own credential. Resolves to the id of the new exchange when it has ended. `began` is
     * told the mark by which the request is recognized, and returns what is called at the end.
     */
    async sendAgain(id: string, { began = () => () => {}, body }: Again = {}) {
      const { exchange } = orNotFound(journal.find(id), id)
      const mark = nextMark()
      const end = began(mark)
      return sendAgain(exchange, { url: url(), journal, mark, body }).finally(end)
    },
    clear: (scope: string | undefined) => journal.clear(scope),
  }
}

/** `next` is the id from which to continue; absent on the last page. */
function pageOf<E>(journal: Journal, filter: JournalFilter, limit: number, show: (found: JournaledExchange) => E) {
  // One more than is shown, to find out whether there are more.
  const found = journal.select(filter, limit + 1)
  const forward = filter.after !== undefined
  const shown = forward ? found.slice(0, limit) : found.slice(-limit)
  const next = found.length > limit ? shown.at(forward ? -1 : 0) : undefined
  return { data: shown.map(show), ...(next && { next: String(next.id) }) }
}

/** Headers of the original connection, and headers that the new connection sets itself. */
const connectionHeaders =
  /^(connection|keep-alive|proxy-connection|transfer-encoding|te|trailer|upgrade|expect|content-length|x-standin-dashboard)$/
const LATE_ENTRY_MS = 1000
const nextMark = createIds('again-', 12)

interface Sending {
  readonly url: string
  readonly journal: Journal
  readonly mark: string
}

/** Repeats a request exactly as it was, with its own credential, which only the journal has. */
async function sendAgain(
  exchange: Exchange,
  { url, journal, mark, ...edited }: Pick<Again, 'body'> & Sending,
): Promise<string> {
  if (!isRepeatable(exchange)) throw notRepeatable()
  const { hostname, port } = new URL(url)
  const { method, query } = exchange
  const body = edited.body ?? exchange.body
  const path = query === '' ? exchange.path : `${exchange.path}?${query}`
  const kept = Object.entries(exchange.headers).filter(([name]) => !connectionHeaders.test(name))
  const headers = { ...Object.fromEntries(kept), [AGAIN_HEADER]: mark }
  let unfollow = () => {}
  const journaled = new Promise<string>((resolve, reject) => {
    unfollow = journal.follow((followed, id) => {
      if (followed.headers[AGAIN_HEADER] === mark) resolve(String(id))
    })
    const host = hostname.replace(/^\[|\]$/g, '')
    const request = httpRequest({ hostname: host, port, method, path, headers, agent: false })
    request.on('response', response => response.resume().on('error', () => {}))
    // If a fault has broken the connection, the exchange is journaled a little later.
    request.on('error', error => setTimeout(reject, LATE_ENTRY_MS, error))
    request.end(body)
  })
  return journaled.finally(unfollow)
}
