/** Says which exchanges a test means, by the parts of a request and of its answer that matter. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import { callerInWords } from '../core/caller.js'
import type { Caller, Exchange } from '../core/exchange.js'
import { sourceOf } from '../core/reply.js'
import { type JournalEntry, type JournalFilter, journalFilter } from '../journal/index.js'
import { checking } from './checked.js'
import { isMatcher } from './pattern.js'

/** What all that are meant have in common. */
export interface ExchangeFilter
  extends Pick<JournalFilter, 'status' | 'mode' | 'caller' | 'scope' | 'search' | 'complete' | 'problems'> {
  readonly method?: string | RegExp
  /** `*` stands for anything. */
  readonly path?: string | RegExp
  /** A part of how the credential is shown: the name of a key, `revoked key`, `expired token`, an address; `none` without one. */
  readonly credential?: string | RegExp
  /** A part of what gave the answer: a rule, a recording. */
  readonly source?: string | RegExp
  /** A part of the body of the request, as it was written. */
  readonly text?: string | RegExp
  /** `POST /v1/chat/completions`; `*` stands for anything. */
  readonly endpoint?: string | RegExp
  /** The model that was asked; `*` stands for anything. */
  readonly model?: string | RegExp
  /** Whether a stream was asked for. */
  readonly stream?: boolean
  /**
   * A part of the request's JSON body: objects need no more than these keys, lists all of their items. A text may be a regular
   * expression, and anything a matcher such as `expect.stringContaining('x')`.
   */
  readonly body?: unknown
  /** Headers of the request, in the same way. */
  readonly headers?: Readonly<Record<string, unknown>>
  /** A part of the answer's body. */
  readonly response?: unknown
  /** Decides at once about an exchange that is as the rest says. */
  readonly where?: (exchange: JournalEntry) => boolean
}

/** A path (`*` stands for anything), the parts that matter, or a function that decides. */
export type ExchangeQuery = string | RegExp | ExchangeFilter | ((exchange: JournalEntry) => boolean)

/** What is to be held against values, and what the journal finds by itself. */
export interface Wanted {
  readonly filter: JournalFilter
  /** By name: parts of an exchange, in the words of the filter. */
  readonly parts: Readonly<Record<string, unknown>>
  readonly where: ((exchange: JournalEntry) => boolean) | undefined
}

const { after: _after, before: _before, ...known } = journalFilter.entries
const anything = optional(v.unknown(), 'Anything.')

const filterOf = checking(
  'the query',
  closed({
    ...known,
    ...{ stream: anything, body: anything, headers: anything, response: anything },
    where: optional(v.function('a function'), 'Decides.'),
  }),
)

/** Throws a ProblemsError for a query that cannot be meant: nothing would ever fit it, or everything. */
export function wantedBy(query: ExchangeQuery): Wanted {
  if (typeof query === 'function') return { filter: {}, parts: {}, where: decided(query) }
  const given = asFilter(query)
  const wanted = (isPart: (name: string, value: unknown) => boolean) =>
    Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== undefined && isPart(name, value)))
  // The journal knows nothing of the runner's matchers, so whatever is one is held against the value here.
  const filter = wanted((name, value) => !isMatcher(value) && name in known)
  const parts = wanted((name, value) => name !== 'where' && (isMatcher(value) || !(name in known)))
  const { where } = filterOf({ ...given, ...Object.fromEntries(Object.keys(parts).map(leaveOut(given))) })
  return { filter, parts: withSmallHeaders(parts), where: where && decided(where as (entry: JournalEntry) => boolean) }
}

/** A path alone is one of a filter. */
export function asFilter(query: Exclude<ExchangeQuery, (exchange: JournalEntry) => boolean>): ExchangeFilter {
  if (typeof query === 'string' || query instanceof RegExp) return { path: query }
  // Nothing that has no keys is to fit everything.
  return typeof query === 'object' && query !== null ? query : (filterOf(query) as ExchangeFilter)
}

const leaveOut = (given: object) => (name: string) => [name, name in known ? undefined : given[name as keyof object]]

/** Node has the names of headers in small letters. */
function withSmallHeaders({ headers, ...parts }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (headers === undefined) return parts
  if (isMatcher(headers) || typeof headers !== 'object' || headers === null) return { ...parts, headers }
  return {
    ...parts,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  }
}

/** A promise would always be true. */
const decided = (where: (entry: JournalEntry) => boolean) => (entry: JournalEntry) => {
  const isWanted: unknown = where(entry)
  if (isWanted instanceof Promise) {
    throw new TypeError('A function that decides about exchanges has to say at once: it must not be async.')
  }
  return Boolean(isWanted)
}

/** The parts of an exchange as they came: nothing is taken out, and nothing is shown. */
export function partsOf(exchange: Exchange, response: () => unknown): Readonly<Record<string, unknown>> {
  const { method, path, endpoint, mode, scope, caller, outcome, body, headers } = exchange
  const text = body && body.length > 0 ? body.toString('utf8') : undefined
  const value = text === undefined ? undefined : valueIn(text)
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

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The same of what the journal shows. */
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

/** As much of it as was wanted. */
export function shownParts({ filter, parts }: Wanted, entry: JournalEntry): Readonly<Record<string, unknown>> {
  const all: Readonly<Record<string, unknown>> = { ...entryParts(entry), text: entry.request.body }
  return Object.fromEntries(Object.keys({ ...filter, ...parts }).map(name => [name, all[name]]))
}
