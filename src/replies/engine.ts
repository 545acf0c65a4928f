/** Chooses the rule that answers, and remembers how often each has. */
import type { ChatRequest } from '../core/chat.js'
import { alternatives } from '../core/errors.js'
import type { Fault } from '../core/fault.js'
import { demandOf } from '../core/tools.js'
import type { Asked } from './conditions/asked.js'
import { isSpent, type ReadyRule } from './ready-rule.js'
import { createRuleIndex } from './rule-index.js'
import type { Said } from './said.js'
import type { Saying } from './saying.js'

/** What the rules remember from one request to the next. */
export interface Memory {
  /** How often a rule has answered. */
  answered(rule: ReadyRule): number
  /** The state of a scenario. */
  stateOf(scenario: string): string
  /** Remembers an answer; gives back how many there are of the rule now. */
  note(rule: ReadyRule): number
}

/** Where every scenario begins. */
export const START = 'start'

export function createMemory(): Memory {
  const counts = new Map<ReadyRule, number>()
  const states = new Map<string, string>()
  const answered = (rule: ReadyRule) => counts.get(rule) ?? 0
  return {
    answered,
    stateOf: scenario => states.get(scenario) ?? START,
    note(rule) {
      const count = answered(rule) + 1
      counts.set(rule, count)
      const { scenario } = rule
      if (scenario?.next !== undefined) states.set(scenario.name, scenario.next)
      return count
    },
  }
}

export interface Engine {
  /** The rules in the order in which they are tried. */
  readonly rules: readonly ReadyRule[]
  /** What the first rule that matches says; `undefined` when none does. */
  said(asked: Asked): Said | Promise<Said> | undefined
  /** What goes wrong by the first rule that matches, which has answered then. */
  fault(asked: Asked): Fault | undefined
  /** The rule that would answer, without its answering. */
  find(asked: Asked): ReadyRule | undefined
  /** Why a rule does not answer, a sentence without its end for each reason; empty when it would. */
  reasonsAgainst(rule: ReadyRule, asked: Asked): readonly string[]
}

export function createEngine(written: readonly ReadyRule[], memory: Memory): Engine {
  const rules = written.toSorted((a, b) => b.priority - a.priority)
  const index = createRuleIndex(rules, ({ needles }) => needles)

  function find(asked: Asked): ReadyRule | undefined {
    for (const rule of index.candidates(asked.user)) if (answers(rule, asked)) return rule
    return undefined
  }

  const answers = (rule: ReadyRule, asked: Asked) => fits(rule, asked) && !objection(rule, asked)

  /** What keeps a rule whose conditions hold from answering all the same. */
  function objection(rule: ReadyRule, { request }: Asked): string | undefined {
    const { scenario } = rule
    if (rule.counts) {
      const answered = memory.answered(rule)
      if (isSpent(rule, answered)) return `it has answered ${answered === 1 ? 'once' : `${answered} times`} already`
      if (scenario?.state !== undefined && memory.stateOf(scenario.name) !== scenario.state) {
        return `scenario "${scenario.name}" is in state "${memory.stateOf(scenario.name)}", not "${scenario.state}"`
      }
    }
    return unsayable(rule.sayingAt(memory.answered(rule) + 1), request)
  }

  /** What a rule says next, counted as said. */
  function take(rule: ReadyRule): { readonly saying: Saying; readonly count: number } {
    const count = rule.counts ? memory.note(rule) : 1
    return { saying: rule.sayingAt(count), count }
  }

  return {
    rules,
    find,
    said(asked) {
      const rule = find(asked)
      if (!rule) return undefined
      const { saying, count } = take(rule)
      return saying.said(asked, count)
    },
    fault(asked) {
      const rule = find(asked)
      return rule && take(rule).saying.fault
    },
    reasonsAgainst(rule, asked) {
      const differing = rule.conditions.filter(condition => !condition.holds(asked))
      if (differing.length > 0) return differing.map(condition => condition.differs(asked))
      const objects = objection(rule, asked)
      return objects === undefined ? [] : [objects]
    },
  }
}

function fits({ conditions }: ReadyRule, asked: Asked): boolean {
  for (const condition of conditions) if (!condition.holds(asked)) return false
  return true
}

/** A model never does what `tool_choice` rules out, so such a rule is passed over; why, or `undefined` when it can be said. */
function unsayable({ speaks, calls, isAlwaysSayable }: Saying, request: ChatRequest): string | undefined {
  // Nearly all requests end here.
  if (!request.tool_choice && !request.function_call) return undefined
  if (isAlwaysSayable) return undefined
  const { calls: demand, names } = demandOf(request)
  const callable = names ? calls.filter(name => names.includes(name)) : calls
  if (demand === 'required' && callable.length === 0) {
    return names
      ? `tool_choice asks for ${alternatives(names)}, which it does not call`
      : 'tool_choice is required, and it calls no tool'
  }
  if (speaks || calls.length === 0) return undefined
  if (demand === 'ruled out') return 'tool_choice is none, and it only calls tools'
  return callable.length > 0
    ? undefined
    : `tool_choice allows ${alternatives(names ?? [])} only, which it does not call`
}
