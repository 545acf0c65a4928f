/** Chooses the rule that answers. */
import type { ChatRequest } from '../completions/request.js'
import { demandOf } from '../completions/tools.js'
import { alternatives } from '../core/errors.js'
import type { Asked } from './conditions/asked.js'
import type { Memory } from './memory.js'
import { isSpent, type ReadyRule } from './ready-rule.js'
import { createRuleIndex, WORTH_INDEXING } from './rule-index.js'
import type { Saying } from './saying.js'
import { hasTemplate } from './templates.js'

/** The next reply, and which answer of its rule it is, counted from 1. */
export interface Taken {
  readonly saying: Saying
  readonly count: number
}

export interface Engine {
  /** The rules in the order in which they are tried, with those that are switched off. */
  readonly rules: readonly ReadyRule[]
  /** Whether anything that they say is to go wrong. */
  readonly fails: boolean
  /** The reply of the first rule that matches, counted as given; `undefined` when none does. */
  take(asked: Asked): Taken | undefined
  /** The rule that would answer, without its answering. */
  find(asked: Asked): ReadyRule | undefined
  /** Why a rule does not answer, a sentence without its end for each reason; empty when it would. */
  reasonsAgainst(rule: ReadyRule, asked: Asked): readonly string[]
}

export function createEngine(written: readonly ReadyRule[], memory: Memory): Engine {
  const rules = written.toSorted((a, b) => b.priority - a.priority)
  const active = rules.filter(isActive)
  const index = active.length < WORTH_INDEXING ? undefined : createRuleIndex(active, ({ needles }) => needles)

  function find(asked: Asked): ReadyRule | undefined {
    for (const rule of index ? index.candidates(asked.user) : active) {
      if (!fits(rule, asked)) continue
      // Nearly all rules count nothing, and nearly all requests leave it to the model what it does.
      const mayObject = rule.counts || asked.request.tool_choice || asked.request.function_call
      if (!mayObject || objection(rule, asked) === undefined) return rule
    }
    return undefined
  }

  /** What keeps a rule whose conditions hold from answering all the same. */
  function objection(rule: ReadyRule, asked: Asked): string | undefined {
    const { tool_choice: choice, function_call: legacy } = asked.request
    if (!rule.counts) return choice || legacy ? unsayable(rule.first, asked.request) : undefined
    const { scenario, per } = rule
    const here = per ? ` for this ${per}` : ''
    const answered = memory.answeredTo(rule, asked)
    if (isSpent(rule, answered))
      return `it has answered ${answered === 1 ? 'once' : `${answered} times`} already${here}`
    if (scenario?.state !== undefined && memory.stateFor(rule, asked) !== scenario.state) {
      return `scenario "${scenario.name}" is in state "${memory.stateFor(rule, asked)}"${here}, not "${scenario.state}"`
    }
    return choice || legacy ? unsayable(rule.sayingAt(answered + 1), asked.request) : undefined
  }

  return {
    rules,
    fails: active.some(({ fails }) => fails),
    find,
    take(asked) {
      const rule = find(asked)
      if (!rule) return undefined
      const count = memory.note(rule, asked)
      return rule.counts ? { saying: rule.sayingAt(count), count } : { saying: rule.first, count: 1 }
    },
    reasonsAgainst(rule, asked) {
      if (!isActive(rule)) return ['it is switched off']
      const differing = rule.conditions.filter(condition => !condition.holds(asked))
      if (differing.length > 0) return differing.map(condition => condition.differs(asked))
      const objects = objection(rule, asked)
      return objects === undefined ? [] : [objects]
    },
  }
}

const isActive = ({ written }: ReadyRule) => written.enabled !== false

function fits({ conditions }: ReadyRule, asked: Asked): boolean {
  for (const condition of conditions) if (!condition.holds(asked)) return false
  return true
}

/** A model never does what `tool_choice` rules out, so such a rule is passed over; the reason, or `undefined` for a rule that can answer. */
function unsayable({ speaks, calls, isAlwaysSayable }: Saying, request: ChatRequest): string | undefined {
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
