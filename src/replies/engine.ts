/** Chooses the rule that answers. */
import type { Dialect, MatchInput, ReadyReply, ReadyRule, RuleLookup } from './dialect.js'
import type { Memory } from './memory.js'
import { isActive, isSpent } from './ready-rule.js'

/** A reply and its rule, and how often that has answered, including this time. */
interface ChosenReply<S extends ReadyReply = ReadyReply> {
  readonly rule: ReadyRule<S>
  readonly reply: S
  readonly count: number
}

/** Matches requests against the rules of one dialect. */
export type Engine<
  I extends MatchInput = MatchInput,
  S extends ReadyReply = ReadyReply,
  X extends RuleLookup<I, S> = RuleLookup<I, S>,
> = ReturnType<typeof createEngine<I, S, X>>

/** Creates an engine for the rules among `written` that belong to this dialect. */
export function createEngine<I extends MatchInput, S extends ReadyReply, X extends RuleLookup<I, S>>(
  written: readonly ReadyRule[],
  memory: Memory,
  dialect: Dialect<I, S, X>,
) {
  const isOurs = (rule: ReadyRule): rule is ReadyRule<S> => rule.dialect === dialect
  const rules = written.filter(isOurs).toSorted((a, b) => b.priority - a.priority)
  const active = rules.filter(isActive)
  const index = dialect.index(active)

  return {
    /** The rules in the order in which they are tried, including those that are switched off. */
    rules: rules as readonly ReadyRule<S>[],
    index,
    /** Whether one of their replies is a fault. */
    fails: active.some(({ fails }) => fails),
    /** The reply of the first rule that matches, which counts as an answer; `undefined` if none matches. */
    take(input: I): ChosenReply<S> | undefined {
      for (const rule of index.candidates?.(input) ?? active) {
        if (!fits(rule, input)) continue
        // Nearly all rules count nothing, and nearly all requests leave the choice to the model.
        const mayObject = rule.counts || input.isDemanding
        if (mayObject && objectionTo(rule, input, memory) !== undefined) continue
        const count = memory.note(rule, input)
        return rule.counts ? { rule, reply: rule.replyAt(count), count } : { rule, reply: rule.first, count: 1 }
      }
      return undefined
    },
  }
}

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
  const { scenario, per } = rule.written
  const holder = per ? ` for this ${per}` : ''
  const answered = memory.answeredTo(rule, input)
  if (isSpent(rule, answered))
    return `it has answered ${answered === 1 ? 'once' : `${answered} times`} already${holder}`
  if (scenario?.state !== undefined && memory.stateFor(rule, input) !== scenario.state) {
    return `scenario "${scenario.name}" is in state "${memory.stateFor(rule, input)}"${holder}, not "${scenario.state}"`
  }
  return input.isDemanding ? rule.dialect.objection?.(rule.replyAt(answered + 1), input) : undefined
}

/** Rules that are added and removed at run time, in engines of their own. */
interface AddedRules {
  /** Whether there are none, so that requests need not check. */
  readonly isEmpty: boolean
  /** The engines of a dialect, in the order in which they are asked: for a scope, or all if none is given. */
  engines<I extends MatchInput, S extends ReadyReply, X extends RuleLookup<I, S>>(
    dialect: Dialect<I, S, X>,
    scope?: string,
  ): readonly Engine<I, S, X>[]
}

export interface RuleSources {
  /** The rules of files and from code. */
  readonly rules: readonly ReadyRule[]
  /** Rules that are tried before them. */
  readonly atRunTime: AddedRules
  readonly memory: Memory
}

/** All rules of one dialect, wherever they come from. */
export function createEngines<I extends MatchInput, S extends ReadyReply, X extends RuleLookup<I, S>>(
  dialect: Dialect<I, S, X>,
  { rules, atRunTime, memory }: RuleSources,
) {
  const written = createEngine(rules, memory, dialect)
  const engines = (scope?: string): readonly Engine<I, S, X>[] => [...atRunTime.engines(dialect, scope), written]
  return {
    engines,
    /** The rules for a scope, or for all if none is given, in the order in which they are tried. */
    rulesFor: (scope?: string) => engines(scope).flatMap(({ rules }) => rules),
    take(input: I): ChosenReply<S> | undefined {
      if (atRunTime.isEmpty) return written.take(input)
      for (const engine of engines(input.scope)) {
        const chosen = engine.take(input)
        if (chosen) return chosen
      }
      return undefined
    },
    mayFail: (scope: string) => engines(scope).some(({ fails }) => fails),
  }
}

function fits({ conditions }: ReadyRule, input: MatchInput): boolean {
  for (const condition of conditions) if (!condition.holds(input)) return false
  return true
}
