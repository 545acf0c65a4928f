/** Recognizes rules after a reload: rules of the same file with the same text. */
import { stringifyExact } from '../core/json.js'
import type { Sliced } from '../core/work.js'
import type { ReadyRule } from './dialect.js'
import { fileOfRule } from './rule-files.js'

/** Pairs each rule with its predecessor. Its position, and whether it is switched on, do not matter. */
export function* sameRules(
  before: readonly ReadyRule[],
  after: readonly ReadyRule[],
): Sliced<readonly (readonly [was: ReadyRule, is: ReadyRule])[]> {
  const keyOf = keysFor(before, after)
  const unpaired = new Map<string, ReadyRule[]>()
  for (const previous of before) {
    const key = keyOf(previous)
    const others = unpaired.get(key)
    if (others) others.push(previous)
    else unpaired.set(key, [previous])
    yield
  }
  const pairs: (readonly [was: ReadyRule, is: ReadyRule])[] = []
  for (const current of after) {
    // Of several that are written the same, the first one goes with the first.
    const previous = unpaired.get(keyOf(current))?.shift()
    if (previous) pairs.push([previous, current])
    yield
  }
  return pairs
}

/** The id of a rule has the version of its file, so that only the rules of files that changed are compared. */
function keysFor(before: readonly ReadyRule[], after: readonly ReadyRule[]): (rule: ReadyRule) => string {
  const known = new Set(before.map(({ id }) => id))
  const unchanged = new Set(after.map(({ id }) => id).filter(id => known.has(id)))
  return rule => {
    const { id = '' } = rule
    return unchanged.has(id) ? id : `${fileOfRule(id) ?? ''}\n${textOf(rule)}`
  }
}

const textOf = ({ written }: ReadyRule) => stringifyExact({ ...written, enabled: undefined })

/** Whether two rules have the same text, whether they are switched on or off. */
export const isSameRule = (one: ReadyRule, other: ReadyRule): boolean => textOf(one) === textOf(other)
