/** Cuts long texts, so that a failure can be read. */

/** No longer than `most` characters. */
export const shortened = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

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
