/** Finds the rule that came nearest to answering, and what it failed on. */
import type { Asked } from './conditions/asked.js'
import type { Engine } from './engine.js'
import type { ReadyRule } from './ready-rule.js'

/** The rules that a request was held against, and what keeps each from answering. */
type Tried = Pick<Engine, 'rules' | 'reasonsAgainst'>

interface Nearest {
  readonly rule: ReadyRule
  /** Sentences without their ends. */
  readonly reasons: readonly string[]
}

/** The rule with the fewest reasons against it; among equals the one of whose conditions the most hold, then the first. */
function nearestRule({ rules, reasonsAgainst }: Tried, asked: Asked): Nearest | undefined {
  let best: (Nearest & { readonly holding: number }) | undefined
  for (const rule of rules) {
    const reasons = reasonsAgainst(rule, asked)
    const holding = rule.conditions.length - reasons.length
    const isBetter =
      !best ||
      reasons.length < best.reasons.length ||
      (reasons.length === best.reasons.length && holding > best.holding)
    if (isBetter) best = { rule, reasons, holding }
  }
  return best
}

/** To name the nearest rule, at most this many letters of a prompt, counted once for each rule, are compared with rules. */
const MOST_LETTERS = 20_000_000

/** `The nearest is rule "weather" (replies/a.yaml:5): user does not contain "weather".` */
export function nearestSentence(tried: Tried, asked: Asked): string {
  const { rules } = tried
  if (rules.length * asked.user.length > MOST_LETTERS) {
    return `It has ${asked.user.length} letters, too many to say which of ${rules.length} rules came nearest.`
  }
  const nearest = nearestRule(tried, asked)
  if (!nearest) return 'There are no rules.'
  const { rule, reasons } = nearest
  const where = rule.title.includes(rule.place) ? '' : ` (${rule.place})`
  return `The nearest is ${rule.title}${where}: ${reasons.join('; ')}.`
}
