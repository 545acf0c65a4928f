/** The journal: takes every exchange, keeps the latest, finds them again, and notifies followers. */
import { uptimeMs } from '../core/clock.js'
import type { Exchange, RequestContext } from '../core/exchange.js'
import { createListeners } from '../core/part.js'
import { DASHBOARD_HEADER } from '../core/paths.js'
import type { Reply, UpstreamResponse } from '../core/reply.js'
import type { IsFromBeforeReset } from '../core/scope.js'
import type { Redact } from '../redact/index.js'
import { curlOf } from './curl.js'
import { READ_BYTES } from './facts.js'
import { briefOf, entryOf, flightOf, type JournaledExchange } from './fields.js'
import { filterOf, type JournalFilter } from './filter.js'
import { createRunMarks } from './runs.js'

/** As many requests as a long test run makes, and more than anybody reads back. */
const MOST_ENTRIES = 2000
/** 32 MB of bodies: enough for 2,000 ordinary chats, and little beside the process itself. */
const MOST_BYTES = 33_554_432

type Added = { readonly exchange: Exchange; readonly id: number }
type Listener = (exchange: Exchange, id: number) => void

export type Journal = ReturnType<typeof createJournal>

interface JournalParts {
  /** Limits on the number of exchanges and on the bytes of their bodies. */
  readonly maxEntries?: number
  readonly maxBytes?: number
  /** Returns the current redaction, which is applied when an exchange is read. */
  readonly redact: () => Redact
  /** Whether an exchange began before the last reset. Such exchanges are not shown. */
  readonly isPast?: IsFromBeforeReset
  readonly report?: (error: unknown) => void
  /** The requests that have begun and not ended, the oldest first. */
  readonly open?: () => Iterable<Pick<RequestContext, 'exchange' | 'number'>>
}

// Long because it lists all that the parts of a journal do.
export function createJournal({
  maxEntries = MOST_ENTRIES,
  maxBytes = MOST_BYTES,
  redact,
  isPast = () => false,
  report = console.error,
  open = () => [],
}: JournalParts) {
  const kept = createKept(maxEntries, maxBytes)
  const followers = createFollowers<Added>(report)
  const clearFollowers = createFollowers<string | undefined>(report)
  const beginningFollowers = createFollowers(report)
  const marks = createRunMarks()
  const marked = withRuns(kept.all, marks)
  let lastId = 0
  let clearedId = 0
  return {
    ...createLookup(marked, redact),
    ...createSelection(marked, { redact, maxEntries, isPast }),
    /** Called when a request has arrived. */
    begin: beginningFollowers.emit,
    /** The requests in flight that match, the oldest first. Their ids are none of the journal's. */
    flights(matches: (one: JournaledExchange) => boolean) {
      marked()
      return Array.from(open(), flightFrom)
        .filter(one => matches(one) && !isPast(one.exchange) && !isFromDashboard(one.exchange))
        .slice(0, MOST_FLIGHTS)
        .map(one => flightOf({ ...one, run: marks.peek(one.exchange) }, redact()))
    },
    /** How many requests are in flight. */
    underWay: () => Array.from(open()).filter(({ exchange }) => !isPast(exchange)).length,
    /** Calls `listener` each time a request arrives. Returns a function that stops this. */
    followBeginnings: beginningFollowers.add,
    /** Adds an exchange whose answer has been sent, or never will be. */
    add(exchange: Exchange): void {
      if (isFromDashboard(exchange)) return
      const id = ++lastId
      const nowMs = uptimeMs()
      exchange.endedMs = nowMs
      kept.add(id, exchange, nowMs)
      followers.emit({ exchange, id })
    },
    /** Removes the exchanges of a scope; all if none is given. */
    clear(scope?: string): void {
      kept.remove(kept.all().filter(({ exchange }) => scope === undefined || exchange.scope === scope))
      if (scope === undefined) clearedId = lastId
      clearFollowers.emit(scope)
    },
    /** Calls `listener` for each further exchange. Returns a function that stops this. */
    follow: (listener: Listener) => followers.add(({ exchange, id }) => listener(exchange, id)),
    /** The same for each further exchange that was refused. */
    followErrors: (listener: Listener) =>
      followers.add(({ exchange, id }) => void (exchange.outcome?.error !== undefined && listener(exchange, id))),
    /** The same each time the exchanges of a scope, or all of them, were cleared. */
    followClears: clearFollowers.add,
    isPast,
    /** The id of the last exchange, whether kept or not; `0` before the first. */
    lastId: () => String(lastId),
    /** The last id when all exchanges were last cleared; `0` before that. */
    clearedId: () => String(clearedId),
  }
}

/** Finds the runs of exchanges when somebody reads them, in their order. */
function withRuns(all: All, { mark }: ReturnType<typeof createRunMarks>): All {
  return () => {
    for (const { id, exchange } of all()) if (exchange.run === undefined) mark(id, exchange)
    return all()
  }
}

/** The most requests in flight that are told; more could not be read. */
const MOST_FLIGHTS = 200

function flightFrom({ exchange, number }: Pick<RequestContext, 'exchange' | 'number'>): JournaledExchange {
  const durationMs = uptimeMs() - exchange.startedMs
  return { id: number, exchange, atMs: Date.now() - durationMs, durationMs }
}

/**
 * Whether a request marked as the dashboard's comes from the dashboard. A foreign page cannot hide its requests this
 * way, because browsers send its origin.
 */
function isFromDashboard({ headers: { origin, host, [DASHBOARD_HEADER]: mark } }: Exchange): boolean {
  if (mark === undefined) return false
  return origin === undefined || origin.slice(origin.indexOf('//') + 2) === host
}

/** The answer has been sent already, so an error of a listener is only reported, once. */
function createFollowers<T = void>(report: (error: unknown) => void) {
  const { add, emit } = createListeners<T>()
  return {
    emit,
    add(listener: (value: T) => void): () => void {
      let hasFailed = false
      return add(value => {
        try {
          listener(value)
        } catch (error) {
          if (!hasFailed) report(error)
          hasFailed = true
        }
      })
    },
  }
}

const LAST = 200
const LAST_BYTES = 8_388_608

type All = () => readonly JournaledExchange[]

/** Reads the exchanges that match a filter, oldest first. */
function createSelection(
  all: All,
  { redact, maxEntries, isPast }: Required<Pick<JournalParts, 'redact' | 'maxEntries' | 'isPast'>>,
) {
  /** If there are more than `limit`: the first ones if the filter has `after`, otherwise the newest. */
  function select(filter: JournalFilter = {}, limit = maxEntries): readonly JournaledExchange[] {
    const matches = filterOf(filter)
    const found = all().filter(one => matches(one) && !isPast(one.exchange))
    return filter.after === undefined ? found.slice(-limit) : found.slice(0, limit)
  }

  return {
    select,
    entries: (filter?: JournalFilter, limit?: number) => select(filter, limit).map(found => entryOf(found, redact())),
    briefs: (filter?: JournalFilter, limit?: number) => select(filter, limit).map(found => briefOf(found, redact())),
    /** The original exchanges with their secrets, for comparing and never for showing. */
    exchanges: (filter?: JournalFilter) => select(filter).map(({ id, exchange }) => ({ id: String(id), exchange })),
    /** The last exchanges with their secrets, the newest first, to see what a change would do to them: 200, or as many as have 8 MB of bodies. */
    last(filter?: JournalFilter): readonly JournaledExchange[] {
      let bytes = 0
      return select(filter, LAST)
        .toReversed()
        .filter(({ exchange: { body } }) => {
          bytes += body?.length ?? 0
          return bytes <= LAST_BYTES
        })
    },
    count: (filter?: JournalFilter) => select(filter).length,
  }
}

/** Reads one exchange, found by its id or by the x-request-id of its answer. */
function createLookup(all: All, redact: () => Redact) {
  /** Returns an exchange as it is kept, with its secrets, for uses such as making a recording. */
  const find = (id: string) => all().find(found => String(found.id) === id || found.exchange.outcome?.requestId === id)

  return {
    find,
    /** Longer bodies are cut to `shownBytes`. */
    get(id: string, shownBytes?: number) {
      const found = find(id)
      return found && entryOf(found, redact(), shownBytes)
    },
    /** Returns an exchange in full and in short, whether it is kept or not. */
    entry: (journaled: JournaledExchange, shownBytes?: number) => entryOf(journaled, redact(), shownBytes),
    brief(journaled: JournaledExchange) {
      all()
      return briefOf(journaled, redact())
    },
    /** Returns a curl command that repeats the request at `url`. */
    curl(id: string, url: string) {
      const found = find(id)
      return found && curlOf(found.exchange, redact(), url)
    },
  }
}

interface KeptExchange extends JournaledExchange {
  /** The size when it was added. Checking its answer may make it larger later. */
  readonly bytes: number
}

/** The latest exchanges, up to a number and a size. */
function createKept(maxEntries: number, maxBytes: number) {
  /** From the oldest to the newest. */
  let all: KeptExchange[] = []
  let totalBytes = 0
  return {
    all: (): readonly JournaledExchange[] => all,
    add(id: number, exchange: Exchange, nowMs: number): void {
      freeMemory(exchange)
      const durationMs = nowMs - exchange.startedMs
      const bytes = sizeOf(exchange)
      all.push({ id, exchange, atMs: Date.now() - durationMs, durationMs, bytes })
      totalBytes += bytes
      while (all.length > maxEntries || (totalBytes > maxBytes && all.length > 1)) totalBytes -= all.shift()?.bytes ?? 0
    },
    remove(removed: readonly JournaledExchange[]): void {
      const gone = new Set(removed)
      all = all.filter(one => !gone.has(one))
      totalBytes = all.reduce((sum, { bytes }) => sum + bytes, 0)
    },
  }
}

/** Drops what can be read again, and network buffers of which the bytes are only a small part. */
function freeMemory(exchange: Exchange): void {
  const { body, bodyCutFromBytes, outcome } = exchange
  if (body && bodyCutFromBytes === undefined && body.length <= READ_BYTES) exchange.chat = undefined
  if (body && body.buffer.byteLength > 2 * body.length) exchange.body = Buffer.from(body)
  if (outcome?.answer?.kind === 'upstream') {
    const { beginning } = outcome.answer
    beginning.splice(0, beginning.length, Buffer.concat(beginning))
  }
}

const TIME_BYTES = 8
/** The memory that a piece of a body takes in addition to its bytes. */
const PIECE_BYTES = 150
const TEXT_BYTES = 24

/** How much memory an exchange holds, counting only parts that can be large. */
export function sizeOf({ path, query, body, chat, outcome }: Exchange): number {
  const { answer, upstream, piecesAtMs } = outcome ?? {}
  const bodyBytes = body?.length ?? 0
  return (
    path.length +
    query.length +
    // A parsed chat request is kept in addition to its bytes.
    (chat ? 2 * bodyBytes : bodyBytes) +
    (piecesAtMs?.length ?? 0) * TIME_BYTES +
    (answer ? answerBytes(answer) : 0) +
    (upstream ? answerBytes(upstream) : 0)
  )
}

/** Counts the pieces of a stream in full, although they may be shared with their rule or recording. */
function answerBytes(answer: Reply | UpstreamResponse): number {
  if (answer.kind === 'upstream') return answer.beginning.reduce((sum, { length }) => sum + length + PIECE_BYTES, 0)
  const { body } = answer
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body.length
  return body.pieces.reduce((sum, { length }) => sum + length + TEXT_BYTES, 0)
}
