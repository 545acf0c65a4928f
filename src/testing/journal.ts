/** The journal as tests read it: what was asked, and what was answered. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import type { Exchange } from '../core/exchange.js'
import type { Journal, JournalEntry, JournalFilter } from '../journal/index.js'
import { checking, milliseconds } from './checked.js'
import { type ExchangeQuery, partsOf, shownParts, type Wanted, wantedBy } from './exchange-filter.js'
import { inWords, whatCame } from './in-words.js'
import { eventually, PATIENCE_MS } from './patience.js'
import { fits, likeness, shownBeside } from './pattern.js'

/** What is there at once in this process, and a promise where it is fetched from another one. */
export type Awaitable<T> = T | Promise<T>

export interface WaitOptions {
  /** How long to wait; 3000 without it. */
  readonly timeoutMs?: number
}

interface WaitFor {
  /** The first that fits, at once where it is there already. Rejects after its time with what came instead. */
  (query: ExchangeQuery, options?: WaitOptions): Promise<JournalEntry>
  /** The same for the first `count` of them. */
  (query: ExchangeQuery, options: WaitOptions & { readonly count: number }): Promise<readonly JournalEntry[]>
}

/** What was asked since the last reset. An exchange is in it once its answer has left. */
export interface SharedJournal {
  /** Those that fit, the oldest first; all without a query. */
  find(query?: ExchangeQuery): Awaitable<readonly JournalEntry[]>
  count(query?: ExchangeQuery): Awaitable<number>
  /** The newest that fits. */
  last(query?: ExchangeQuery): Awaitable<JournalEntry | undefined>
  readonly waitFor: WaitFor
}

/** What has come so far. */
export interface JournalNow {
  /** Those that fit, the oldest first; all without a query. */
  find(query?: ExchangeQuery): readonly JournalEntry[]
  count(query?: ExchangeQuery): number
  /** The newest that fits. */
  last(query?: ExchangeQuery): JournalEntry | undefined
  /** How many requests have come since then whose answers have not left yet, whatever their scope. */
  readonly underWay: number
  /** Of those that do not fit the one that is most like what is wanted, beside it; or how `entry` is. */
  nearest(query: ExchangeQuery, entry?: JournalEntry): NearestRecording | undefined
}

/** The journal of a platform in this process. */
export interface TestJournal extends JournalNow {
  readonly waitFor: WaitFor
}

/** The exchange that is most like what was wanted, side by side with it. */
export interface NearestRecording {
  readonly entry: JournalEntry
  readonly wanted: Readonly<Record<string, unknown>>
  readonly found: unknown
}

const count = 'a whole number of exchanges'
const optionsOf = checking(
  'waitFor',
  closed({
    timeoutMs: optional(milliseconds, 'How long to wait.'),
    count: optional(v.pipe(v.number(count), v.integer(count), v.minValue(1, `${count} from 1 on`)), 'How many.'),
  }),
)

/** Where exchanges come from: the journal of this process, or what was fetched from another one. */
export interface ExchangeSource {
  /** Those that fit, the oldest first. */
  fitting(filter: JournalFilter): readonly Seen[]
  /** One as it is shown; `isWhole` shows its bodies in full. */
  get(id: string, isWhole?: boolean): JournalEntry | undefined
  underWay(): number
}

interface Seen {
  readonly id: string
  /** What patterns are held against. */
  parts(): Readonly<Record<string, unknown>>
}

interface Parts {
  readonly journal: Journal
  /** Whose exchanges it tells of; everyone's without one. */
  readonly scope: string | undefined
  /** Exchanges that began before this belong to another test, by the time that has passed. */
  readonly sinceMs: () => number
  readonly underWay: () => number
}

export function createTestJournal({ journal, scope, sinceMs, underWay }: Parts): TestJournal {
  const isOwn = (exchange: Exchange) =>
    exchange.startedMs >= sinceMs() && (scope === undefined || exchange.scope === scope)
  const get: ExchangeSource['get'] = (id, isWhole) => journal.get(id, isWhole ? Number.MAX_SAFE_INTEGER : undefined)
  const now = journalNow({
    fitting: filter =>
      journal
        .exchanges(filter)
        .filter(({ exchange }) => isOwn(exchange))
        .map(({ id, exchange }) => ({ id, parts: () => partsOf(exchange, () => get(id)?.response.body) })),
    get,
    underWay,
  })
  const waitFor = waiting(
    () => now,
    changed => journal.follow(changed),
  )
  return Object.defineProperty({ ...now, waitFor }, 'underWay', { get: underWay, enumerable: true })
}

/** What has come so far, from a source. */
export function journalNow(source: ExchangeSource): JournalNow {
  function isAsWanted({ parts, where }: Wanted, seen: Seen): boolean {
    const own = seen.parts()
    if (!Object.entries(parts).every(([name, pattern]) => fits(pattern, own[name]))) return false
    if (!where) return true
    const entry = source.get(seen.id)
    return entry !== undefined && where(entry)
  }

  const fitting = (query: ExchangeQuery) => {
    const wanted = wantedBy(query)
    return source.fitting(wanted.filter).filter(seen => isAsWanted(wanted, seen))
  }
  const shown = (ids: readonly { readonly id: string }[]) => ids.flatMap(({ id }) => source.get(id) ?? [])
  const find = (query: ExchangeQuery = {}) => shown(fitting(query))

  function others(query: ExchangeQuery): readonly JournalEntry[] {
    const ids = new Set(fitting(query).map(({ id }) => id))
    return find().filter(({ id }) => !ids.has(id))
  }

  /** What the journal judges by itself, such as a path with a star in it, is shown as wanted where it holds. */
  function beside({ filter, parts: patterns }: Wanted, id: string, parts: object): unknown {
    const holds = (name: string) =>
      source.fitting({ [name]: filter[name as keyof typeof filter] }).some(seen => seen.id === id)
    const judged = Object.entries(filter).map(([name, wanted]) => [
      name,
      holds(name) ? wanted : (parts as Readonly<Record<string, unknown>>)[name],
    ])
    return { ...Object.fromEntries(judged), ...(shownBeside(patterns, parts) as object) }
  }

  return {
    find,
    count: (query = {}) => fitting(query).length,
    last: (query = {}) => shown(fitting(query).slice(-1))[0],
    get underWay() {
      return source.underWay()
    },
    nearest(query, only) {
      const wanted = wantedBy(query)
      const pattern = { ...wanted.filter, ...wanted.parts }
      let best: { readonly entry: JournalEntry; readonly parts: object; readonly score: number } | undefined
      for (const entry of only ? [only] : others(query)) {
        // Cut bodies could not be held against anything.
        const parts = shownParts(wanted, source.get(entry.id, true) ?? entry)
        const score = likeness(pattern, parts)
        if (!best || score >= best.score) best = { entry, parts, score }
      }
      return best && { entry: best.entry, wanted: pattern, found: beside(wanted, best.entry.id, best.parts) }
    },
  }
}

type Current = (query: ExchangeQuery) => Awaitable<JournalNow>

/** Waits for exchanges: asks what there is now, and again whenever `watch` says that there may be more. */
export function waiting(current: Current, watch: (changed: () => void) => () => void): WaitFor {
  async function waitFor(query: ExchangeQuery, options: WaitOptions & { readonly count?: number } = {}) {
    const { count, timeoutMs = PATIENCE_MS } = optionsOf(options)
    const wanted = count ?? 1
    const found = await eventually({
      async look() {
        const found = (await current(query)).find(query)
        return found.length >= wanted ? found.slice(0, wanted) : undefined
      },
      watch,
      timeoutMs,
      async tooLate() {
        const now = await current(query)
        const what = wanted === 1 ? 'No exchange' : `Only ${now.count(query)} of ${wanted} exchanges`
        const came = whatCame(now.find(), now.underWay)
        return new Error(`${what} came within ${timeoutMs} ms that ${inWords(query, wanted)}.\n${came}`)
      },
    })
    return count === undefined ? found[0] : found
  }
  return waitFor as WaitFor
}
