/** Opens closed objects where several are to hold at once. */

/** What is nested deeper than anybody writes is left as it is. */
const DEEPEST = 200

const closing = new Set(['additionalProperties', 'unevaluatedProperties'])

/**
 * Libraries write the intersection of two types as an `allOf` of two closed objects, which nothing fits: each rules out what the other
 * requires. What is meant is both; so this is `schema` without what closes its objects, or `undefined` where it has no `allOf`.
 */
export function openedWhereJoined(schema: unknown): unknown {
  let joins = false
  const opened = (part: unknown, depth: number): unknown => {
    if (typeof part !== 'object' || part === null || depth > DEEPEST) return part
    if (Array.isArray(part)) return part.map(item => opened(item, depth + 1))
    joins ||= 'allOf' in part
    const kept = Object.entries(part).filter(([key, value]) => !(closing.has(key) && value === false))
    return Object.fromEntries(kept.map(([key, value]) => [key, opened(value, depth + 1)]))
  }
  const open = opened(schema, 0)
  return joins ? open : undefined
}
