/** Matches of secrets in a text: replacing them by placeholders, and finding known values in all forms in which they may be written. */

import { dashedName, type RedactionRules, secretName } from './names.js'

export interface Match {
  readonly start: number
  /** The index after its last character. */
  readonly end: number
  readonly name: string
  /** Whether several secrets may have this name, distinguished by numbers. */
  readonly isNumbered: boolean
}

/** Finds secrets in a text, in any order. Matches may overlap. */
export type Search = (text: string) => readonly Match[]

/** Overlapping matches become one, with the name of the longest; of equal ones, the first. */
export function merged(matches: readonly Match[]): readonly Match[] {
  if (matches.length < 2) return matches
  const sorted = [...matches].sort((a, b) => a.start - b.start || b.end - a.end)
  const result: Match[] = []
  let longest = 0
  for (const match of sorted) {
    const previous = result.at(-1)
    const length = match.end - match.start
    if (!previous || match.start >= previous.end) {
      result.push(match)
      longest = length
      continue
    }
    const end = Math.max(previous.end, match.end)
    result[result.length - 1] = { ...(length > longest ? match : previous), start: previous.start, end }
    longest = Math.max(longest, length)
  }
  return result
}

/** A match is replaced in the piece where it begins, and removed from the following ones. */
export function replacedIn(
  pieces: readonly string[],
  search: Search,
  placeholder: (match: Match, value: string) => string,
): readonly string[] {
  const [only] = pieces
  const text = pieces.length === 1 && only !== undefined ? only : pieces.join('')
  const matches = search(text)
  if (matches.length === 0) return pieces
  const replaced: string[] = []
  let next = 0
  let pieceStart = 0
  for (const piece of pieces) {
    const pieceEnd = pieceStart + piece.length
    let out = ''
    let position = Math.max(pieceStart, Math.min(pieceEnd, matches[next - 1]?.end ?? 0))
    for (let match = matches[next]; match && match.start < pieceEnd; match = matches[++next]) {
      out += text.slice(position, match.start) + placeholder(match, text.slice(match.start, match.end))
      position = Math.min(pieceEnd, match.end)
    }
    replaced.push(out + text.slice(position, pieceEnd))
    pieceStart = pieceEnd
  }
  return replaced
}

export const CREDENTIAL = 'credential'

export type Placeholder = (match: Match, value: string) => string

/** The same value of the same name always has the same number. Numbers follow the order of appearance. */
export function createPlaceholders(): Placeholder {
  const numbers = new Map<string, Map<string, number>>()
  return ({ name, isNumbered }, value) => {
    if (!isNumbered) return `[${name}]`
    const numberOf = numbers.get(name) ?? new Map<string, number>()
    numbers.set(name, numberOf)
    const number = numberOf.get(value) ?? numberOf.size + 1
    numberOf.set(value, number)
    return `[${name}-${number}]`
  }
}

/** The placeholder of a header or parameter: `[access-token]`. */
export const placeholderOf = (name: string): string => `[${placeholderName(name)}]`

/** The name of a header or parameter in the characters that placeholders use. */
export function placeholderName(name: string): string {
  return dashedName(name).replace(/^[-0-9]+|-$/g, '') || 'secret'
}

/** The names of all placeholders: plain ones and numbered ones. */
const namesOfPlaceholders = ({ known, patterns }: Pick<RedactionRules, 'known' | 'patterns'>) => ({
  names: [CREDENTIAL, 'password', ...known.map(({ name }) => name)],
  numbered: ['jwt', 'key', 'private-key', 'webhook', 'email', ...patterns.map(({ name }) => name)],
})

/** Matches any placeholder. Those of parameters and fields are matched only as whole values. */
export function anyPlaceholder(rules: Pick<RedactionRules, 'known' | 'patterns' | 'names'>): RegExp {
  const { names, numbered } = namesOfPlaceholders(rules)
  const others = ['key', 'token', 'code', 'sig', 'signature', 'nonce', 'cookie', ...rules.names.map(placeholderName)]
  const named = `[a-z\\d-]{0,100}(?:${secretName})|${others.join('|')}`
  return new RegExp(`\\[(?:${names.join('|')}|(?:${numbered.join('|')})-\\d+)\\]|(?<=[="\\n])\\[(?:${named})\\]`)
}

/** Finds what the search finds, except inside placeholders, so that redacting twice changes nothing. */
export function outsidePlaceholders(search: Search, rules: RedactionRules): Search {
  const { names, numbered } = namesOfPlaceholders(rules)
  const plainNames = new Set(names)
  const numberedNames = new Set(numbered)
  const longest = Math.max(...[...names, ...numbered].map(({ length }) => length)) + '[-999999999]'.length

  function isInPlaceholder(text: string, { start, end }: Match): boolean {
    if (end - start > longest) return false
    const from = Math.max(0, start + 1 - longest)
    const open = text.slice(from, start + 1).lastIndexOf('[')
    const close = text.slice(end - 1, end + longest).indexOf(']')
    if (open < 0 || close < 0) return false
    const inside = text.slice(from + open + 1, end - 1 + close)
    return plainNames.has(inside) || numberedNames.has(inside.replace(/-\d+$/, ''))
  }

  return text => {
    const found = search(text)
    return found.length === 0 ? found : found.filter(match => !isInPlaceholder(text, match))
  }
}

interface Literal {
  readonly name: string
  readonly value: string
}

/** A shorter value would match ordinary words. */
const SHORTEST = 6

const findsNothing: Search = () => []

/** If two values have a form in common, the name of the first one is used. */
export function createLiteralSearch(literals: readonly Literal[]): Search {
  const names = new Map<string, string>()
  const padded = new Set<string>()
  for (const { name, value } of literals) {
    if (value.length < SHORTEST) continue
    const encoded = base64Forms(value)
    for (const form of encoded) padded.add(form)
    for (const form of [...plainForms(value), ...encoded]) if (!names.has(form)) names.set(form, name)
  }
  if (names.size === 0) return findsNothing
  const longestFirst = [...names.keys()].sort((a, b) => b.length - a.length)
  const anyOf = longestFirst.map(form => escapedForm(form) + (padded.has(form) ? '(?:=|%3[Dd]){0,2}' : ''))
  const expression = new RegExp(anyOf.join('|'), 'g')

  return text => {
    const found: Match[] = []
    expression.lastIndex = 0
    for (let hit = expression.exec(text); hit; hit = expression.exec(text)) {
      const { 0: form, index } = hit
      const name = names.get(form) ?? names.get(form.replace(/(?:=|%3[Dd]){1,2}$/, '')) ?? ''
      found.push({ start: index, end: index + form.length, name, isNumbered: false })
    }
    return found
  }
}

function plainForms(value: string): readonly string[] {
  const inJson = JSON.stringify(value).slice(1, -1)
  return [
    value,
    ...percentForms(value),
    inJson,
    inJson.replaceAll('/', '\\/'),
    inJson.replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    // JSON in JSON, as the arguments of tools are.
    JSON.stringify(inJson).slice(1, -1),
    // As bytes, read as one character each.
    Buffer.from(value).toString('latin1'),
  ]
}

function percentForms(value: string): readonly string[] {
  const upper = [
    percentEncoded(value),
    new URLSearchParams([['', value]]).toString().slice(1),
    encodeURI(value.toWellFormed()),
  ]
  return [...upper, ...upper.map(form => form.replace(/%[\dA-F]{2}/g, code => code.toLowerCase()))]
}

/** Without the optional padding. */
function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const whole = bytes.toString('base64').replace(/={1,2}$/, '')
  const all =
    bytes.length < SHORTEST_INSIDE ? [whole] : [whole, ...[0, 1, 2].map(before => insideBase64(bytes, before))]
  return all.flatMap(base64 => [
    base64,
    percentEncoded(base64),
    base64.replace(/[+/]/g, sign => (sign === '+' ? '-' : '_')),
  ])
}

/** Inside a longer text, such as `user:value`, a shorter value would leave only a few letters. */
const SHORTEST_INSIDE = 12

/** The letters that depend on these bytes alone when `before` bytes, and any multiple of three, precede them. */
const insideBase64 = (bytes: Buffer, before: number): string =>
  Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3))

const escapedForm = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Percent-encoding that never throws: unpaired surrogates, which UTF-8 cannot express, are replaced. */
export const percentEncoded = (text: string): string => encodeURIComponent(text.toWellFormed())
