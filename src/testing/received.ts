/** Checks whether a platform received the requests that a test expects, and explains the result. */
import { inspect } from 'node:util'
import type { ExchangeQuery } from './exchange-filter.js'
import { bothShortened, inWords, readable, whatCame } from './in-words.js'
import type { JournalNow } from './journal.js'

/** Anything with a journal: a platform or a scope. */
export interface Receiver {
  readonly journal: JournalNow
}

/** The same in another process. Its journal is fetched for each query. */
export interface RemoteReceiver {
  readonly journal: { fetched(query: ExchangeQuery): Promise<JournalNow> }
}

/** Checks at once in this process, and after fetching the journal from another one. */
export function judged(
  receiver: Receiver | RemoteReceiver,
  query: ExchangeQuery,
  judge: (receiver: Receiver) => MatcherResult,
): MatcherResult | Promise<MatcherResult> {
  const { journal } = receiver
  if (!('fetched' in journal)) return judge({ journal })
  return journal.fetched(query).then(now => judge({ journal: now }))
}

export type Diff = (wanted: unknown, found: unknown) => string | undefined | null

export interface MatcherResult {
  readonly pass: boolean
  /** Why the assertion fails, also when it is negated. */
  readonly message: () => string
}

/** Whether any exchange matches, or exactly `times`. */
export function received(
  { journal }: Receiver,
  query: ExchangeQuery,
  { times, diff = plain }: { times?: number | undefined; diff?: Diff },
): MatcherResult {
  if (times !== undefined) requireTimes(times)
  const found = journal.find(query)
  const isAny = times === undefined && found.length > 0
  return {
    pass: isAny || found.length === times,
    message() {
      const title = `${counted(found.length)} ${inWords(query, Math.max(1, found.length))}`
      if (isAny) return paragraphs(`${title}.`, whatCame(found))
      return paragraphs(
        times === undefined ? `${title}.` : `${title}, and ${times} should.`,
        found.length < (times ?? 1) ? nearest(journal, query, diff) : '',
        whatCame(journal.find(), journal.underWay),
      )
    },
  }
}

/** Whether the newest exchange matches. */
export function receivedLast({ journal }: Receiver, query: ExchangeQuery, diff: Diff = plain): MatcherResult {
  const [last] = journal.find().slice(-1)
  const fits = last !== undefined && journal.last(query)?.id === last.id
  const title = () => (last ? `The last exchange ${fits ? 'is one that' : 'is none that'} ${inWords(query)}.` : '')
  const because = () => (last && !fits ? sideBySide(journal.nearest(query, last), diff) : '')
  return { pass: fits, message: () => paragraphs(title(), because(), whatCame(journal.find(), journal.underWay)) }
}

function requireTimes(times: unknown): void {
  if (Number.isInteger(times) && (times as number) >= 0) return
  throw new TypeError(
    `The first argument must be a whole number, such as 2, not ${inspect(times)}. The query comes second.`,
  )
}

const paragraphs = (...texts: readonly string[]) => texts.filter(text => text !== '').join('\n\n')

function counted(count: number): string {
  if (count === 0) return 'No exchange'
  return count === 1 ? 'One exchange' : `${count} exchanges`
}

function nearest(journal: JournalNow, query: ExchangeQuery, diff: Diff): string {
  const near = journal.nearest(query)
  if (!near || typeof query === 'function') return ''
  const { request, status } = near.entry
  return `The nearest is ${request.method} ${request.path}, ${status ?? 'without an answer'}:\n\n${sideBySide(near, diff)}`
}

const sideBySide = (near: ReturnType<JournalNow['nearest']>, diff: Diff) =>
  (near && diff(...bothShortened(near.wanted, near.found))) || ''

/** Used without a test runner's diff. */
const plain: Diff = (wanted, found) =>
  `expected ${inspect(readable(wanted), deep)}\nreceived ${inspect(readable(found), deep)}`
const deep = { depth: 12, breakLength: 100 }
