/** The journal as tests read it: what was asked, and what was answered. */
import { inspect } from 'node:util'
import type { Exchange } from '../core/exchange.js'
import type { Journal, JournalEntry } from '../journal/index.js'
import {
  type ExchangeFilter,
  type ExchangeQuery,
  partsOf,
  shownParts,
  type Wanted,
  wantedBy,
} from './exchange-filter.js'
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
  /** Of those that do not fit the one that is most like what is wanted, beside it; or how `entry` is. */
  nearest(query: ExchangeQuery, entry?: JournalEntry): Nearest | undefined
}

/** The exchange that is most like what was wanted, side by side with it. */
export interface Nearest {
  readonly entry: JournalEntry
  readonly wanted: Readonly<Record<string, unknown>>
  readonly found: unknown
}

interface Expected {
  readonly count: number
  readonly timeoutMs: number
}

interface Parts {
  readonly journal: Journal
  /** Whose exchanges it tells of; everybody's without one. */
  readonly scope: string | undefined
  /** Exchanges that began before this belong to another test, on the clock of `performance.now()`. */
  readonly sinceMs: () => number
}

export function createTestJournal({ journal, scope, sinceMs }: Parts): TestJournal {
  const within = scope === undefined ? {} : { scope }

  function all(filter = {}) {
    const since = sinceMs()
    return journal.exchanges({ ...filter, ...within }).filter(({ exchange }) => exchange.startedMs >= since)
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

  async function waitFor(
    query: ExchangeQuery,
    { count, timeoutMs = PATIENCE_MS }: WaitOptions & { readonly count?: number } = {},
  ) {
    const found = await awaited(query, { count: count ?? 1, timeoutMs })
    return count === undefined ? found[0] : found
  }

  function tooLate(query: ExchangeQuery, { count, timeoutMs }: Expected): Error {
    const what = count === 1 ? 'No exchange' : `Only ${fitting(query).length} of ${count} exchanges`
    return new Error(`${what} came within ${timeoutMs} ms that ${inWords(query)}.\n${whatCame(find())}`)
  }

  return {
    find,
    count: (query = {}) => fitting(query).length,
    last: (query = {}) => shown(fitting(query).slice(-1))[0],
    waitFor: waitFor as TestJournal['waitFor'],
    nearest(query, only) {
      const wanted = wantedBy(query)
      const pattern = { ...wanted.filter, ...wanted.parts }
      let best: { readonly entry: JournalEntry; readonly parts: object; readonly score: number } | undefined
      for (const entry of only ? [only] : others(query)) {
        const parts = shownParts(wanted, entry)
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

/** `fits { path: '/v1/models' }`: what was looked for, for a sentence. */
export const inWords = (query: ExchangeQuery): string =>
  typeof query === 'function'
    ? 'the function takes'
    : `fits ${inspect(asFilter(query), { depth: 8, breakLength: 100 })}`

const asFilter = (query: string | ExchangeFilter) => (typeof query === 'string' ? { path: query } : query)

/** So many are listed. */
const MOST = 10

/** A line for each exchange. */
export function whatCame(entries: readonly JournalEntry[]): string {
  if (entries.length === 0) return 'Nothing has come at all.'
  const left = entries.length - MOST
  const lines = entries.slice(-MOST).map(lineOf)
  return ['What came:', ...(left > 0 ? [`  (${left} more before)`] : []), ...lines].join('\n')
}

function lineOf({ request, status, source, error }: JournalEntry): string {
  const { model, messages } = (request.body ?? {}) as { readonly model?: unknown; readonly messages?: unknown }
  const last = Array.isArray(messages) ? (messages.at(-1) as { readonly content?: unknown } | undefined) : undefined
  const asked = typeof last?.content === 'string' ? JSON.stringify(shortened(last.content)) : ''
  const said = error ?? source ?? ''
  return [
    '  ',
    request.method,
    ' ',
    request.path,
    ` ${status ?? 'no answer'}`,
    told(model),
    told(asked),
    told(said),
  ].join('')
}

const told = (text: unknown) => (typeof text === 'string' && text !== '' ? ` · ${text}` : '')

const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 59)}…` : text)
