/** Describes in messages which requests a test expected and which arrived, cut to a readable length. */
import { inspect } from 'node:util'
import { callerInWords } from '../core/caller.js'
import type { JournalEntry } from '../journal/index.js'
import { asFilter, type ExchangeQuery } from './exchange-filter.js'
import { isMatcher } from './pattern.js'

/** The query as the object of a sentence: `{ path: '/v1/models' }`. */
export const inWords = (query: ExchangeQuery): string =>
  typeof query === 'function'
    ? 'the function'
    : inspect(readable(asFilter(query)), { depth: 12, breakLength: 100, maxStringLength: 200 })

/** The parts of a vitest or jest matcher, such as `expect.any(String)`, that describe it. */
interface DescribedMatcher {
  readonly sample?: unknown
  toString(): string
  toAsymmetricMatcher?(): string
}

/** Replaces matchers with short descriptions; `inspect` would print all their internals. */
export function readable(pattern: unknown): unknown {
  if (Array.isArray(pattern)) return pattern.map(readable)
  if (typeof pattern !== 'object' || pattern === null || pattern instanceof RegExp) return pattern
  if (isMatcher(pattern)) return { [inspect.custom]: () => matcherInWords(pattern) }
  return Object.fromEntries(Object.entries(pattern).map(([key, part]) => [key, readable(part)]))
}

/** `StringContaining 'x'` */
function matcherInWords(matcher: DescribedMatcher): string {
  const own = matcher.toAsymmetricMatcher?.()
  if (own !== undefined) return own
  return `${matcher.toString()}${matcher.sample === undefined ? '' : ` ${inspect(readable(matcher.sample), { depth: 12 })}`}`
}

/** At most this many exchanges are listed. */
const MOST_LISTED = 10

/** One line per exchange, and the number of requests still under way. */
export function receivedInWords(entries: readonly JournalEntry[], underWay = 0): string {
  const underWayInWords =
    underWay === 0 ? [] : [`${underWay === 1 ? 'A request is' : `${underWay} requests are`} still under way.`]
  if (entries.length === 0) return ['No request has arrived.', ...underWayInWords].join(' ')
  const omitted = entries.length - MOST_LISTED
  const lines = entries.slice(-MOST_LISTED).map(lineOf)
  return ['Received:', ...(omitted > 0 ? [`  (${omitted} more before)`] : []), ...lines, ...underWayInWords].join('\n')
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

/** How many characters of a text are shown before the first difference, and after it. */
const CHARACTERS_BEFORE = 60
const CHARACTERS_AFTER = 300

/** Returns two values for a diff, with long texts cut around their first difference. */
export function shortenPair(wanted: unknown, found: unknown): readonly [wanted: unknown, found: unknown] {
  if (typeof wanted === 'string' && typeof found === 'string') return shortenTexts(wanted, found)
  if (Array.isArray(wanted) && Array.isArray(found)) {
    const pairs = Array.from({ length: Math.max(wanted.length, found.length) }, (_, i) =>
      shortenPair(wanted[i], found[i]),
    )
    return [pairs.slice(0, wanted.length).map(([one]) => one), pairs.slice(0, found.length).map(([, other]) => other)]
  }
  if (isPlain(wanted) && isPlain(found)) {
    const pairs = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].map(
      key => [key, shortenPair(wanted[key], found[key])] as const,
    )
    const side = (of: object, nth: 0 | 1) =>
      Object.fromEntries(pairs.filter(([key]) => key in of).map(([key, pair]) => [key, pair[nth]]))
    return [side(wanted, 0), side(found, 1)]
  }
  return [shortenSingle(wanted), shortenSingle(found)]
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Shortens a value that has no counterpart. */
function shortenSingle(value: unknown): unknown {
  if (typeof value === 'string') return excerpt(value, 0)
  if (Array.isArray(value)) return value.map(shortenSingle)
  return isPlain(value)
    ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shortenSingle(part)]))
    : value
}

function shortenTexts(wanted: string, found: string): readonly [string, string] {
  let at = 0
  while (at < wanted.length && wanted[at] === found[at]) at++
  const from = wanted === found ? 0 : Math.max(0, at - CHARACTERS_BEFORE)
  return [excerpt(wanted, from), excerpt(found, from)]
}

function excerpt(text: string, from: number): string {
  if (text.length <= CHARACTERS_BEFORE + CHARACTERS_AFTER) return text
  const until = from + CHARACTERS_BEFORE + CHARACTERS_AFTER
  const before = from > 0 ? `(${from} characters) …` : ''
  const after = until < text.length ? `… (${text.length - until} characters)` : ''
  return `${before}${text.slice(from, until)}${after}`
}
