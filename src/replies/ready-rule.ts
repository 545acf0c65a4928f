/** A rule made ready: its conditions, what it answers each time, and whether it may answer. */
import { stringifyExact } from '../core/json.js'
import type { PaceInput } from '../core/pace.js'
import type { Asked } from './conditions/asked.js'
import { type Condition, compileWhen, firstGroups, userTextOf } from './conditions/compile.js'
import type { Per, Rule, Then } from './rules.js'
import { type Saying, sayingOf, type Texts } from './saying.js'

export interface ReadyRule {
  readonly written: Rule
  /** By which it can be changed, where it stands in a file. */
  readonly id: string | undefined
  /** `rule "weather"`. */
  readonly title: string
  /** Where it stands: a file and a line, or its place in a list. */
  readonly place: string
  readonly conditions: readonly Condition[]
  /** Texts, one of which is in the last user message wherever the rule matches. */
  readonly needles: readonly string[]
  readonly priority: number
  readonly times: number | undefined
  readonly scenario: Rule['scenario']
  /** For whom it remembers; for all of a scope together without one. */
  readonly per: Per | undefined
  readonly sayings: readonly Saying[]
  readonly then: Then
  /** Whether anything about it changes with how often it has answered. */
  readonly counts: boolean
  /** Whether anything that it says is to go wrong. */
  readonly fails: boolean
  /** What it answers first, and always where nothing about it changes. */
  readonly first: Saying
  /** What it answers the time `count`, counted from 1. */
  readonly sayingAt: (count: number) => Saying
}

/** Where a rule stands, and what it is called where it has no name. */
export interface RuleInForce {
  readonly place: string
  readonly title: string
  /** By which the rule can be changed. */
  readonly id?: string
  /** Whether the place depends on what others have done, so that nothing may be drawn from it. */
  readonly isByChance?: boolean
}

/** A rule without a name is called after its place. */
export const standsAt = (place: string): RuleInForce => ({ place, title: `rule "${place}"` })

/** Makes a rule ready. `texts` are the files that it says and the language of its templates. */
export function readyRule(rule: Rule, { place, title: unnamed, id, isByChance }: RuleInForce, texts: Texts): ReadyRule {
  const { name, when, reply, replies, times, priority = 0, scenario, per, pace } = rule
  const conditions = compileWhen(when ?? {})
  const title = name === undefined ? unnamed : `rule "${name}"`
  const forms = replies ?? (reply ? [reply] : [])
  const drawnFrom = name === undefined && isByChance ? stringifyExact(rule) : title
  const own = { title, drawnFrom, groups: (asked: Asked) => firstGroups(conditions, asked), ...paced(pace) }
  const sayings = forms.map((form, i) => {
    const turn = forms.length > 1 ? { reply: i + 1, replies: forms.length } : {}
    const answeredBy = { kind: 'rule', title, place, ...turn } as const
    return sayingOf(form, replies ? ['replies', i] : ['reply'], { ...own, answeredBy }, texts)
  })
  const then = rule.then ?? 'repeat-last'
  return {
    written: rule,
    id,
    title,
    place,
    conditions,
    needles: userTextOf(when ?? {})?.needles ?? [],
    priority,
    times,
    scenario,
    per,
    sayings,
    then,
    counts:
      times !== undefined ||
      then === 'miss' ||
      sayings.length > 1 ||
      scenario !== undefined ||
      sayings.some(({ always }) => always === undefined),
    fails: forms.some(({ fault }) => fault !== undefined),
    first: sayings[0] as Saying,
    sayingAt: count => sayings[turnOf(count, sayings.length, then)] as Saying,
  }
}

const paced = (pace: PaceInput | null | undefined) => (pace ? { pace } : {})

/** Which of `length` replies is given the time `count`, counted from 1. */
const turnOf = (count: number, length: number, then: Then): number =>
  then === 'cycle' ? (count - 1) % length : Math.min(count, length) - 1

/** Whether there is nothing left to say for a rule that has answered `answered` times. */
export const isSpent = ({ times, then, sayings }: ReadyRule, answered: number): boolean =>
  answered >= (times ?? Number.POSITIVE_INFINITY) || (then === 'miss' && answered >= sayings.length)
