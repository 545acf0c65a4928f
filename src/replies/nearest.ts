/** Finds the rule that came nearest to answering, and what it failed on. */
import type { MatchInput, ReadyReply, ReadyRule } from './dialect.js'
import { reasonsAgainst } from './engine.js'
import type { Memory } from './memory.js'

/** The rules that a request was matched against. */
export interface CandidateRules<S extends ReadyReply = ReadyReply> {
  readonly rules: readonly ReadyRule<S>[]
  readonly memory: Memory
  /** The number of letters of the request that each rule is compared with. */
  readonly letters?: number
}

/** A rule, and why it does not answer. */
export interface TriedRule {
  readonly rule: ReadyRule
  /** Without full stops. */
  readonly reasons: readonly string[]
}

const holding = ({ rule, reasons }: TriedRule) => rule.conditions.length - reasons.length

/** The limit for finding the nearest rule: letters of the prompt, times the number of rules. */
const MOST_LETTERS = 20_000_000

/** `The nearest is rule "weather" (replies/a.yaml:5): user does not contain "weather".` */
export function nearestSentence(input: MatchInput, { rules, memory, letters = 0 }: CandidateRules): string {
  if (rules.length * letters > MOST_LETTERS) {
    return `It has ${letters} letters, too many to say which of ${rules.length} rules came nearest.`
  }
  // The rule with the fewest reasons against it; if several, the one with the most conditions that hold, then the first.
  const [nearest] = rules
    .map(rule => ({ rule, reasons: reasonsAgainst(rule, input, memory) }))
    .sort((a, b) => a.reasons.length - b.reasons.length || holding(b) - holding(a))
  if (!nearest) return 'There are no rules for such requests.'
  const { rule, reasons } = nearest
  const where = rule.title.includes(rule.place) ? '' : ` (${rule.place})`
  return `The nearest is ${rule.title}${where}: ${reasons.join('; ')}.`
}
