/** Writes a JSON value as the literal of a programming language. */

interface Language {
  /** What stands for true, false and null. */
  readonly words: readonly [string, string, string]
  readonly key: (name: string) => string
}

export const python: Language = { words: ['True', 'False', 'None'], key: name => JSON.stringify(name) }

export const javascript: Language = {
  words: ['true', 'false', 'null'],
  // A bare __proto__ would be no key, but the prototype.
  key: name => (name === '__proto__' ? '["__proto__"]' : /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)),
}

/** What fits stands on one line. */
const LINE = 80

export function literal(value: unknown, language: Language, indent = ''): string {
  const flat = onOneLine(value, language)
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= LINE) return flat
  const inner = `${indent}${' '.repeat(language === python ? 4 : 2)}`
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const lines = entriesOf(value, language).map(([key, one]) => `${inner}${key}${literal(one, language, inner)},\n`)
  return `${open}\n${lines.join('')}${indent}${close}`
}

/** What is in a list or an object, each with what stands before it. */
const entriesOf = (value: object, { key }: Language): readonly (readonly [string, unknown])[] =>
  Array.isArray(value)
    ? value.map(one => ['', one] as const)
    : Object.entries(value).map(([name, one]) => [`${key(name)}: `, one] as const)

function onOneLine(value: unknown, language: Language): string {
  const [yes, no, nothing] = language.words
  if (value === null || value === undefined) return nothing
  if (typeof value === 'boolean') return value ? yes : no
  if (typeof value !== 'object') return JSON.stringify(value)
  const inside = entriesOf(value, language).map(([key, one]) => key + onOneLine(one, language))
  if (Array.isArray(value)) return `[${inside.join(', ')}]`
  if (inside.length === 0) return '{}'
  return language === python ? `{${inside.join(', ')}}` : `{ ${inside.join(', ')} }`
}
