/** Matches values against patterns that name only some of their parts. */
import { nearest } from '../check/suggest.js'
import { isObject } from '../core/json.js'

/** The matchers of vitest and jest, such as `expect.stringContaining('x')` and `expect.any(Number)`. */
interface Asymmetric {
  asymmetricMatch(value: unknown): boolean
}

const isAsymmetric = (pattern: object): pattern is Asymmetric =>
  'asymmetricMatch' in pattern && typeof pattern.asymmetricMatch === 'function'

/** Whether a pattern is a regular expression or a runner's matcher, rather than a plain value. */
export const isMatcher = (pattern: unknown): pattern is object =>
  isObject(pattern) && (isAsymmetric(pattern) || pattern instanceof RegExp)

/** Own properties only, not inherited ones such as `constructor`. */
const ownValue = (value: Readonly<Record<string, unknown>>, key: string) =>
  Object.hasOwn(value, key) ? value[key] : undefined

/**
 * Whether a value matches the pattern. Objects need at least its keys, lists the same number of items, and texts match regular
 * expressions. Anything with `asymmetricMatch` decides by itself.
 */
export function matches(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) {
    return (
      Array.isArray(value) && pattern.length === value.length && pattern.every((part, i) => matches(part, value[i]))
    )
  }
  if (!isObject(pattern)) return Object.is(pattern, value)
  if (isAsymmetric(pattern)) return pattern.asymmetricMatch(value)
  if (pattern instanceof RegExp) return typeof value === 'string' && value.search(pattern) >= 0
  return isObject(value) && Object.entries(pattern).every(([key, part]) => matches(part, ownValue(value, key)))
}

/** How well a value matches, from 0 to 1. Used to find the exchange that was probably meant. Values of the same type score above 0. */
export function similarity(pattern: unknown, value: unknown): number {
  if (matches(pattern, value)) return 1
  if (Array.isArray(pattern)) return Array.isArray(value) ? partialScore(similarityOfLists(pattern, value)) : 0
  if (isMatcher(pattern)) return value === undefined ? 0 : partialScore(0)
  if (isObject(pattern)) return isObject(value) ? partialScore(similarityOfObjects(pattern, value)) : 0
  if (typeof pattern !== typeof value) return 0
  return partialScore(typeof pattern === 'string' && isPartOfOther(pattern, value as string) ? 0.5 : 0)
}

/** Keeps the score of a mismatch above 0 and below 1. */
const partialScore = (share: number) => 0.1 + share * 0.85

function similarityOfLists(pattern: readonly unknown[], value: readonly unknown[]): number {
  const sum = pattern.reduce((sum: number, part, i) => sum + similarity(part, value[i]), 0)
  return sum / Math.max(pattern.length, value.length)
}

function similarityOfObjects(
  pattern: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
): number {
  const parts = Object.entries(pattern)
  return parts.reduce((sum, [key, part]) => sum + similarity(part, ownValue(value, key)), 0) / parts.length
}

/** A path is part of a full URL, for example, and of the same path with a prefix. */
const isPartOfOther = (one: string, other: string) =>
  one !== '' && other !== '' && (one.includes(other) || other.includes(one))

/** The parts of a value that the pattern names. Parts that match are replaced by the pattern, so that a diff has only real differences. */
export function partsNamedBy(pattern: unknown, value: unknown): unknown {
  if (Array.isArray(pattern) && Array.isArray(value)) return value.map((part, i) => partsNamedBy(pattern[i], part))
  if (isObject(pattern) && !isMatcher(pattern) && isObject(value)) {
    const shown = Object.keys(pattern).flatMap(key => keyOrNearest(key, value))
    return Object.fromEntries(shown.map(key => [key, partsNamedBy(ownValue(pattern, key), value[key])]))
  }
  return matches(pattern, value) ? pattern : value
}

/** The key itself, or the most similar one if the value does not have it. */
function keyOrNearest(key: string, value: Readonly<Record<string, unknown>>): readonly string[] {
  if (Object.hasOwn(value, key)) return [key]
  const near = nearest(key, Object.keys(value))
  return near === undefined ? [] : [near]
}
