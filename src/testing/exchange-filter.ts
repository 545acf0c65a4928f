/** Says which exchanges a test means, by the parts of a request and of its answer that matter. */
import type { Exchange } from '../core/exchange.js'
import type { JournalEntry, JournalFilter } from '../journal/index.js'

/** What all that are meant have in common. */
export interface ExchangeFilter extends Omit<JournalFilter, 'after' | 'before' | 'scope'> {
  /** The model that was asked. */
  readonly model?: string | RegExp
  /** Whether a stream was asked for. */
  readonly stream?: boolean
  /**
   * A part of the request's JSON body: objects need no more than these keys, lists all of their items. A text may be a regular
   * expression, and anything a matcher such as `expect.stringContaining('x')`.
   */
  readonly body?: unknown
  /** Headers of the request, in the same way; their names in small letters. */
  readonly headers?: Readonly<Record<string, unknown>>
  /** A part of the answer's body. */
  readonly response?: unknown
  /** Decides about an exchange that is as the rest says. */
  readonly where?: (exchange: JournalEntry) => boolean
}

/** A path (`*` stands for anything), the parts that matter, or a function that decides. */
export type ExchangeQuery = string | ExchangeFilter | ((exchange: JournalEntry) => boolean)

/** What is to be held against values, and what the journal finds by itself. */
export interface Wanted {
  readonly filter: JournalFilter
  /** By name: parts of an exchange, in the words of the filter. */
  readonly parts: Readonly<Record<string, unknown>>
  readonly where: ((exchange: JournalEntry) => boolean) | undefined
}

const known = ['method', 'path', 'status', 'mode', 'caller', 'source', 'text', 'complete'] as const
const compared = ['model', 'stream', 'body', 'headers', 'response'] as const
const names: readonly string[] = [...known, ...compared, 'where']

/** Throws a TypeError for a part that there is not: nothing would ever fit it, or everything. */
export function wantedBy(query: ExchangeQuery): Wanted {
  if (typeof query === 'function') return { filter: {}, parts: {}, where: query }
  const given = typeof query === 'string' ? { path: query } : query
  const unknown = Object.keys(given).find(name => !names.includes(name))
  if (unknown !== undefined) {
    throw new TypeError(`An exchange has no ${unknown} to look for. There are ${names.join(', ')}.`)
  }
  const pick = (wanted: readonly string[]) =>
    Object.fromEntries(Object.entries(given).filter(([name, value]) => wanted.includes(name) && value !== undefined))
  return { filter: pick(known), parts: pick(compared), where: given.where }
}

/** The parts of an exchange as they came: nothing is taken out, and nothing is shown. */
export function partsOf({ body, headers }: Exchange, response: () => unknown): Readonly<Record<string, unknown>> {
  const value = body && body.length > 0 ? valueIn(body.toString('utf8')) : undefined
  const { model, stream } = (value ?? {}) as { readonly model?: unknown; readonly stream?: unknown }
  return {
    ...{ model, stream: stream ?? false, body: value, headers },
    get response() {
      return response()
    },
  }
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The same of what the journal shows, beside what was wanted of the rest. */
export function shownParts({ filter, parts }: Wanted, entry: JournalEntry): Readonly<Record<string, unknown>> {
  const { request, response, status, mode, caller, source, complete } = entry
  const { method, path, headers, body } = request
  const { model, stream = false } = (body ?? {}) as { readonly model?: unknown; readonly stream?: unknown }
  const all: Readonly<Record<string, unknown>> = {
    ...{ method, path, status, mode, caller: caller.kind, source, text: body, complete },
    ...{ model, stream, body, headers, response: response.body },
  }
  return Object.fromEntries(Object.keys({ ...filter, ...parts }).map(name => [name, all[name]]))
}
