/** Explains which rule would answer a request, with what reply, and why others would not. */
import { inlineYaml } from '../check/yaml.js'
import type { MatchInput, ReadyReply, ReadyRule } from './dialect.js'
import { reasonsAgainst } from './engine.js'
import type { Choice, Generation } from './generation.js'
import { type CandidateRules, nearestSentence, type TriedRule } from './nearest.js'

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
  /** Whether magic words answer before all rules. */
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
      return rule.replyAt(count).generate(input, count)
    },
  }
}

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
