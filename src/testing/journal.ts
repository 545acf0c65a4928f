/** The journal for tests: finds exchanges, and waits for them. */
import * as v from 'valibot'
import { closed, optional } from '../check/forms.js'
import type { JournalEntry, JournalFilter } from '../journal/index.js'
import type { Door, ScopeQuery } from './door.js'
import {
  type ExchangeQuery,
  entryParts,
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
export interface TestJournal {
  /** Matching exchanges, the oldest first; all of them without a query. */
  find(query?: ExchangeQuery): Promise<readonly JournalEntry[]>
  count(query?: ExchangeQuery): Promise<number>
  /** The newest match. */
  last(query?: ExchangeQuery): Promise<JournalEntry | undefined>
  readonly waitFor: WaitFor
  /** How many requests are still being answered, in any scope. */
  readonly underWay: Promise<number>
  /** Compares the query with `only`, or with the closest exchange that does not match. */
  nearest(query: ExchangeQuery, only?: JournalEntry): Promise<Comparison | undefined>
}

/** A query and an exchange, for a diff. */
export interface Comparison {
  readonly entry: JournalEntry
  readonly wanted: unknown
  readonly found: unknown
}

const aCount = 'a whole number of exchanges'
const waitOptions = inputCheck(
  'waitFor',
  closed({
    timeoutMs: optional(milliseconds, 'How long to wait.'),
    count: optional(v.pipe(v.number(aCount), v.integer(aCount), v.minValue(1, `${aCount} from 1 on`)), 'How many.'),
  }),
)

/** Creates the journal of a scope; without one, that of the whole platform. */
export function createTestJournal(door: Door, scopeQuery: ScopeQuery): TestJournal {
  const { matching, find, count, underWay } = createSearch(door, scopeQuery)
  return {
    find,
    count,
    last: async query => (await find(query)).at(-1),
    waitFor: createWaitFor({ find, underWay }, changed => door.watchJournal(changed, scopeQuery)),
    get underWay() {
      return underWay()
    },
    async nearest(query, only) {
      const wanted = splitQuery(query)
      const same = new Set(only ? [] : (await find(query)).map(({ id }) => id))
      const entry =
        only ??
        closestTo(
          wanted,
          (await find()).filter(({ id }) => !same.has(id)),
        )
      return entry && { entry, wanted: patternOf(wanted), found: await compared(entry, wanted, matching) }
    },
  }
}

type Matching = (filter: JournalFilter) => Promise<readonly JournalEntry[]>

function createSearch({ control, originals }: Door, scopeQuery: ScopeQuery) {
  const isElsewhere = ({ scope }: JournalFilter) =>
    scope !== undefined && scopeQuery.scope !== undefined && scope !== scopeQuery.scope

  /** The exchanges that match a filter, with their bodies in full. */
  const matching: Matching = async filter => {
    if (isElsewhere(filter)) return []
    const entries: JournalEntry[] = []
    for (let after = filter.after ?? '0'; ; ) {
      const body = { ...filter, ...scopeQuery, after, whole: true }
      const { data, next } = await control('POST /journal/find', { body })
      entries.push(...data)
      if (next === undefined) return entries
      after = next
    }
  }

  async function find(query: ExchangeQuery = {}): Promise<readonly JournalEntry[]> {
    const { filter, parts, where = () => true } = splitQuery(query)
    const entries = await matching(filter)
    if (Object.keys(parts).length === 0) return entries.filter(where)
    const originalOf = originals?.()
    return entries.filter(entry => matches(parts, originalOf?.(entry) ?? entryParts(entry)) && where(entry))
  }

  async function count(query: ExchangeQuery = {}): Promise<number> {
    const { filter, parts, where } = splitQuery(query)
    // A long text is too long for the query of a request.
    const isPlain = !where && Object.keys(parts).length === 0 && filter.text === undefined
    if (!isPlain) return (await find(query)).length
    if (isElsewhere(filter)) return 0
    const page = await control('GET /journal', { query: { ...filter, ...scopeQuery, limit: 1, brief: true } })
    return 'count' in page ? page.count : page.data.length
  }

  const underWay = async () => (await control('POST /journal/find', { body: { limit: 1 } })).underWay
  return { matching, find, count, underWay }
}

const patternOf = ({ filter, parts }: SplitQuery) => ({ ...filter, ...parts })

/** The last of those that are most like the query. */
function closestTo(wanted: SplitQuery, entries: readonly JournalEntry[]): JournalEntry | undefined {
  let best: { readonly entry: JournalEntry; readonly score: number } | undefined
  for (const entry of entries) {
    const score = similarity(patternOf(wanted), queriedParts(wanted, entry))
    if (!best || score >= best.score) best = { entry, score }
  }
  return best?.entry
}

/**
 * The values of an exchange for a diff with the query. Parts that match are shown as the query writes them, such as a path
 * with `*`, so that the diff has only real differences.
 */
async function compared(entry: JournalEntry, wanted: SplitQuery, matching: Matching): Promise<unknown> {
  const parts = queriedParts(wanted, entry)
  const id = Number(entry.id)
  const near = { after: String(id - 1), before: String(id + 1) }
  const journalParts = Object.entries(wanted.filter).map(async ([name, value]) => {
    const isSame = (await matching({ [name]: value, ...near })).length > 0
    return [name, isSame ? value : parts[name]] as const
  })
  return { ...Object.fromEntries(await Promise.all(journalParts)), ...(partsNamedBy(wanted.parts, parts) as object) }
}

/** Creates `waitFor`, which queries the journal at once, and again whenever `watch` reports a change. */
function createWaitFor(
  { find, underWay }: Pick<TestJournal, 'find'> & { readonly underWay: () => Promise<number> },
  watch: (changed: () => void) => () => void,
): WaitFor {
  async function waitFor(query: ExchangeQuery, options: WaitOptions & { readonly count?: number } = {}) {
    const { count, timeoutMs = DEFAULT_TIMEOUT_MS } = waitOptions(options)
    const wanted = count ?? 1
    const found = await eventually({
      async find() {
        const found = await find(query)
        return found.length >= wanted ? found.slice(0, wanted) : undefined
      },
      watch,
      timeoutMs,
      async timeoutError() {
        const what = wanted === 1 ? 'No exchange' : `Only ${(await find(query)).length} of ${wanted} exchanges`
        const received = receivedInWords(await find(), await underWay())
        return new Error(`${what} matching ${inWords(query)} arrived within ${timeoutMs} ms.\n${received}`)
      },
    })
    return count === undefined ? found[0] : found
  }
  return waitFor as WaitFor
}
