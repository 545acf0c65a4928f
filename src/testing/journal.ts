/** The journal as tests read it: requests and their answers. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import type { Journal, JournalEntry, JournalFilter } from '../journal/index.js'
import { checking, milliseconds } from './checked.js'
import { type ExchangeQuery, partsOf, type SplitQuery, shownParts, wantedBy } from './exchange-filter.js'
import { inWords, whatCame } from './in-words.js'
import { eventually, PATIENCE_MS } from './patience.js'
import { fits, likeness, shownBeside } from './pattern.js'

/** A value in this process, and a promise if it is fetched from another one. */
export type Awaitable<T> = T | Promise<T>

export interface WaitOptions {
  /** How long to wait, in milliseconds. Default 3000. */
  readonly timeoutMs?: number | undefined
}

interface WaitFor {
  /** The first match, at once if it has already arrived. On a timeout it rejects and lists what arrived instead. */
  (query: ExchangeQuery, options?: WaitOptions): Promise<JournalEntry>
  /** The same for the first `count` matches. */
  (query: ExchangeQuery, options: WaitOptions & { readonly count: number }): Promise<readonly JournalEntry[]>
}

/** The exchanges since the last reset. An exchange is listed once its answer has been sent. */
export interface SharedJournal {
  /** Matching exchanges, the oldest first; all of them without a query. */
  find(query?: ExchangeQuery): Awaitable<readonly JournalEntry[]>
  count(query?: ExchangeQuery): Awaitable<number>
  /** The newest match. */
  last(query?: ExchangeQuery): Awaitable<JournalEntry | undefined>
  readonly waitFor: WaitFor
}

/** The journal at this moment. */
export type JournalNow = ReturnType<typeof journalNow>

/** The journal of a platform in this process. */
export interface TestJournal extends JournalNow {
  readonly waitFor: WaitFor
}

const count = 'a whole number of exchanges'
const optionsOf = checking(
  'waitFor',
  closed({
    timeoutMs: optional(milliseconds, 'How long to wait.'),
    count: optional(v.pipe(v.number(count), v.integer(count), v.minValue(1, `${count} from 1 on`)), 'How many.'),
  }),
)

/** Where exchanges come from: the journal of this process, or a fetched copy of another one's. */
interface ExchangeSource {
  /** Matching exchanges, the oldest first. */
  fitting(filter: JournalFilter): readonly MatchableExchange[]
  /** One exchange as the journal shows it. With `isWhole` its bodies are not cut. */
  get(id: string, isWhole?: boolean): JournalEntry | undefined
  underWay(): number
}

interface MatchableExchange {
  readonly id: string
  /** The values that patterns are compared with. */
  parts(): Readonly<Record<string, unknown>>
}

/** Only exchanges of `scope`; of all scopes if undefined. */
export function createTestJournal(journal: Journal, underWay: () => number, scope: string | undefined): TestJournal {
  const get: ExchangeSource['get'] = (id, isWhole) => journal.get(id, isWhole ? Number.MAX_SAFE_INTEGER : undefined)
  const now = journalNow({
    fitting: filter =>
      journal
        .exchanges(filter)
        .filter(({ exchange }) => (scope ?? exchange.scope) === exchange.scope)
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

export function journalNow(source: ExchangeSource) {
  const fitting = (query: ExchangeQuery) => {
    const wanted = wantedBy(query)
    return source.fitting(wanted.filter).filter(seen => isAsWanted(source, wanted, seen))
  }
  const shown = (ids: readonly { readonly id: string }[]) => ids.flatMap(({ id }) => source.get(id) ?? [])
  const find = (query: ExchangeQuery = {}): readonly JournalEntry[] => shown(fitting(query))

  function others(query: ExchangeQuery): readonly JournalEntry[] {
    const ids = new Set(fitting(query).map(({ id }) => id))
    return find().filter(({ id }) => !ids.has(id))
  }

  return {
    /** Matching exchanges, the oldest first; all of them without a query. */
    find,
    count: (query: ExchangeQuery = {}) => fitting(query).length,
    /** The newest match. */
    last: (query: ExchangeQuery = {}) => shown(fitting(query).slice(-1))[0],
    /** How many requests since the last reset are still being answered, in any scope. */
    get underWay() {
      return source.underWay()
    },
    /** Compares the query with `only`, or with the closest exchange that does not match. */
    nearest(query: ExchangeQuery, only?: JournalEntry) {
      const wanted = wantedBy(query)
      const pattern = { ...wanted.filter, ...wanted.parts }
      let best: { readonly entry: JournalEntry; readonly parts: object; readonly score: number } | undefined
      for (const entry of only ? [only] : others(query)) {
        // Cut bodies could not be compared.
        const parts = shownParts(wanted, source.get(entry.id, true) ?? entry)
        const score = likeness(pattern, parts)
        if (!best || score >= best.score) best = { entry, parts, score }
      }
      return best && { entry: best.entry, wanted: pattern, found: beside(source, wanted, best.entry.id, best.parts) }
    },
  }
}

function isAsWanted(source: ExchangeSource, { parts, where }: SplitQuery, seen: MatchableExchange): boolean {
  const own = seen.parts()
  if (!Object.entries(parts).every(([name, pattern]) => fits(pattern, own[name]))) return false
  if (!where) return true
  const entry = source.get(seen.id)
  return entry !== undefined && where(entry)
}

/** Parts that only the journal can evaluate, such as a path with `*`, are shown as the query has them if they match. */
function beside(source: ExchangeSource, { filter, parts: patterns }: SplitQuery, id: string, parts: object): unknown {
  const holds = (name: string) =>
    source.fitting({ [name]: filter[name as keyof typeof filter] }).some(seen => seen.id === id)
  const judged = Object.entries(filter).map(([name, wanted]) => [
    name,
    holds(name) ? wanted : (parts as Readonly<Record<string, unknown>>)[name],
  ])
  return { ...Object.fromEntries(judged), ...(shownBeside(patterns, parts) as object) }
}

type Current = (query: ExchangeQuery) => Awaitable<JournalNow>

/** Waits for exchanges: looks at once, and again whenever `watch` reports a change. */
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
