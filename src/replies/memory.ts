/** What rules remember from one request to the next, in each scope for itself. */
import { createByScope } from '../core/by-scope.js'
import type { ReadyRule } from './ready-rule.js'

export interface Memory {
  /** How often a rule has answered in a scope, or in all of them where none is said. */
  answered(rule: ReadyRule, scope?: string): number
  /** The state of a scenario. */
  stateOf(scenario: string, scope: string): string
  /** Remembers an answer; gives back how many there are of the rule now. */
  note(rule: ReadyRule, scope: string): number
  /** Brings every scenario back to where it begins. */
  restartScenarios(): void
  /** Forgets all that was remembered in a scope; everything where none is said. */
  forget(scope?: string): void
}

/** Where every scenario begins. */
export const START = 'start'

interface Notes {
  /** Rules that are no more need no place here. */
  readonly counts: WeakMap<ReadyRule, number>
  readonly states: Map<string, string>
}

/** It remembers the last `scopes` that were used. */
export function createMemory(scopes?: number): Memory {
  const notes = createByScope<Notes>(() => ({ counts: new WeakMap(), states: new Map() }), scopes)
  const countIn = (found: Notes | undefined, rule: ReadyRule) => found?.counts.get(rule) ?? 0
  return {
    answered(rule, scope) {
      if (scope !== undefined) return countIn(notes.find(scope), rule)
      return [...notes.all()].reduce((sum, found) => sum + countIn(found, rule), 0)
    },
    stateOf: (scenario, scope) => notes.find(scope)?.states.get(scenario) ?? START,
    note(rule, scope) {
      const { counts, states } = notes.get(scope)
      const count = (counts.get(rule) ?? 0) + 1
      counts.set(rule, count)
      const { scenario } = rule
      if (scenario?.next !== undefined) states.set(scenario.name, scenario.next)
      return count
    },
    restartScenarios() {
      for (const { states } of notes.all()) states.clear()
    },
    forget: notes.forget,
  }
}
