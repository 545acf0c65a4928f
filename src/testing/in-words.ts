/** Describes in messages which requests a test expected and which arrived, cut to a readable length. */
import { inspect } from 'node:util'
import { callerInWords } from '../core/caller.js'
import type { JournalEntry } from '../journal/index.js'
import { asFilter, type ExchangeQuery, isMatcher } from './exchange-filter.js'

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

/** One line per exchange, with advice below it, and the number of requests still under way. */
export function receivedInWords(entries: readonly JournalEntry[], underWay = 0): string {
  const underWayInWords =
    underWay === 0 ? [] : [`${underWay === 1 ? 'A request is' : `${underWay} requests are`} still under way.`]
  if (entries.length === 0) return ['No request has arrived.', ...underWayInWords].join(' ')
  const omitted = entries.length - MOST_LISTED
  const lines = entries.slice(-MOST_LISTED).map(exchangeLine)
  return ['Received:', ...(omitted > 0 ? [`  (${omitted} more before)`] : []), ...lines, ...underWayInWords].join('\n')
}

/** What to do about the exchanges of a test that failed, and why no prepared reply answered them; `undefined` if there is nothing to say. */
export function adviceInWords(entries: readonly JournalEntry[], test?: string): string | undefined {
  const lines = new Set(entries.filter(entry => adviceOn(entry) !== undefined).map(exchangeLine))
  if (lines.size === 0) return undefined
  const title = `The platform advises on ${test === undefined ? 'this test' : JSON.stringify(test)}:`
  return [title, ...[...lines].slice(-MOST_LISTED)].join('\n')
}

/** The advice, or why no rule answered: the nearest one, and the condition that it does not fulfil. */
const adviceOn = ({ advice, hint, remark, answeredBy }: JournalEntry) =>
  advice ?? hint ?? (answeredBy?.kind === 'canned' || answeredBy?.kind === 'mcp' ? remark : null) ?? undefined

/** An exchange in a line, and the advice on it below. */
export function exchangeLine(entry: JournalEntry): string {
  const { request, status, source, error, advice, caller } = entry
  const { model, messages } = (request.body ?? {}) as { readonly model?: unknown; readonly messages?: unknown }
  const last = Array.isArray(messages) ? (messages.at(-1) as { readonly content?: unknown } | undefined) : undefined
  const parts = [
    `  ${request.method} ${request.path} ${status ?? 'no answer'}`,
    model,
    typeof last?.content === 'string' ? JSON.stringify(cutPrompt(last.content, 60)) : '',
    caller.kind === 'refused' ? callerInWords(caller) : '',
    // The advice has a line of its own.
    error?.replace(advice ?? '', '').trim() ?? source,
  ]
  const line = parts.filter(part => typeof part === 'string' && part !== '').join(' · ')
  return [line, adviceOn(entry) ?? []].flat().join('\n    → ')
}

const cutPrompt = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

/** How many characters of a text are shown before the first difference, and after it. */
const CHARACTERS_BEFORE = 60
const CHARACTERS_AFTER = 300

/** Returns two values for a diff, with long texts cut around their first difference. */
export const shortenPair = (wanted: unknown, found: unknown) =>
  [shortenBeside(wanted, found), shortenBeside(found, wanted)] as const

/** Shortens the texts in a value; `other` is its counterpart, if there is one. */
function shortenBeside(value: unknown, other: unknown): unknown {
  if (typeof value === 'string') return excerpt(value, typeof other === 'string' ? startOfExcerpt(value, other) : 0)
  if (Array.isArray(value))
    return value.map((part, i) => shortenBeside(part, Array.isArray(other) ? other[i] : undefined))
  if (!isPlainObject(value)) return value
  const counterpart = isPlainObject(other) ? other : {}
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shortenBeside(part, counterpart[key])]))
}

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

function startOfExcerpt(text: string, other: string): number {
  if (text === other) return 0
  let at = 0
  while (at < text.length && text[at] === other[at]) at++
  return Math.max(0, at - CHARACTERS_BEFORE)
}

function excerpt(text: string, from: number): string {
  if (text.length <= CHARACTERS_BEFORE + CHARACTERS_AFTER) return text
  const until = from + CHARACTERS_BEFORE + CHARACTERS_AFTER
  const before = from > 0 ? `(${from} characters) …` : ''
  const after = until < text.length ? `… (${text.length - until} characters)` : ''
  return `${before}${text.slice(from, until)}${after}`
}
