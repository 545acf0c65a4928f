/** Checks whether a platform received the requests that a test expects, and explains the result. */
import { inspect } from 'node:util'
import type { ExchangeQuery } from './exchange-filter.js'
import { inWords, readable, receivedInWords, shortenPair } from './in-words.js'
import type { JournalView } from './journal.js'

/** Anything with a journal: a platform or a scope. */
export interface Receiver {
  readonly journal: JournalView
}

/** The same in another process. Its journal is fetched for each query. */
export interface RemoteReceiver {
  readonly journal: { fetched(query: ExchangeQuery): Promise<JournalView> }
}

/** Calls `check` with the journal: at once in this process, and after fetching it from another one. */
export function withJournal(
  receiver: Receiver | RemoteReceiver,
  query: ExchangeQuery,
  check: (receiver: Receiver) => MatcherResult,
): MatcherResult | Promise<MatcherResult> {
  const { journal } = receiver
  if (!('fetched' in journal)) return check({ journal })
  return journal.fetched(query).then(fetched => check({ journal: fetched }))
}

export type Diff = (wanted: unknown, found: unknown) => string | undefined | null

export interface MatcherResult {
  readonly pass: boolean
  /** Why the assertion fails, also when it is negated. */
  readonly message: () => string
}

/** Checks whether at least one exchange matches, or exactly `times`. */
export function checkReceived(
  { journal }: Receiver,
  query: ExchangeQuery,
  { times, diff = plainDiff }: { times?: number | undefined; diff?: Diff },
): MatcherResult {
  if (times !== undefined) requireTimes(times)
  const found = journal.find(query)
  const isAny = times === undefined && found.length > 0
  return {
    pass: isAny || found.length === times,
    message() {
      const title = `${counted(found.length)} ${found.length > 1 ? 'match' : 'matches'} ${inWords(query)}`
      if (isAny) return paragraphs(`${title}.`, receivedInWords(found))
      return paragraphs(
        times === undefined ? `${title}.` : `${title}, but ${times} should.`,
        found.length < (times ?? 1) ? closestInWords(journal, query, diff) : '',
        receivedInWords(journal.find(), journal.underWay),
      )
    },
  }
}

/** Checks whether the newest exchange matches. */
export function checkReceivedLast({ journal }: Receiver, query: ExchangeQuery, diff: Diff = plainDiff): MatcherResult {
  const [last] = journal.find().slice(-1)
  const isMatch = last !== undefined && journal.last(query)?.id === last.id
  const title = () => (last ? `The last exchange ${isMatch ? 'matches' : 'does not match'} ${inWords(query)}.` : '')
  const reason = () => (last && !isMatch ? sideBySide(journal.nearest(query, last), diff) : '')
  return {
    pass: isMatch,
    message: () => paragraphs(title(), reason(), receivedInWords(journal.find(), journal.underWay)),
  }
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

function closestInWords(journal: JournalView, query: ExchangeQuery, diff: Diff): string {
  const near = journal.nearest(query)
  if (!near || typeof query === 'function') return ''
  const { request, status } = near.entry
  return `The nearest is ${request.method} ${request.path}, ${status ?? 'without an answer'}:\n\n${sideBySide(near, diff)}`
}

const sideBySide = (near: ReturnType<JournalView['nearest']>, diff: Diff) =>
  (near && diff(...shortenPair(near.wanted, near.found))) || ''

/** The diff for runners that have none. */
const plainDiff: Diff = (wanted, found) =>
  `expected ${inspect(readable(wanted), inspectOptions)}\nreceived ${inspect(readable(found), inspectOptions)}`
const inspectOptions = { depth: 12, breakLength: 100 }
