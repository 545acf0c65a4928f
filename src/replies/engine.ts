/** Compiles rules, and chooses the one that answers. */
import { stringifyExact } from '../core/json.js'
import { firstGroups } from './conditions/table.js'
import type { MatchInput } from './conditions/value-tests.js'
import type { Dialect, ReadyReply, ReadyRule, Texts } from './dialect.js'
import type { Memory } from './memory.js'
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
    counter: {},
    fails: forms.some(({ fault }) => fault !== undefined),
  }
}

/** The reply for the `count`th time, from 1. */
export function replyAt<S extends ReadyReply>({ replies, then }: ReadyRule<S>, count: number): S {
  const { length } = replies
  return replies[then === 'cycle' ? (count - 1) % length : Math.min(count, length) - 1] as S
}

/** Whether a rule is switched on. */
export const isActive = ({ written }: ReadyRule) => written.enabled !== false

/** The reasons why a rule does not answer, each without a full stop; empty if it would. */
export function reasonsAgainst(rule: ReadyRule, input: MatchInput, memory: Memory): readonly string[] {
  if (!isActive(rule)) return ['it is switched off']
  const differing = rule.conditions.filter(condition => !condition.holds(input))
  if (differing.length > 0) return differing.map(condition => condition.mismatch(input))
  const objection = objectionTo(rule, input, memory)
  return objection === undefined ? [] : [objection]
}

/** Why a rule does not answer although its conditions hold. */
function objectionTo(rule: ReadyRule, input: MatchInput, memory: Memory): string | undefined {
  const { scenario, per, times = Number.POSITIVE_INFINITY } = rule.written
  const holder = per ? ` for this ${per}` : ''
  const answered = memory.answeredTo(rule, input)
  if (answered >= times || (rule.then === 'miss' && answered >= rule.replies.length))
    return `it has answered ${answered === 1 ? 'once' : `${answered} times`} already${holder}`
  if (scenario?.state !== undefined && memory.stateFor(rule, input) !== scenario.state) {
    return `scenario "${scenario.name}" is in state "${memory.stateFor(rule, input)}"${holder}, not "${scenario.state}"`
  }
  return input.isDemanding ? rule.dialect.objection?.(replyAt(rule, answered + 1), input) : undefined
}

export interface RuleSources {
  /** The rules of files and from code. */
  readonly rules: readonly ReadyRule[]
  /** Rules that are added and removed at run time, and tried before them. */
  readonly atRunTime: {
    readonly isEmpty: boolean
    all(scope?: string): readonly { readonly rule: ReadyRule }[]
  }
  readonly memory: Memory
}

/** A reply and its rule, and how often that has answered, including this time. */
interface ChosenReply<S extends ReadyReply = ReadyReply> {
  readonly rule: ReadyRule<S>
  readonly reply: S
  readonly count: number
}

/** Matches requests against all rules of one dialect, wherever they come from. */
export function createEngine<I extends MatchInput, S extends ReadyReply>(
  dialect: Dialect<I, S>,
  { rules, atRunTime, memory }: RuleSources,
) {
  const isOurs = (rule: ReadyRule): rule is ReadyRule<S> => rule.dialect === dialect
  const written = rules.filter(isOurs).toSorted((a, b) => b.priority - a.priority)

  /** The rules for a scope, or for all if none is given, in the order in which they are tried; also those that are switched off. */
  function rulesFor(scope?: string): readonly ReadyRule<S>[] {
    if (atRunTime.isEmpty) return written
    const added = atRunTime.all(scope).map(({ rule }) => rule)
    return [...added.filter(isOurs), ...written]
  }

  function answers(rule: ReadyRule<S>, input: I): boolean {
    if (!isActive(rule)) return false
    for (const condition of rule.conditions) if (!condition.holds(input)) return false
    return objectionTo(rule, input, memory) === undefined
  }

  return {
    rulesFor,
    /** The reply of the first rule that matches, which counts as an answer; `undefined` if none matches. */
    take(input: I, candidates = rulesFor(input.scope)): ChosenReply<S> | undefined {
      for (const rule of candidates) {
        if (!answers(rule, input)) continue
        const count = memory.note(rule, input)
        return { rule, reply: replyAt(rule, count), count }
      }
      return undefined
    },
    /** Whether a rule of the test's own answers. One that only damages answers needs one from elsewhere. */
    answersOwn: (input: I, candidates = rulesFor(input.scope)) =>
      candidates.some(rule => isOwn(rule) && rule.replies.every(replaces) && answers(rule, input)),
    /** Whether a rule for this scope may set a fault. */
    mayFail: (scope: string) => rulesFor(scope).some(rule => rule.fails && isActive(rule)),
  }
}

/** Whether a rule was written for one test, in code or at run time. Those of files say what the emulated platform answers. */
export const isOwn = ({ file }: Pick<ReadyRule, 'file'>) => file === undefined

/** Whether a reply is an answer of its own, and no damage to another. */
const replaces = ({ fault }: ReadyReply) => fault === undefined || fault.status !== undefined
