/** Filters that select exchanges by parts of the request and the answer. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import { callerInWords } from '../core/caller.js'
import { type Caller, type Exchange, sourceOf } from '../core/exchange.js'
import { jsonOf } from '../core/json.js'
import { type JournalFilter, journalFilter } from '../journal/filter.js'
import type { JournalEntry } from '../journal/index.js'
import { inputCheck } from './input-check.js'
import { isMatcher } from './pattern.js'

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
    ...{ stream: anything, body: anything, headers: anything, response: anything },
    where: optional(v.function('a function'), 'Whether an exchange matches.'),
  }),
)

/** Throws a ProblemsError for an invalid query, which would match nothing or everything. */
export function splitQuery(query: ExchangeQuery): SplitQuery {
  if (typeof query === 'function') return { filter: {}, parts: {}, where: syncPredicate(query) }
  const given = asFilter(query)
  const pick = (isPart: (name: string, value: unknown) => boolean) =>
    Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== undefined && isPart(name, value)))
  // The journal does not know the test runner's matchers, so they are compared here.
  const filter = pick((name, value) => !isMatcher(value) && name in known)
  const parts = pick((name, value) => name !== 'where' && (isMatcher(value) || !(name in known)))
  const { where } = filterOf({ ...given, ...Object.fromEntries(Object.keys(parts).map(unlessMatcher(given))) })
  return {
    filter,
    parts: withLowerCaseHeaders(parts),
    where: where && syncPredicate(where as (entry: JournalEntry) => boolean),
  }
}

/** A query as a filter. A text or regular expression filters by path. */
export function asFilter(query: Exclude<ExchangeQuery, (exchange: JournalEntry) => boolean>): ExchangeFilter {
  if (typeof query === 'string' || query instanceof RegExp) return { path: query }
  // Other values are rejected: as a filter without keys they would match everything.
  return typeof query === 'object' && query !== null ? query : (filterOf(query) as ExchangeFilter)
}

const unlessMatcher = (given: object) => (name: string) => [
  name,
  name in known ? undefined : given[name as keyof object],
]

/** Node converts header names to lower case. */
function withLowerCaseHeaders({
  headers,
  ...parts
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (headers === undefined) return parts
  if (isMatcher(headers) || typeof headers !== 'object' || headers === null) return { ...parts, headers }
  return {
    ...parts,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  }
}

/** A promise is truthy, so an async function would match everything. */
const syncPredicate = (where: (entry: JournalEntry) => boolean) => (entry: JournalEntry) => {
  const isMatch: unknown = where(entry)
  if (isMatch instanceof Promise) {
    throw new TypeError('A function that selects exchanges must not be async.')
  }
  return Boolean(isMatch)
}

/** The parts of an exchange, unredacted. */
export function partsOf(exchange: Exchange, response: () => unknown): Readonly<Record<string, unknown>> {
  const { method, path, endpoint, mode, scope, caller, outcome, body, headers } = exchange
  const text = body && body.length > 0 ? body.toString('utf8') : undefined
  const json = text && jsonOf(text)
  const value = json === undefined ? text : json
  const { model, stream } = (value ?? {}) as { readonly model?: unknown; readonly stream?: unknown }
  return {
    ...{ method, path, status: outcome?.status, mode, scope, source: sourceOf(outcome) ?? undefined },
    endpoint: endpoint && `${endpoint.method} ${endpoint.path}`,
    ...{ caller: caller.kind, credential: credentialIn(caller) },
    ...{ text, complete: outcome?.complete ?? false, model, stream: stream ?? false, body: value, headers },
    get response() {
      return response()
    },
  }
}

const credentialIn = (caller: Caller) => callerInWords(caller) || 'none'

/** The same parts of a journal entry, which is redacted. */
export function entryParts(entry: JournalEntry): Readonly<Record<string, unknown>> {
  const { request, response, endpoint, status, mode, scope, caller, source, complete } = entry
  const { method, path, headers, body } = request
  const { model, stream = false } = (body ?? {}) as { readonly model?: unknown; readonly stream?: unknown }
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return {
    ...{ method, path, endpoint, status, mode, scope, source, text, complete },
    ...{ caller: caller.kind, credential: credentialIn(caller) },
    ...{ model, stream, body, headers, response: response.body },
  }
}

/** The parts of an entry that the query names. */
export function queriedParts({ filter, parts }: SplitQuery, entry: JournalEntry): Readonly<Record<string, unknown>> {
  const all: Readonly<Record<string, unknown>> = { ...entryParts(entry), text: entry.request.body }
  return Object.fromEntries(Object.keys({ ...filter, ...parts }).map(name => [name, all[name]]))
}
