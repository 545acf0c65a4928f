/** Matches of secrets in a text, and the placeholders that take their places. */
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

/** Overlapping matches, or edits, become one that is like the longest; of equal ones, like the first. */
export function merged<T extends Pick<Match, 'start' | 'end'>>(matches: readonly T[]): readonly T[] {
  if (matches.length < 2) return matches
  const sorted = [...matches].sort((a, b) => a.start - b.start || b.end - a.end)
  const result: T[] = []
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

export const CREDENTIAL = 'credential'

export type Placeholder = (match: Pick<Match, 'name' | 'isNumbered'>, value: string) => string

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

/** The name of a header or parameter in the characters that placeholders use. */
export function placeholderName(name: string): string {
  return dashedName(name).replace(/^[-0-9]+|-$/g, '') || 'secret'
}

/** The placeholders that may stand anywhere in a text. */
function placeholdersOf({ known, patterns }: Pick<RedactionRules, 'known' | 'patterns'>): string {
  const names = [CREDENTIAL, 'password', ...known.map(({ name }) => name)]
  const numbered = ['jwt', 'key', 'private-key', 'webhook', 'email', ...patterns.map(({ name }) => name)]
  return `\\[(?:${names.join('|')}|(?:${numbered.join('|')})-\\d+)\\]`
}

const ofSecretName = `\\[[a-z\\d-]{0,100}(?:${secretName})\\]`

/** Matches any placeholder. Those of parameters and fields are matched only as whole values. */
export function anyPlaceholder(rules: Pick<RedactionRules, 'known' | 'patterns' | 'names'>): RegExp {
  const others = ['key', 'token', 'code', 'sig', 'signature', 'nonce', 'cookie', ...rules.names.map(placeholderName)]
  const ofOtherName = `\\[(?:${others.join('|')})\\]`
  return new RegExp(`${placeholdersOf(rules)}|(?<=[="'>:\\s])${ofSecretName}|(?<=[="\\n])${ofOtherName}`)
}

/** Longer than any placeholder. */
const LONGEST = 120

/** Finds what the search finds, except inside placeholders, so that redacting twice changes nothing. */
export function outsidePlaceholders(search: Search, rules: RedactionRules): Search {
  const placeholder = new RegExp(`${placeholdersOf(rules)}|${ofSecretName}`, 'y')
  const isInPlaceholder = (text: string, { start, end }: Match) => {
    const from = Math.max(0, start - LONGEST)
    placeholder.lastIndex = from + text.slice(from, start + 1).lastIndexOf('[')
    return placeholder.lastIndex >= from && placeholder.test(text) && placeholder.lastIndex >= end
  }
  return text => search(text).filter(match => !isInPlaceholder(text, match))
}
