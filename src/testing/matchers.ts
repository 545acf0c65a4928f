/** Checks whether a platform received the requests that a test expects: matchers for vitest and jest, and their messages. */
import { inspect } from 'node:util'
import { type CalledToolsOptions, checkCalledTools } from './called-tools.js'
import type { ExchangeQuery } from './exchange-filter.js'
import { checkHandled, type Handled } from './handled.js'
import { inWords, readable, receivedInWords, shortenPair } from './in-words.js'
import type { JournalView } from './journal.js'
import { toolCallFilter } from './tools.js'

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
function checkReceivedLast({ journal }: Receiver, query: ExchangeQuery, diff: Diff = plainDiff): MatcherResult {
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

/** The context that test runners pass to their matchers. */
interface Context {
  readonly isNot?: boolean | undefined
  readonly utils: { readonly diff: Diff }
}

/** A promise if the receiver is in another process. */
type MatcherReturn<R, T> = 0 extends 1 & T ? R : T extends RemoteReceiver ? Promise<void> : R

/**
 * For `expect(platform)` or `expect(scope)`. A query is a path, the parts to match, or a function that returns whether an exchange
 * matches. Must be awaited for platforms and scopes from `connect()`.
 */
export interface ReceivedMatchers<R = void, T = unknown> {
  /** The platform received this request at least once since the last reset. */
  toHaveReceived(query?: ExchangeQuery): MatcherReturn<R, T>
  /** It received this request exactly this many times. */
  toHaveReceivedTimes(times: number, query?: ExchangeQuery): MatcherReturn<R, T>
  /** The last request was this one. */
  toHaveReceivedLast(query: ExchangeQuery): MatcherReturn<R, T>
  /** A tool of an MCP server was called at least once since the last reset, with at least these arguments. */
  toHaveCalledTool(name: string, args?: Readonly<Record<string, unknown>>): MatcherReturn<R, T>
  /**
   * All of these were called since the last reset, in any order or, with `order`, in this one: tools whose result the app told the
   * model, tools of MCP servers, and paths such as `POST /orders/*`. `never` has what must not be called besides; `*` is any tool.
   *
   * ```ts
   * await expect(platform).toHaveCalledTools(['search', 'answer'], { order: true, never: ['delete_*'] })
   * ```
   */
  toHaveCalledTools(names: readonly string[], options?: CalledToolsOptions): MatcherReturn<R, T>
  /**
   * A fault hit a request since the last reset, and the app did what it should: it did not take half an answer for a whole one
   * (`truncation`), waited for Retry-After (`rate-limit`), did not repeat what was refused (`refusal`), retried no more than an
   * SDK (`outage`), ran no tool twice (`retry`), closed the connection that it gave up (`stall`).
   */
  toHaveHandled(what: Handled): MatcherReturn<R, T>
}

export const matchers = {
  toHaveReceived(this: Context, receiver: unknown, query: ExchangeQuery = {}) {
    return checkTitled('toHaveReceived', this, receiver, query, one => checkReceived(one, query, this.utils))
  },
  toHaveReceivedTimes(this: Context, receiver: unknown, times: number, query: ExchangeQuery = {}) {
    const options = { times, diff: this.utils.diff }
    return checkTitled('toHaveReceivedTimes', this, receiver, query, one => checkReceived(one, query, options))
  },
  toHaveReceivedLast(this: Context, receiver: unknown, query: ExchangeQuery) {
    const { diff } = this.utils
    return checkTitled('toHaveReceivedLast', this, receiver, query, one => checkReceivedLast(one, query, diff))
  },
  toHaveCalledTool(this: Context, receiver: unknown, name: string, args?: Readonly<Record<string, unknown>>) {
    const query = toolCallFilter(name, args)
    return checkTitled('toHaveCalledTool', this, receiver, query, one => checkReceived(one, query, this.utils))
  },
  toHaveCalledTools(this: Context, receiver: unknown, names: readonly string[], options?: CalledToolsOptions) {
    return checkTitled('toHaveCalledTools', this, receiver, {}, one => checkCalledTools(one.journal, names, options))
  },
  toHaveHandled(this: Context, receiver: unknown, what: Handled) {
    return checkTitled('toHaveHandled', this, receiver, {}, one => checkHandled(one.journal, what))
  },
}

/** Checks what a receiver got, and begins the message with the name of the matcher. */
function checkTitled(
  name: string,
  { isNot }: Context,
  receiver: unknown,
  query: ExchangeQuery,
  check: (one: Receiver) => MatcherResult,
) {
  return withJournal(requireReceiver(receiver), query, one => {
    const { pass, message } = check(one)
    return { pass, message: () => `expect(platform)${isNot ? '.not' : ''}.${name}(…)\n\n${message()}` }
  })
}

function requireReceiver(receiver: unknown): Receiver | RemoteReceiver {
  if (typeof receiver === 'object' && receiver !== null && 'journal' in receiver) return receiver as Receiver
  throw new TypeError('This matcher needs a platform or one of its scopes: expect(platform).toHaveReceived(…).')
}
