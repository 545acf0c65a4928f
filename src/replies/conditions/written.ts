/** What is written in code, as files would have it. */

/** Regular expressions as files write them. */
export function withoutExpressions(value: unknown): unknown {
  if (value instanceof RegExp) return String(value)
  if (Array.isArray(value)) return value.map(withoutExpressions)
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isPlain
    ? Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, withoutExpressions(inside)]))
    : value
}
