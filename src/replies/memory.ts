/** What rules remember between requests, separately for each scope, and within it for each caller or conversation. */
import { createByScope } from '../core/scope.js'
import type { MatchInput } from './conditions/value-tests.js'
import type { ReadyRule } from './dialect.js'
import type { Per } from './rule-form.js'

export type Memory = ReturnType<typeof createMemory>

export const START = 'start'

/** The maximum number of remembered callers and conversations, in all scopes together. */
const HOLDERS = 10_000

const emptyNotes = (scope: string) => ({
  scope,
  /** By counter. Rules that no longer exist need no memory. */
  counts: new WeakMap<object, number>(),
  states: new Map<string, string>(),
})

/** The caller or the conversation that a rule counts for. Scopes never contain a line break. */
function keyFor(per: Per, input: MatchInput): string {
  const { scope, caller } = input
  const who = `${scope}\n${caller.kind} ${'id' in caller ? caller.id : ''}`
  return per === 'caller' ? who : `${who} ${input.conversation}`
}

/** Remembers the most recently used `scopes`, callers and conversations. */
export function createMemory(scopes?: number, holders = HOLDERS) {
  const byScope = createByScope(emptyNotes, scopes)
  const byHolder = createByScope(key => emptyNotes(key.slice(0, key.indexOf('\n'))), holders)

  const find = ({ written: { per } }: ReadyRule, input: MatchInput) =>
    per ? byHolder.find(keyFor(per, input)) : byScope.find(input.scope)

  return {
    /** How often a rule has answered in a scope, or in all scopes if none is given. */
    answered(rule: ReadyRule, scope?: string): number {
      const all = [...(rule.written.per ? byHolder : byScope).all()]
      const wanted = scope === undefined ? all : all.filter(notes => notes.scope === scope)
      return wanted.reduce((sum, { counts }) => sum + (counts.get(rule.counter) ?? 0), 0)
    },
    /** How often it has answered this caller or conversation, or its scope if it does not count them separately. */
    answeredTo: (rule: ReadyRule, input: MatchInput): number => find(rule, input)?.counts.get(rule.counter) ?? 0,
    /** The state of the rule's scenario, for the same holder. */
    stateFor: (rule: ReadyRule, input: MatchInput): string =>
      find(rule, input)?.states.get(rule.written.scenario?.name ?? '') ?? START,
    /** Counts an answer. Returns the new count of the rule. */
    note(rule: ReadyRule, input: MatchInput): number {
      const { per, scenario } = rule.written
      const { counts, states } = per ? byHolder.get(keyFor(per, input)) : byScope.get(input.scope)
      const count = (counts.get(rule.counter) ?? 0) + 1
      counts.set(rule.counter, count)
      if (scenario?.next !== undefined) states.set(scenario.name, scenario.next)
      return count
    },
    restartScenarios(): void {
      for (const notes of [byScope, byHolder]) for (const { states } of notes.all()) states.clear()
    },
    /** Clears the memory of a scope, or of all scopes if none is given. */
    forget(scope?: string): void {
      byScope.forget(scope)
      if (scope === undefined) return byHolder.forget()
      for (const key of [...byHolder.keys()]) if (key.startsWith(`${scope}\n`)) byHolder.forget(key)
    },
  }
}
