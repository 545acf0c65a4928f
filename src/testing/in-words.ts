/** Says what a test looked for and what came, cut to a length that can be read. */
import { inspect } from 'node:util'
import { callerInWords } from '../core/caller.js'
import type { JournalEntry } from '../journal/index.js'
import { asFilter, type ExchangeQuery } from './exchange-filter.js'
import { isMatcher } from './pattern.js'

/** `fits { path: '/v1/models' }`: what was looked for, for a sentence about so many. */
export const inWords = (query: ExchangeQuery, count = 1): string => {
  if (typeof query === 'function') return 'the function takes'
  const shown = inspect(readable(asFilter(query)), { depth: 12, breakLength: 100, maxStringLength: 200 })
  return `${count === 1 ? 'fits' : 'fit'} ${shown}`
}

/** What vitest and jest make of `expect.any(String)` and the like, as far as it tells of itself. */
interface Telling {
  readonly sample?: unknown
  toString(): string
  toAsymmetricMatcher?(): string
}

/** Matchers would be shown with all that they are made of. */
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

/** So many are listed. */
const MOST = 10

/** A line for each exchange, and what can still become one. */
export function whatCame(entries: readonly JournalEntry[], underWay = 0): string {
  const still =
    underWay === 0 ? [] : [`${underWay === 1 ? 'A request is' : `${underWay} requests are`} still under way.`]
  if (entries.length === 0) return ['Nothing has come at all.', ...still].join(' ')
  const left = entries.length - MOST
  const lines = entries.slice(-MOST).map(lineOf)
  return ['What came:', ...(left > 0 ? [`  (${left} more before)`] : []), ...lines, ...still].join('\n')
}

function lineOf({ request, status, source, error, caller }: JournalEntry): string {
  const { model, messages } = (request.body ?? {}) as { readonly model?: unknown; readonly messages?: unknown }
  const last = Array.isArray(messages) ? (messages.at(-1) as { readonly content?: unknown } | undefined) : undefined
  const asked = typeof last?.content === 'string' ? JSON.stringify(shortened(last.content, 60)) : ''
  const said = error ?? source ?? ''
  return [
    '  ',
    request.method,
    ' ',
    request.path,
    ` ${status ?? 'no answer'}`,
    told(model),
    told(asked),
    told(caller.kind === 'refused' && callerInWords(caller)),
    told(said),
  ].join('')
}

const told = (text: unknown) => (typeof text === 'string' && text !== '' ? ` · ${text}` : '')

/** No longer than `most` characters. */
const shortened = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

/** So much is shown of a text before the place where it differs, and behind it. */
const BEFORE = 60
const BEHIND = 300

/** Two values side by side, with their long texts cut to where they differ. */
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

/** Where there is nothing to hold it against. */
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
