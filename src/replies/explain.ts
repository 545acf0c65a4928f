/** Says of a request which rule would answer it, what it would say, and why not another one. */
import { inlineYaml } from '../check/yaml.js'
import { noRuleMatches } from '../core/errors.js'
import type { Asked } from './conditions/asked.js'
import type { Engine } from './engine.js'
import type { Memory } from './memory.js'
import { loadJudge } from './misfit.js'
import { nearestSentence } from './nearest.js'
import type { ReadyRule } from './ready-rule.js'
import type { Choice, Generation } from './said.js'

export interface Explanation {
  /** The rule that answers; `undefined` where none does. */
  readonly rule: ReadyRule | undefined
  /** The rules that were tried before it, at most so many, each with its reasons: sentences without their ends. */
  passed(most?: number): readonly TriedRule[]
  /** Those that would have been tried next. Without reasons where they match as well. */
  behind(most?: number): readonly TriedRule[]
  /** A sentence about the rule that came nearest. */
  nearest(): string
  /** What would be answered. Nothing is counted. Rejects with a 424 where no rule matches and one has to. */
  says(): Promise<Generation>
}

interface TriedRule {
  readonly rule: ReadyRule
  readonly reasons: readonly string[]
}

/** Rules that are in force for one explanation only. */
export interface RuleDraft {
  readonly rules: readonly ReadyRule[]
  /** The rule in whose place they are; without it they are tried before all others. */
  readonly instead?: ReadyRule | undefined
}

/** `rules` with those of a draft among them, in the order in which they would be tried. */
export function withDraft(rules: readonly ReadyRule[], draft: RuleDraft | undefined): readonly ReadyRule[] {
  if (!draft) return rules
  const at = draft.instead ? rules.indexOf(draft.instead) : -1
  return at < 0 ? [...draft.rules, ...rules] : rules.toSpliced(at, 1, ...draft.rules)
}

interface Circumstances extends Pick<Engine, 'rules' | 'reasonsAgainst'> {
  /** Whether magic words answer before all rules. */
  readonly isMagic: boolean
  readonly strict: boolean
  readonly memory: Memory
  /** What is said where no rule answers. */
  readonly otherwise: () => Promise<Generation>
}

export function explanationOf(
  asked: Asked,
  { isMagic, strict, memory, otherwise, ...tried }: Circumstances,
): Explanation {
  const { rules, reasonsAgainst } = tried
  const found = isMagic ? -1 : rules.findIndex(rule => reasonsAgainst(rule, asked).length === 0)
  const rule = rules[found]
  const withReasons = (some: readonly ReadyRule[], most: number) =>
    some.slice(0, most).map(rule => ({ rule, reasons: reasonsAgainst(rule, asked) }))
  const nearest = () => nearestSentence(tried, asked)
  return {
    rule,
    nearest,
    passed: (most = rules.length) => withReasons(rules.slice(0, rule ? found : undefined), most),
    behind: (most = rules.length) => withReasons(rule ? rules.slice(found + 1) : [], most),
    async says() {
      if (!rule && strict && !isMagic) throw noRuleMatches(nearest())
      // What judges whether an answer fits is loaded with the first one that has to.
      await loadJudge()
      if (!rule) return otherwise()
      const count = memory.answeredTo(rule, asked) + 1
      return rule.sayingAt(count).said(asked, count)
    },
  }
}

/** Why a rule answers: `when { user: hi }`. */
export const verdictOf = ({ written: { when } }: ReadyRule) =>
  Object.keys(when ?? {}).length > 0 ? `when ${inlineYaml(when)}` : 'no conditions: it always matches'

/** The generated answer, line by line. */
export const linesOf = ({ choices, fault }: Generation): readonly string[] => [
  ...choices.flatMap(parts),
  ...(fault ? [`fault ${inlineYaml(fault)}`] : []),
]

const parts = ({ text, toolCalls = [], refusal, reasoning, finishReason }: Choice): readonly string[] => [
  ...(reasoning === undefined ? [] : [`(thinks) ${reasoning}`]),
  ...(text === null ? [] : [text]),
  ...(refusal === undefined ? [] : [`(refuses) ${refusal}`]),
  ...toolCalls.map(({ name, arguments: given }) => `(calls) ${name}(${given})`),
  ...(finishReason === undefined ? [] : [`(finish_reason ${finishReason})`]),
]
