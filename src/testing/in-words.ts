/** Describes what a test looked for and what came instead, cut to a readable length. */
import { inspect } from 'node:util'
import { callerInWords } from '../core/caller.js'
import type { JournalEntry } from '../journal/index.js'
import { asFilter, type ExchangeQuery } from './exchange-filter.js'
import { isMatcher } from './pattern.js'

/** `fits { path: '/v1/models' }`: the query in words. `count` decides between singular and plural. */
export const inWords = (query: ExchangeQuery, count = 1): string => {
  if (typeof query === 'function') return 'the function takes'
  const shown = inspect(readable(asFilter(query)), { depth: 12, breakLength: 100, maxStringLength: 200 })
  return `${count === 1 ? 'fits' : 'fit'} ${shown}`
}

/** How vitest and jest describe `expect.any(String)` and other matchers. */
interface Telling {
  readonly sample?: unknown
  toString(): string
  toAsymmetricMatcher?(): string
}

/** Replaces matchers with short descriptions; `inspect` would print all their internals. */
export function readable(pattern: unknown): unknown {
  if (Array.isArray(pattern)) return pattern.map(readable)
  if (typeof pattern !== 'object' || pattern === null || pattern instanceof RegExp) return pattern
  if (isMatcher(pattern)) return { [inspect.custom]: () => wordsOf(pattern) }
  return Object.fromEntries(Object.entries(pattern).map(([key, part]) => [key, readable(part)]))
}

/** `StringContaining 'x'` */
function wordsOf(matcher: Telling): string {
  const own = matcher.toAsymmetricMatcher?.()
  if (own !== undefined) return own
  return `${matcher.toString()}${matcher.sample === undefined ? '' : ` ${inspect(readable(matcher.sample), { depth: 12 })}`}`
}

/** At most this many exchanges are listed. */
const MOST = 10

/** One line per exchange, and the number of requests still under way. */
export function whatCame(entries: readonly JournalEntry[], underWay = 0): string {
  const still =
    underWay === 0 ? [] : [`${underWay === 1 ? 'A request is' : `${underWay} requests are`} still under way.`]
  if (entries.length === 0) return ['No request has arrived.', ...still].join(' ')
  const left = entries.length - MOST
  const lines = entries.slice(-MOST).map(lineOf)
  return ['What came:', ...(left > 0 ? [`  (${left} more before)`] : []), ...lines, ...still].join('\n')
}

function lineOf({ request, status, source, error, caller }: JournalEntry): string {
  const { model, messages } = (request.body ?? {}) as { readonly model?: unknown; readonly messages?: unknown }
  const last = Array.isArray(messages) ? (messages.at(-1) as { readonly content?: unknown } | undefined) : undefined
  const prompt = typeof last?.content === 'string' ? JSON.stringify(shortened(last.content, 60)) : ''
  const result = error ?? source ?? ''
  return [
    '  ',
    request.method,
    ' ',
    request.path,
    ` ${status ?? 'no answer'}`,
    part(model),
    part(prompt),
    part(caller.kind === 'refused' && callerInWords(caller)),
    part(result),
  ].join('')
}

const part = (text: unknown) => (typeof text === 'string' && text !== '' ? ` · ${text}` : '')

const shortened = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

/** How much of a text is shown before the first difference, and after it. */
const BEFORE = 60
const BEHIND = 300

/** Two values to compare, with long texts cut around their first difference. */
export function bothShortened(wanted: unknown, found: unknown): readonly [wanted: unknown, found: unknown] {
  if (typeof wanted === 'string' && typeof found === 'string') return textsShortened(wanted, found)
  if (Array.isArray(wanted) && Array.isArray(found)) {
    const pairs = Array.from({ length: Math.max(wanted.length, found.length) }, (_, i) =>
      bothShortened(wanted[i], found[i]),
    )
    return [pairs.slice(0, wanted.length).map(([one]) => one), pairs.slice(0, found.length).map(([, other]) => other)]
  }
  if (isPlain(wanted) && isPlain(found)) {
    const pairs = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].map(
      key => [key, bothShortened(wanted[key], found[key])] as const,
    )
    const side = (of: object, nth: 0 | 1) =>
      Object.fromEntries(pairs.filter(([key]) => key in of).map(([key, pair]) => [key, pair[nth]]))
    return [side(wanted, 0), side(found, 1)]
  }
  return [alone(wanted), alone(found)]
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Shortens a value that has no counterpart. */
function alone(value: unknown): unknown {
  if (typeof value === 'string') return window(value, 0)
  if (Array.isArray(value)) return value.map(alone)
  return isPlain(value) ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, alone(part)])) : value
}

function textsShortened(wanted: string, found: string): readonly [string, string] {
  let at = 0
  while (at < wanted.length && wanted[at] === found[at]) at++
  const from = wanted === found ? 0 : Math.max(0, at - BEFORE)
  return [window(wanted, from), window(found, from)]
}

function window(text: string, from: number): string {
  if (text.length <= BEFORE + BEHIND) return text
  const until = from + BEFORE + BEHIND
  const before = from > 0 ? `(${from} characters) …` : ''
  const behind = until < text.length ? `… (${text.length - until} characters)` : ''
  return `${before}${text.slice(from, until)}${behind}`
}
