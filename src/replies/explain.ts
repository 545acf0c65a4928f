/** Explains which rule would answer a request, with what reply, why others would not, and which came nearest. */

import type { Choice, Generation } from '../chat/generation.js'
import { inlineYaml } from '../check/yaml.js'
import type { MatchInput } from './conditions/value-tests.js'
import type { ReadyReply, ReadyRule } from './dialect.js'
import { reasonsAgainst, replyAt } from './engine.js'
import type { Memory } from './memory.js'

/** The rules that a request was matched against. */
export interface CandidateRules<S extends ReadyReply = ReadyReply> {
  readonly rules: readonly ReadyRule<S>[]
  readonly memory: Memory
  /** The text of the request that each rule is compared with. */
  readonly text?: string
}

/** A rule, and why it does not answer. */
export interface TriedRule {
  readonly rule: ReadyRule
  /** Without full stops. */
  readonly reasons: readonly string[]
}

export interface Explanation<T = Generation> {
  /** The rule that answers; `undefined` if none does. */
  readonly rule: ReadyRule | undefined
  /** The rules that were tried before it, up to a limit, each with the reasons why it did not answer. */
  triedBefore(most?: number): readonly TriedRule[]
  /** The rules that would have been tried next. Rules that match too have no reasons. */
  remaining(most?: number): readonly TriedRule[]
  /** A sentence about the nearest rule. */
  nearest(): string
  /** The answer. It does not count as one. Rejects with a 424 if no rule matches and `strict` is on. */
  reply(): Promise<T>
}

interface Circumstances<S extends ReadyReply, T> extends CandidateRules<S> {
  readonly isMagic?: boolean
  /** The answer if no rule matches. `nearest` names the nearest rule. */
  readonly otherwise: (nearest: () => string) => Promise<T>
}

export function explanationOf<S extends ReadyReply<T>, T>(
  input: MatchInput,
  { isMagic, otherwise, ...tried }: Circumstances<S, T>,
): Explanation<T> {
  const { rules, memory } = tried
  const index = isMagic ? -1 : rules.findIndex(rule => reasonsAgainst(rule, input, memory).length === 0)
  const rule = rules[index]
  const withReasons = (some: readonly ReadyRule<S>[], most: number) =>
    some.slice(0, most).map(rule => ({ rule, reasons: reasonsAgainst(rule, input, memory) }))
  const nearest = () => nearestSentence(input, tried)
  return {
    rule,
    nearest,
    triedBefore: (most = rules.length) => withReasons(rules.slice(0, rule ? index : undefined), most),
    remaining: (most = rules.length) => withReasons(rule ? rules.slice(index + 1) : [], most),
    async reply() {
      if (!rule) return otherwise(nearest)
      const count = memory.answeredTo(rule, input) + 1
      return replyAt(rule, count).generate(input, count)
    },
  }
}

/** The limit for finding the nearest rule: letters of the prompt, times the number of rules. */
const MOST_LETTERS = 20_000_000

/** `The nearest is rule "weather" (replies/a.yaml:5): user does not contain "weather".` */
export function nearestSentence(input: MatchInput, { rules, memory, text = '' }: CandidateRules): string {
  if (rules.length * text.length > MOST_LETTERS) {
    return `It has ${text.length} letters, too many to say which of ${rules.length} rules came nearest.`
  }
  const words = new Set(wordsIn(text))
  // The rule with the fewest reasons against it; if several, the one with the most conditions that hold, then one that shares a word, then
  // the first.
  const [nearest, next] = rules
    .map(rule => {
      const holding = rule.conditions.filter(condition => condition.holds(input)).length
      const isAlike = rule.conditions.length === 0 || sharesWord(rule, words)
      return { rule, holding, isAlike, isNear: holding > 0 || isAlike, reasons: reasonsAgainst(rule, input, memory) }
    })
    .filter(({ isNear }) => isNear || rules.length === 1)
    .sort(
      (a, b) => a.reasons.length - b.reasons.length || b.holding - a.holding || Number(b.isAlike) - Number(a.isAlike),
    )
  if (rules.length === 0) return 'There are no rules for such requests.'
  const isTied = next && next.reasons.length === nearest?.reasons.length && next.holding === nearest.holding
  // Equally far, such as several that only want no tool result.
  if (!nearest || (isTied && !nearest.isAlike)) return `None of the ${rules.length} rules for such requests is near.`
  const { rule, reasons, isNear } = nearest
  const where = rule.title.includes(rule.place) ? '' : ` (${rule.place})`
  const which = isNear ? 'The nearest' : 'The only rule for such requests'
  return `${which} is ${rule.title}${where}: ${reasons.join('; ')}.`
}

/** Shorter words say little. */
const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/\p{L}{4,}/gu) ?? []

const sharesWord = ({ written: { when } }: ReadyRule, words: ReadonlySet<string>) =>
  words.size > 0 && textsIn(when).some(text => wordsIn(text).some(word => words.has(word)))

const textsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(textsIn)

/** Why a rule answers, for example `when { user: hi }`. */
export const verdictOf = ({ written: { when } }: ReadyRule) =>
  Object.keys(when ?? {}).length > 0 ? `when ${inlineYaml(when)}` : 'no conditions: it always matches'

/** The generated answer, line by line. A fault with a status replaces all content. */
export const linesOf = ({ choices, fault }: Generation): readonly string[] => [
  ...(fault?.status === undefined ? choices.flatMap(linesOfChoice) : []),
  ...(fault ? [`fault ${inlineYaml(fault)}`] : []),
]

const linesOfChoice = ({ text, toolCalls = [], refusal, reasoning, finishReason }: Choice): readonly string[] => [
  ...(reasoning === undefined ? [] : [`(thinks) ${reasoning}`]),
  ...(text === null ? [] : [text]),
  ...(refusal === undefined ? [] : [`(refuses) ${refusal}`]),
  ...toolCalls.map(({ name, arguments: given }) => `(calls) ${name}(${given})`),
  ...(finishReason === undefined ? [] : [`(finish_reason ${finishReason})`]),
]
