/** Filters that select exchanges by parts of the request and the answer, and the patterns in them. */
import * as v from 'valibot'
import { closed, optional } from '../check/forms.js'
import { nearest } from '../check/suggest.js'
import { callerInWords } from '../core/caller.js'
import { type Caller, type Exchange, sourceOf } from '../core/exchange.js'
import { isObject, jsonOf } from '../core/json.js'
import { type JournalFilter, journalFilter } from '../journal/filter.js'
import type { JournalEntry } from '../journal/index.js'
import { inputCheck } from './input-check.js'

/** The parts of an exchange that can be matched. */
export interface ExchangeFilter
  extends Pick<JournalFilter, 'status' | 'mode' | 'caller' | 'scope' | 'search' | 'complete' | 'problems'> {
  readonly method?: string | RegExp | undefined
  /** `*` matches any text. */
  readonly path?: string | RegExp | undefined
  /** Part of the credential's description: the name of a key, `revoked key`, `expired token`, an address; `none` without a credential. */
  readonly credential?: string | RegExp | undefined
  /** Part of the description of the source of the answer, such as a rule or a recording. */
  readonly source?: string | RegExp | undefined
  /** Part of the raw request body. */
  readonly text?: string | RegExp | undefined
  /** Such as `POST /v1/chat/completions`; `*` matches any text. */
  readonly endpoint?: string | RegExp | undefined
  /** The requested model; `*` matches any text. */
  readonly model?: string | RegExp | undefined
  /** Whether a stream was requested. */
  readonly stream?: boolean | undefined
  /**
   * Part of the request's JSON body: objects may have more keys than these; lists must match item by item. Texts may be given as
   * regular expressions, and any value as a matcher such as `expect.stringContaining('x')`.
   */
  readonly body?: unknown
  /** Request headers, matched in the same way. */
  readonly headers?: Readonly<Record<string, unknown>> | undefined
  /** Part of the answer's body. */
  readonly response?: unknown
  /** Called for exchanges that match everything else. Must not be async. */
  readonly where?: ((exchange: JournalEntry) => boolean) | undefined
}

/** A path (`*` matches any text), the parts to match, or a function that returns whether an exchange matches. */
export type ExchangeQuery = string | RegExp | ExchangeFilter | ((exchange: JournalEntry) => boolean)

/** A query, split into what the journal evaluates and what is compared here. */
export interface SplitQuery {
  readonly filter: JournalFilter
  /** Patterns for other parts of an exchange, by their name in the filter. */
  readonly parts: Readonly<Record<string, unknown>>
  readonly where: ((exchange: JournalEntry) => boolean) | undefined
}

// `response` matches answers here.
const { after: _after, before: _before, answer: _answer, ...known } = journalFilter.entries
const anything = optional(v.unknown(), 'Anything.')

const filterOf = inputCheck(
  'the query',
  closed({
    ...known,
    stream: anything,
    body: anything,
    headers: anything,
    response: anything,
    where: optional(v.function('a function'), 'Whether an exchange matches.'),
  }),
)

/** Throws a ProblemsError for an invalid query, which would match nothing or everything. */
export function splitQuery(query: ExchangeQuery): SplitQuery {
  if (typeof query === 'function') return { filter: {}, parts: {}, where: syncPredicate(query) }
  const given = Object.entries(asFilter(query)).filter(([, value]) => value !== undefined)
  // The journal does not know the test runner's matchers, so they are compared here.
  const isForJournal = ([name, value]: readonly [string, unknown]) => name in known && !isMatcher(value)
  const { where } = filterOf(Object.fromEntries(given.filter(entry => isForJournal(entry) || !(entry[0] in known))))
  const { headers, where: _where, ...parts } = Object.fromEntries(given.filter(entry => !isForJournal(entry)))
  return {
    filter: Object.fromEntries(given.filter(isForJournal)),
    parts: headers === undefined ? parts : { ...parts, headers: withLowerCaseNames(headers) },
    where: where && syncPredicate(where as (entry: JournalEntry) => boolean),
  }
}

/** A query as a filter. A text or regular expression filters by path. */
export function asFilter(query: Exclude<ExchangeQuery, (exchange: JournalEntry) => boolean>): ExchangeFilter {
  if (typeof query === 'string' || query instanceof RegExp) return { path: query }
  // Other values are rejected: as a filter without keys they would match everything.
  return typeof query === 'object' && query !== null ? query : (filterOf(query) as ExchangeFilter)
}

/** Node converts header names to lower case. */
const withLowerCaseNames = (headers: unknown): unknown =>
  isMatcher(headers) || !isObject(headers)
    ? headers
    : Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** A promise is truthy, so an async function would match everything. */
const syncPredicate = (where: (entry: JournalEntry) => boolean) => (entry: JournalEntry) => {
  const isMatch: unknown = where(entry)
  if (isMatch instanceof Promise) {
    throw new TypeError('A function that selects exchanges must not be async.')
  }
  return Boolean(isMatch)
}

/** The parts of an exchange, unredacted. */
export function exchangeParts(exchange: Exchange, response: () => unknown): Readonly<Record<string, unknown>> {
  const { method, path, endpoint, mode, scope, caller, outcome, body, headers } = exchange
  const text = body && body.length > 0 ? body.toString('utf8') : undefined
  const json = text && jsonOf(text)
  const facts = { method, path, mode, scope, headers, text, complete: outcome?.complete ?? false }
  return {
    ...facts,
    ...partsOfBody(json === undefined ? text : json),
    ...partsOfCaller(caller),
    status: outcome?.status,
    source: sourceOf(outcome) ?? undefined,
    endpoint: endpoint && `${endpoint.method} ${endpoint.path}`,
    get response() {
      return response()
    },
  }
}

function partsOfBody(body: unknown) {
  const { model, stream = false } = (body ?? {}) as { readonly model?: unknown; readonly stream?: unknown }
  return { model, stream, body }
}

const partsOfCaller = (caller: Caller) => ({ caller: caller.kind, credential: callerInWords(caller) || 'none' })

/** The same parts of a journal entry, which is redacted. */
export function entryParts(entry: JournalEntry): Readonly<Record<string, unknown>> {
  const { request, response, endpoint, status, mode, scope, caller, source, complete } = entry
  const { method, path, headers, body } = request
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const facts = { method, path, headers, endpoint, status, mode, scope, source, text, complete }
  return { ...facts, ...partsOfBody(body), ...partsOfCaller(caller), response: response.body }
}

/** The parts of an entry that the query names. */
export function queriedParts({ filter, parts }: SplitQuery, entry: JournalEntry): Readonly<Record<string, unknown>> {
  const all: Readonly<Record<string, unknown>> = { ...entryParts(entry), text: entry.request.body }
  return Object.fromEntries(Object.keys({ ...filter, ...parts }).map(name => [name, all[name]]))
}

/** The matchers of vitest and jest, such as `expect.stringContaining('x')` and `expect.any(Number)`. */
interface Asymmetric {
  asymmetricMatch(value: unknown): boolean
}

const isAsymmetric = (pattern: object): pattern is Asymmetric =>
  'asymmetricMatch' in pattern && typeof pattern.asymmetricMatch === 'function'

/** Whether a pattern is a regular expression or a runner's matcher, rather than a plain value. */
export const isMatcher = (pattern: unknown): pattern is object =>
  isObject(pattern) && (isAsymmetric(pattern) || pattern instanceof RegExp)

/** Own properties only, not inherited ones such as `constructor`. */
const ownValue = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key as keyof typeof value] : undefined

/**
 * Whether a value matches the pattern. Objects need at least its keys, lists the same number of items, and texts match regular
 * expressions. Anything with `asymmetricMatch` decides by itself.
 */
export function matches(pattern: unknown, value: unknown): boolean {
  if (!isContainer(pattern)) return Object.is(pattern, value)
  if (isAsymmetric(pattern)) return pattern.asymmetricMatch(value)
  if (pattern instanceof RegExp) return typeof value === 'string' && value.search(pattern) >= 0
  if (!isContainer(value) || Array.isArray(pattern) !== Array.isArray(value)) return false
  if (Array.isArray(pattern) && pattern.length !== (value as readonly unknown[]).length) return false
  return Object.entries(pattern).every(([key, part]) => matches(part, ownValue(value, key)))
}

/** A list or an object. The items of a list are found by their index. */
const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

/** How well a value matches, from 0 to 1. Used to find the exchange that was probably meant. Values of the same type score above 0. */
export function similarity(pattern: unknown, value: unknown): number {
  if (matches(pattern, value)) return 1
  // The score of a mismatch is above 0 and below 1.
  const partial = (share: number) => 0.1 + share * 0.85
  if (isMatcher(pattern)) return value === undefined ? 0 : partial(0)
  if (isContainer(pattern) && isContainer(value)) {
    if (Array.isArray(pattern) !== Array.isArray(value)) return 0
    const scores = Object.entries(pattern).map(([key, part]) => similarity(part, ownValue(value, key)))
    const parts = Array.isArray(value) ? Math.max(scores.length, value.length) : scores.length
    return partial(scores.reduce((sum, score) => sum + score, 0) / parts)
  }
  if (typeof pattern !== typeof value || isContainer(pattern) || isContainer(value)) return 0
  return partial(typeof pattern === 'string' && isPartOfOther(pattern, value as string) ? 0.5 : 0)
}

/** A path is part of a full URL, for example, and of the same path with a prefix. */
const isPartOfOther = (one: string, other: string) =>
  one !== '' && other !== '' && (one.includes(other) || other.includes(one))

/**
 * The parts of a value that the pattern names. Parts that match are replaced by the pattern, so that a diff has only real
 * differences.
 */
export function partsNamedBy(pattern: unknown, value: unknown): unknown {
  if (Array.isArray(pattern) && Array.isArray(value)) return value.map((part, i) => partsNamedBy(pattern[i], part))
  if (isObject(pattern) && !isMatcher(pattern) && isObject(value)) {
    const names = Object.keys(value)
    // A key that the value does not have is shown as the most similar one.
    const shown = Object.keys(pattern).flatMap(key => (Object.hasOwn(value, key) ? key : (nearest(key, names) ?? [])))
    return Object.fromEntries(shown.map(key => [key, partsNamedBy(ownValue(pattern, key), value[key])]))
  }
  return matches(pattern, value) ? pattern : value
}
