/** The journal for tests: finds exchanges, and waits for them. */
import * as v from 'valibot'
import { closed, optional } from '../check/forms.js'
import type { Journal, JournalEntry, JournalFilter } from '../journal/index.js'
import {
  type ExchangeQuery,
  exchangeParts,
  matches,
  partsNamedBy,
  queriedParts,
  type SplitQuery,
  similarity,
  splitQuery,
} from './exchange-filter.js'
import { inWords, receivedInWords } from './in-words.js'
import { inputCheck, milliseconds } from './input-check.js'
import { DEFAULT_TIMEOUT_MS, eventually } from './waiting.js'

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

/** The queries of the journal that need no waiting. */
export type JournalView = ReturnType<typeof createJournalView>

/** The journal of a platform in this process. */
export interface TestJournal extends JournalView {
  readonly waitFor: WaitFor
}

const aCount = 'a whole number of exchanges'
const waitOptions = inputCheck(
  'waitFor',
  closed({
    timeoutMs: optional(milliseconds, 'How long to wait.'),
    count: optional(v.pipe(v.number(aCount), v.integer(aCount), v.minValue(1, `${aCount} from 1 on`)), 'How many.'),
  }),
)

/** The source of exchanges: the journal of this process, or what was fetched from that of another process. */
interface ExchangeSource {
  /** Matching exchanges, the oldest first. */
  matching(filter: JournalFilter): readonly MatchableExchange[]
  /** One exchange as the journal shows it. With `isWhole` its bodies are not cut. */
  get(id: string, isWhole?: boolean): JournalEntry | undefined
  underWay(): number
}

interface MatchableExchange {
  readonly id: string
  /** The values that are compared with patterns. */
  parts(): Readonly<Record<string, unknown>>
}

/** Creates the journal of a scope; without `scope`, that of the whole platform. */
export function createTestJournal(journal: Journal, underWay: () => number, scope: string | undefined): TestJournal {
  const get: ExchangeSource['get'] = (id, isWhole) => journal.get(id, isWhole ? Number.MAX_SAFE_INTEGER : undefined)
  const view = createJournalView({
    matching: filter =>
      journal
        .exchanges(filter)
        .filter(({ exchange }) => (scope ?? exchange.scope) === exchange.scope)
        .map(({ id, exchange }) => ({ id, parts: () => exchangeParts(exchange, () => get(id)?.response.body) })),
    get,
    underWay,
  })
  const waitFor = createWaitFor(
    () => view,
    changed => journal.follow(changed),
  )
  return Object.defineProperty({ ...view, waitFor }, 'underWay', { get: underWay, enumerable: true })
}

export function createJournalView(source: ExchangeSource) {
  const matching = (query: ExchangeQuery) => {
    const wanted = splitQuery(query)
    return source.matching(wanted.filter).filter(exchange => matchesParts(source, wanted, exchange))
  }
  const entriesOf = (ids: readonly { readonly id: string }[]) => ids.flatMap(({ id }) => source.get(id) ?? [])
  const find = (query: ExchangeQuery = {}): readonly JournalEntry[] => entriesOf(matching(query))

  function others(query: ExchangeQuery): readonly JournalEntry[] {
    const ids = new Set(matching(query).map(({ id }) => id))
    return find().filter(({ id }) => !ids.has(id))
  }

  return {
    /** Matching exchanges, the oldest first; all of them without a query. */
    find,
    /** All exchanges, with their bodies in full. */
    whole: (): readonly JournalEntry[] => matching({}).flatMap(({ id }) => source.get(id, true) ?? []),
    count: (query: ExchangeQuery = {}) => matching(query).length,
    /** The newest match. */
    last: (query: ExchangeQuery = {}) => entriesOf(matching(query).slice(-1))[0],
    /** How many requests since the last reset are still being answered, in any scope. */
    get underWay() {
      return source.underWay()
    },
    /** Compares the query with `only`, or with the closest exchange that does not match. */
    nearest(query: ExchangeQuery, only?: JournalEntry) {
      const wanted = splitQuery(query)
      const pattern = { ...wanted.filter, ...wanted.parts }
      let best: { readonly entry: JournalEntry; readonly parts: object; readonly score: number } | undefined
      for (const entry of only ? [only] : others(query)) {
        // Cut bodies could not be compared.
        const parts = queriedParts(wanted, source.get(entry.id, true) ?? entry)
        const score = similarity(pattern, parts)
        if (!best || score >= best.score) best = { entry, parts, score }
      }
      return (
        best && { entry: best.entry, wanted: pattern, found: comparedParts(source, wanted, best.entry.id, best.parts) }
      )
    },
  }
}

function matchesParts(source: ExchangeSource, { parts, where }: SplitQuery, exchange: MatchableExchange): boolean {
  const own = exchange.parts()
  if (!Object.entries(parts).every(([name, pattern]) => matches(pattern, own[name]))) return false
  if (!where) return true
  const entry = source.get(exchange.id)
  return entry !== undefined && where(entry)
}

/**
 * The values of an exchange for a diff with the query. Parts that match are shown as the query writes them, such as a path
 * with `*`, so that the diff has only real differences.
 */
function comparedParts(
  source: ExchangeSource,
  { filter, parts: patterns }: SplitQuery,
  id: string,
  parts: object,
): unknown {
  const isMatch = (name: string) =>
    source.matching({ [name]: filter[name as keyof typeof filter] }).some(exchange => exchange.id === id)
  const journalParts = Object.entries(filter).map(([name, wanted]) => [
    name,
    isMatch(name) ? wanted : (parts as Readonly<Record<string, unknown>>)[name],
  ])
  return { ...Object.fromEntries(journalParts), ...(partsNamedBy(patterns, parts) as object) }
}

type CurrentJournal = (query: ExchangeQuery) => Awaitable<JournalView>

/** Creates `waitFor`, which queries the journal at once, and again whenever `watch` reports a change. */
export function createWaitFor(current: CurrentJournal, watch: (changed: () => void) => () => void): WaitFor {
  async function waitFor(query: ExchangeQuery, options: WaitOptions & { readonly count?: number } = {}) {
    const { count, timeoutMs = DEFAULT_TIMEOUT_MS } = waitOptions(options)
    const wanted = count ?? 1
    const found = await eventually({
      async find() {
        const found = (await current(query)).find(query)
        return found.length >= wanted ? found.slice(0, wanted) : undefined
      },
      watch,
      timeoutMs,
      async timeoutError() {
        const now = await current(query)
        const what = wanted === 1 ? 'No exchange' : `Only ${now.count(query)} of ${wanted} exchanges`
        const received = receivedInWords(now.find(), now.underWay)
        return new Error(`${what} matching ${inWords(query)} arrived within ${timeoutMs} ms.\n${received}`)
      },
    })
    return count === undefined ? found[0] : found
  }
  return waitFor as WaitFor
}
