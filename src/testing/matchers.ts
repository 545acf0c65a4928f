/** Checks whether a platform received the requests that a test expects: matchers for vitest and jest, and their messages. */
import { inspect } from 'node:util'
import { type CalledToolsOptions, checkCalledTools } from './called-tools.js'
import type { ExchangeQuery } from './exchange-filter.js'
import { checkHandled, type Handled } from './handled.js'
import { inWords, readable, receivedInWords, shortenPair } from './in-words.js'
import type { Comparison, TestJournal } from './journal.js'
import { toolCallFilter } from './tools.js'

/** Anything with a journal: a platform or a scope. */
export interface Receiver {
  readonly journal: TestJournal
}

export type Diff = (wanted: unknown, found: unknown) => string | undefined | null

export interface MatcherResult {
  readonly pass: boolean
  /** Why the assertion fails, also when it is negated. */
  readonly message: () => string
}

interface CheckOptions {
  readonly times?: number | undefined
  readonly diff?: Diff
  /** Whether the check is negated, so that it fails if it passes. */
  readonly isNot?: boolean | undefined
}

/** Checks whether at least one exchange matches, or exactly `times`. */
export async function checkReceived(
  { journal }: Receiver,
  query: ExchangeQuery,
  { times, diff = plainDiff, isNot = false }: CheckOptions,
): Promise<MatcherResult> {
  if (times !== undefined) requireTimes(times)
  const found = await journal.find(query)
  const isAny = times === undefined && found.length > 0
  const pass = isAny || found.length === times
  const title = `${counted(found.length)} ${found.length > 1 ? 'match' : 'matches'} ${inWords(query)}`
  const explained = async () =>
    isAny
      ? paragraphs(`${title}.`, receivedInWords(found))
      : paragraphs(
          times === undefined ? `${title}.` : `${title}, but ${times} should.`,
          found.length < (times ?? 1) ? await closestInWords(journal, query, diff) : '',
          await allReceived(journal),
        )
  return resultOf(pass, isNot, explained)
}

/** Checks whether the newest exchange matches. */
async function checkReceivedLast(
  { journal }: Receiver,
  query: ExchangeQuery,
  { diff = plainDiff, isNot = false }: CheckOptions,
): Promise<MatcherResult> {
  const last = await journal.last()
  const isMatch = last !== undefined && (await journal.last(query))?.id === last.id
  return resultOf(isMatch, isNot, async () => {
    const title = last ? `The last exchange ${isMatch ? 'matches' : 'does not match'} ${inWords(query)}.` : ''
    const reason = last && !isMatch ? sideBySide(await journal.nearest(query, last), diff) : ''
    return paragraphs(title, reason, await allReceived(journal))
  })
}

/** The message takes further calls, so it is only made if it is shown. */
async function resultOf(pass: boolean, isNot: boolean, explained: () => Promise<string>): Promise<MatcherResult> {
  const text = pass === isNot ? await explained() : ''
  return { pass, message: () => text }
}

const allReceived = async (journal: TestJournal) => receivedInWords(await journal.find(), await journal.underWay)

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

async function closestInWords(journal: TestJournal, query: ExchangeQuery, diff: Diff): Promise<string> {
  const near = await journal.nearest(query)
  if (!near || typeof query === 'function') return ''
  const { request, status } = near.entry
  return `The nearest is ${request.method} ${request.path}, ${status ?? 'without an answer'}:\n\n${sideBySide(near, diff)}`
}

const sideBySide = (near: Comparison | undefined, diff: Diff) =>
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

/**
 * For `expect(platform)` or `expect(scope)`. A query is a path, the parts to match, or a function that returns whether an exchange
 * matches. They must be awaited.
 */
export interface ReceivedMatchers {
  /** The platform received this request at least once since the last reset. */
  toHaveReceived(query?: ExchangeQuery): Promise<void>
  /** It received this request exactly this many times. */
  toHaveReceivedTimes(times: number, query?: ExchangeQuery): Promise<void>
  /** The last request was this one. */
  toHaveReceivedLast(query: ExchangeQuery): Promise<void>
  /** A tool of an MCP server was called at least once since the last reset, with at least these arguments. */
  toHaveCalledTool(name: string, args?: Readonly<Record<string, unknown>>): Promise<void>
  /**
   * All of these were called since the last reset, in any order or, with `order`, in this one: tools whose result the app told the
   * model, tools of MCP servers, and paths such as `POST /orders/*`. `never` has what must not be called besides; `*` is any tool.
   *
   * ```ts
   * await expect(platform).toHaveCalledTools(['search', 'answer'], { order: true, never: ['delete_*'] })
   * ```
   */
  toHaveCalledTools(names: readonly string[], options?: CalledToolsOptions): Promise<void>
  /**
   * A fault hit a request since the last reset, and the app did what it should: it did not take half an answer for a whole one
   * (`truncation`), waited for Retry-After (`rate-limit`), did not repeat what was refused (`refusal`), retried no more than an
   * SDK (`outage`), ran no tool twice (`retry`), closed the connection that it gave up (`stall`).
   */
  toHaveHandled(what: Handled): Promise<void>
}

export const matchers = {
  toHaveReceived(this: Context, receiver: unknown, query: ExchangeQuery = {}) {
    return checkTitled('toHaveReceived', this, receiver, (one, options) => checkReceived(one, query, options))
  },
  toHaveReceivedTimes(this: Context, receiver: unknown, times: number, query: ExchangeQuery = {}) {
    return checkTitled('toHaveReceivedTimes', this, receiver, (one, options) =>
      checkReceived(one, query, { ...options, times }),
    )
  },
  toHaveReceivedLast(this: Context, receiver: unknown, query: ExchangeQuery) {
    return checkTitled('toHaveReceivedLast', this, receiver, (one, options) => checkReceivedLast(one, query, options))
  },
  toHaveCalledTool(this: Context, receiver: unknown, name: string, args?: Readonly<Record<string, unknown>>) {
    return checkTitled('toHaveCalledTool', this, receiver, (one, options) =>
      checkReceived(one, toolCallFilter(name, args), options),
    )
  },
  toHaveCalledTools(this: Context, receiver: unknown, names: readonly string[], options?: CalledToolsOptions) {
    return checkTitled('toHaveCalledTools', this, receiver, async ({ journal }) =>
      checkCalledTools(await journal.find(), names, options),
    )
  },
  toHaveHandled(this: Context, receiver: unknown, what: Handled) {
    return checkTitled('toHaveHandled', this, receiver, async ({ journal }) =>
      checkHandled(await journal.find(), await journal.underWay, what),
    )
  },
}

/** Checks what a receiver got, and begins the message with the name of the matcher. */
async function checkTitled(
  name: string,
  { isNot, utils: { diff } }: Context,
  receiver: unknown,
  check: (one: Receiver, options: CheckOptions) => Promise<MatcherResult>,
): Promise<MatcherResult> {
  const { pass, message } = await check(requireReceiver(receiver), { diff, isNot })
  return { pass, message: () => `expect(platform)${isNot ? '.not' : ''}.${name}(…)\n\n${message()}` }
}

function requireReceiver(receiver: unknown): Receiver {
  if (typeof receiver === 'object' && receiver !== null && 'journal' in receiver) return receiver as Receiver
  throw new TypeError('This matcher needs a platform or one of its scopes: await expect(platform).toHaveReceived(…).')
}
