/** Makes and recognizes placeholders. */
import type { Match, Search } from './match.js'
import { type RedactionRules, secretParameterNames } from './names.js'

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
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[-0-9]+|-$/g, '')
  return plain || 'secret'
}

/** The names of all placeholders: plain ones and numbered ones. */
const namesIn = ({ known, patterns }: Pick<RedactionRules, 'known' | 'patterns'>) => ({
  names: [CREDENTIAL, ...known.map(({ name }) => name)],
  numbered: ['jwt', 'key', 'private-key', 'email', ...patterns.map(({ name }) => name)],
})

/** Matches any placeholder. Those of parameters are matched only after an equals sign. */
export function anyPlaceholder(rules: Pick<RedactionRules, 'known' | 'patterns' | 'names'>): RegExp {
  const { names, numbered } = namesIn(rules)
  const parameters = secretParameterNames(rules.names).map(placeholderName)
  return new RegExp(`\\[(${names.join('|')}|(${numbered.join('|')})-\\d+)\\]|(?<==)\\[(${parameters.join('|')})\\]`)
}

/** Finds what the search finds, except inside placeholders, so that redacting twice changes nothing. */
export function outsidePlaceholders(search: Search, rules: RedactionRules): Search {
  const { names, numbered } = namesIn(rules)
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
