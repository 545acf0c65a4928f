/** The journal as tests read it: what was asked, and what was answered. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import type { Exchange } from '../core/exchange.js'
import type { Journal, JournalEntry } from '../journal/index.js'
import { checking, milliseconds } from './checked.js'
import { type ExchangeQuery, partsOf, shownParts, type Wanted, wantedBy } from './exchange-filter.js'
import { inWords, whatCame } from './in-words.js'
import { eventually, PATIENCE_MS } from './patience.js'
import { fits, likeness, shownBeside } from './pattern.js'

export interface WaitOptions {
  /** How long to wait; 3000 without it. */
  readonly timeoutMs?: number
}

/** What was asked since the last reset. An exchange is in it once its answer has left. */
export interface TestJournal {
  /** Those that fit, the oldest first; all without a query. */
  find(query?: ExchangeQuery): readonly JournalEntry[]
  count(query?: ExchangeQuery): number
  /** The newest that fits. */
  last(query?: ExchangeQuery): JournalEntry | undefined
  /** The first that fits, at once where it is there already. Rejects after its time with what came instead. */
  waitFor(query: ExchangeQuery, options?: WaitOptions): Promise<JournalEntry>
  /** The same for the first `count` of them. */
  waitFor(query: ExchangeQuery, options: WaitOptions & { readonly count: number }): Promise<readonly JournalEntry[]>
  /** How many requests have come since then whose answers have not left yet, whatever their scope. */
  readonly underWay: number
  /** Of those that do not fit the one that is most like what is wanted, beside it; or how `entry` is. */
  nearest(query: ExchangeQuery, entry?: JournalEntry): Nearest | undefined
}

/** The exchange that is most like what was wanted, side by side with it. */
export interface Nearest {
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

interface Expected {
  readonly count: number
  readonly timeoutMs: number
}

interface Parts {
  readonly journal: Journal
  /** Whose exchanges it tells of; everybody's without one. */
  readonly scope: string | undefined
  /** Exchanges that began before this belong to another test, by the time that has passed. */
  readonly sinceMs: () => number
  readonly underWay: () => number
}

export function createTestJournal({ journal, scope, sinceMs, underWay }: Parts): TestJournal {
  function all(filter = {}) {
    const since = sinceMs()
    const isOwn = (exchange: Exchange) => scope === undefined || exchange.scope === scope
    return journal.exchanges(filter).filter(({ exchange }) => exchange.startedMs >= since && isOwn(exchange))
  }

  function isAsWanted({ parts, where }: Wanted, id: string, exchange: Exchange): boolean {
    const entry = () => journal.get(id)
    const own = partsOf(exchange, () => entry()?.response.body)
    if (!Object.entries(parts).every(([name, pattern]) => fits(pattern, own[name]))) return false
    const shown = where && entry()
    return where === undefined || (shown !== undefined && where(shown))
  }

  const fitting = (query: ExchangeQuery) => {
    const wanted = wantedBy(query)
    return all(wanted.filter).filter(({ id, exchange }) => isAsWanted(wanted, id, exchange))
  }
  const shown = (ids: readonly { readonly id: string }[]) => ids.flatMap(({ id }) => journal.get(id) ?? [])
  const find = (query: ExchangeQuery = {}) => shown(fitting(query))

  function others(query: ExchangeQuery): readonly JournalEntry[] {
    const ids = new Set(fitting(query).map(({ id }) => id))
    return find().filter(({ id }) => !ids.has(id))
  }

  const awaited = (query: ExchangeQuery, { count, timeoutMs }: Expected): Promise<readonly JournalEntry[]> =>
    eventually({
      look() {
        const found = fitting(query)
        return found.length >= count ? shown(found.slice(0, count)) : undefined
      },
      watch: changed => journal.follow(changed),
      timeoutMs,
      tooLate: () => tooLate(query, { count, timeoutMs }),
    })

  async function waitFor(query: ExchangeQuery, options: WaitOptions & { readonly count?: number } = {}) {
    const { count, timeoutMs = PATIENCE_MS } = optionsOf(options)
    const found = await awaited(query, { count: count ?? 1, timeoutMs })
    return count === undefined ? found[0] : found
  }

  function tooLate(query: ExchangeQuery, { count, timeoutMs }: Expected): Error {
    const what = count === 1 ? 'No exchange' : `Only ${fitting(query).length} of ${count} exchanges`
    const wanted = inWords(query, count)
    return new Error(`${what} came within ${timeoutMs} ms that ${wanted}.\n${whatCame(find(), underWay())}`)
  }

  return {
    find,
    count: (query = {}) => fitting(query).length,
    last: (query = {}) => shown(fitting(query).slice(-1))[0],
    waitFor: waitFor as TestJournal['waitFor'],
    get underWay() {
      return underWay()
    },
    nearest(query, only) {
      const wanted = wantedBy(query)
      const pattern = { ...wanted.filter, ...wanted.parts }
      let best: { readonly entry: JournalEntry; readonly parts: object; readonly score: number } | undefined
      for (const entry of only ? [only] : others(query)) {
        // Cut bodies could not be held against anything.
        const parts = shownParts(wanted, journal.get(entry.id, Number.MAX_SAFE_INTEGER) ?? entry)
        const score = likeness(pattern, parts)
        if (!best || score >= best.score) best = { entry, parts, score }
      }
      return best && { entry: best.entry, wanted: pattern, found: beside(wanted, best) }
    },
  }

  /** What the journal judges by itself, such as a path with a star in it, is shown as wanted where it holds. */
  function beside(
    { filter, parts: patterns }: Wanted,
    { entry, parts }: { entry: JournalEntry; parts: object },
  ): unknown {
    const holds = (name: string) => journal.ids({ [name]: filter[name as keyof typeof filter] }).includes(entry.id)
    const judged = Object.entries(filter).map(([name, wanted]) => [
      name,
      holds(name) ? wanted : (parts as Readonly<Record<string, unknown>>)[name],
    ])
    return { ...Object.fromEntries(judged), ...(shownBeside(patterns, parts) as object) }
  }
}
