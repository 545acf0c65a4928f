/** Holds a value against a pattern that names only what matters. */

/** What vitest and jest make of `expect.stringContaining('x')`, `expect.any(Number)` and the like. */
interface Asymmetric {
  asymmetricMatch(value: unknown): boolean
}

const isAsymmetric = (pattern: object): pattern is Asymmetric =>
  'asymmetricMatch' in pattern && typeof pattern.asymmetricMatch === 'function'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Not what every object has, such as `constructor`. */
const own = (value: Readonly<Record<string, unknown>>, key: string) =>
  Object.hasOwn(value, key) ? value[key] : undefined

/**
 * Whether a value is as the pattern says: objects have at least its keys, lists have as many items, texts fit where it is a regular
 * expression, and whatever has `asymmetricMatch` decides by itself.
 */
export function fits(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) {
    return Array.isArray(value) && pattern.length === value.length && pattern.every((part, i) => fits(part, value[i]))
  }
  if (!isObject(pattern)) return Object.is(pattern, value)
  if (isAsymmetric(pattern)) return pattern.asymmetricMatch(value)
  if (pattern instanceof RegExp) return typeof value === 'string' && value.search(pattern) >= 0
  return isObject(value) && Object.entries(pattern).every(([key, part]) => fits(part, own(value, key)))
}

/** How much of a pattern a value fits, from 0 to 1: for finding the one that was probably meant. */
export function likeness(pattern: unknown, value: unknown): number {
  if (Array.isArray(pattern) && pattern.length > 0) {
    if (!Array.isArray(value)) return 0
    const alike = pattern.reduce((sum: number, part, i) => sum + likeness(part, value[i]), 0)
    return alike / Math.max(pattern.length, value.length)
  }
  if (!isObject(pattern) || isAsymmetric(pattern) || pattern instanceof RegExp) return fits(pattern, value) ? 1 : 0
  const parts = Object.entries(pattern)
  if (!isObject(value)) return 0
  if (parts.length === 0) return 1
  return parts.reduce((sum, [key, part]) => sum + likeness(part, own(value, key)), 0) / parts.length
}

/** The part of a value of which a pattern speaks, with what fits said in the words of the pattern: only the rest differs. */
export function shownBeside(pattern: unknown, value: unknown): unknown {
  if (Array.isArray(pattern) && Array.isArray(value)) return value.map((part, i) => shownBeside(pattern[i], part))
  if (isObject(pattern) && !isAsymmetric(pattern) && !(pattern instanceof RegExp) && isObject(value)) {
    const keys = Object.keys(pattern).filter(key => Object.hasOwn(value, key))
    return Object.fromEntries(keys.map(key => [key, shownBeside(pattern[key], value[key])]))
  }
  return fits(pattern, value) ? pattern : value
}
