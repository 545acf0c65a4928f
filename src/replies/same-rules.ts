/** Finds rules again after a reload: those of the same file that are written the same. */
import { stringifyExact } from '../core/json.js'
import type { ReadyRule } from './dialect.js'
import { fileOfRule } from './rule-files.js'

/** After so many rules, other requests get their turn. */
const OF_A_TURN = 500

/** Pairs each rule with the one that it was before. Its position, and whether it is switched on, do not matter. */
export async function sameRules(before: readonly ReadyRule[], after: readonly ReadyRule[]) {
  const keyOf = keysFor(before, after)
  const waiting = new Map<string, ReadyRule[]>()
  await inTurn(before, was => {
    const key = keyOf(was)
    const others = waiting.get(key)
    if (others) others.push(was)
    else waiting.set(key, [was])
  })
  const pairs: (readonly [was: ReadyRule, is: ReadyRule])[] = []
  await inTurn(after, is => {
    // Of several that are written the same, the first one goes with the first.
    const was = waiting.get(keyOf(is))?.shift()
    if (was) pairs.push([was, is])
  })
  return pairs
}

/** The id of a rule has the version of its file, so that only the rules of files that changed are compared. */
function keysFor(before: readonly ReadyRule[], after: readonly ReadyRule[]): (rule: ReadyRule) => string {
  const known = new Set(before.map(({ id }) => id))
  const unchanged = new Set(after.map(({ id }) => id).filter(id => known.has(id)))
  return ({ id = '', written }) =>
    unchanged.has(id) ? id : `${fileOfRule(id) ?? ''}\n${stringifyExact({ ...written, enabled: undefined })}`
}

async function inTurn(rules: readonly ReadyRule[], each: (rule: ReadyRule) => void): Promise<void> {
  for (let i = 0; i < rules.length; i += OF_A_TURN) {
    for (const rule of rules.slice(i, i + OF_A_TURN)) each(rule)
    await new Promise(resolve => setImmediate(resolve))
  }
}
