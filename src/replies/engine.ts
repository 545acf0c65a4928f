/** Chooses the rule that answers. */
import type { ChatRequest } from '../completions/request.js'
import { demandOf } from '../completions/tools.js'
import { alternatives } from '../core/errors.js'
import type { Asked } from './conditions/asked.js'
import type { Memory } from './memory.js'
import { isSpent, type ReadyRule } from './ready-rule.js'
import { createRuleIndex } from './rule-index.js'
import type { Saying } from './saying.js'
import { hasTemplate } from './templates.js'

/** What is said next, and the how many-th answer of its rule that is. */
export interface Taken {
  readonly saying: Saying
  readonly count: number
}

export interface Engine {
  /** The rules in the order in which they are tried. */
  readonly rules: readonly ReadyRule[]
  /** Whether anything that they say is to go wrong. */
  readonly fails: boolean
  /** What the first rule that matches says, counted as said; `undefined` when none does. */
  take(asked: Asked): Taken | undefined
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
  function objection(rule: ReadyRule, asked: Asked): string | undefined {
    // Most rules always say the same.
    if (!rule.counts) return unsayable(rule.sayingAt(1), asked.request)
    const { scenario, per } = rule
    const here = per ? ` for this ${per}` : ''
    const answered = memory.answeredTo(rule, asked)
    if (isSpent(rule, answered))
      return `it has answered ${answered === 1 ? 'once' : `${answered} times`} already${here}`
    if (scenario?.state !== undefined && memory.stateFor(rule, asked) !== scenario.state) {
      return `scenario "${scenario.name}" is in state "${memory.stateFor(rule, asked)}"${here}, not "${scenario.state}"`
    }
    return unsayable(rule.sayingAt(answered + 1), asked.request)
  }

  return {
    rules,
    fails: rules.some(({ fails }) => fails),
    find,
    take(asked) {
      const rule = find(asked)
      if (!rule) return undefined
      const count = rule.counts ? memory.note(rule, asked) : 1
      return { saying: rule.sayingAt(count), count }
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
  // What a template will say is not known yet.
  const callable = names ? calls.filter(name => names.includes(name) || hasTemplate(name)) : calls
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
