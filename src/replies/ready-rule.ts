/** A compiled rule: its conditions, its replies, and whether it may answer. */
import { stringifyExact } from '../core/json.js'
import { firstGroups } from './conditions/shared.js'
import type { Dialect, MatchInput, ReadyReply, ReadyRule, Texts } from './dialect.js'
import type { Then } from './rule-form.js'
import type { Rule } from './rules.js'

/** The position of a rule, and its title if it has no name. */
export interface RuleOrigin {
  readonly place: string
  readonly title: string
  /** The rule file that it is in, relative to the configuration. */
  readonly file?: string
  /** Whether the position depends on what other clients add, so that it must not seed generated values. */
  readonly isUnstable?: boolean
}

/** A rule without a name is named after its position. */
export const originAt = (place: string): RuleOrigin => ({ place, title: `rule "${place}"` })

/** Compiles a rule. `texts` are the files that it uses and its template language. */
export function readyRule(
  rule: Rule,
  { place, title: unnamed, file, isUnstable }: RuleOrigin,
  texts: Texts,
  dialect: Dialect,
): ReadyRule {
  const { name, reply, replies, priority = 0, then = 'repeat-last', pace } = rule
  const conditions = dialect.conditions(rule)
  const title = name === undefined ? unnamed : `rule "${name}"`
  const forms = replies ?? (reply ? [reply] : [])
  const seedText = name === undefined && isUnstable ? stringifyExact(rule) : title
  const owner = {
    rule,
    title,
    seedText,
    groups: (input: MatchInput) => firstGroups(conditions, input),
    ...(pace && { pace }),
  }
  const ready = forms.map((form, i) => {
    const position = forms.length > 1 ? { reply: i + 1, replies: forms.length } : {}
    const answeredBy = { kind: 'rule', title, place, ...position } as const
    return dialect.compileReply(form, replies ? ['replies', i] : ['reply'], { ...owner, answeredBy }, texts)
  })
  return {
    dialect,
    written: rule,
    title,
    place,
    file,
    conditions,
    priority,
    replies: ready,
    then,
    counts: isCounted(rule, then, ready),
    counter: {},
    fails: forms.some(({ fault }) => fault !== undefined),
    first: ready[0] as ReadyReply,
    replyAt: count => ready[replyIndex(count, ready.length, then)] as ReadyReply,
  }
}

/** Whether something depends on how often the rule has answered. */
const isCounted = ({ times, scenario }: Rule, then: Then, replies: readonly ReadyReply[]) =>
  times !== undefined ||
  then === 'miss' ||
  replies.length > 1 ||
  scenario !== undefined ||
  replies.some(({ always }) => always === undefined)

/** Which of `length` replies is used the `count`th time, from 1. */
const replyIndex = (count: number, length: number, then: Then): number =>
  then === 'cycle' ? (count - 1) % length : Math.min(count, length) - 1

/** Whether a rule is switched on. */
export const isActive = ({ written }: ReadyRule) => written.enabled !== false

/** Whether a rule that has answered `answered` times has no reply left. */
export const isSpent = ({ written, then, replies }: ReadyRule, answered: number): boolean =>
  answered >= (written.times ?? Number.POSITIVE_INFINITY) || (then === 'miss' && answered >= replies.length)
