/** The rules of a running platform: those from files and code, and those added at run time. */

import {
  createMemory,
  createRulesAtRunTime,
  type ListedRule,
  type Memory,
  type Replies,
  type RuleInput,
  type RulesAtRunTime,
} from '../replies/index.js'
import type { LoadedConfig } from './config/load.js'
import type { Part } from './part.js'

interface ScopeOption {
  /** The scope whose requests it answers; without one, all requests. */
  readonly scope?: string | undefined
}

/** A rule that was added. */
export interface AddedRule {
  readonly id: string
  /** How often it has answered. */
  answered(): number
}

export interface Rules {
  /**
   * Adds a rule before all others, newest first. Paths of its files are relative to the configuration.
   * Rejects with a ProblemsError that names what is wrong.
   */
  add(rule: RuleInput, options?: ScopeOption): Promise<AddedRule>
  /** Adds rules that a client sent: one, or several in their order. They cannot use files. */
  addSent(sent: RuleInput | readonly RuleInput[], scope?: string): Promise<readonly { readonly id: string }[]>
  /** The active rules in the order in which they are tried: for a scope, or all if none is given. */
  list(scope?: string): readonly ListedRule[]
  /** Removes added rules: the one with this id, those of a scope, or all. Returns how many there were. */
  remove(which?: { readonly id?: string; readonly scope?: string | undefined }): number
}

interface Current {
  readonly loaded: LoadedConfig
  readonly replies: Replies
}

export interface RulesPart extends Part {
  readonly rules: Rules
  /** What a reload keeps. */
  readonly memory: Memory
  readonly atRunTime: RulesAtRunTime
}

/** `onPaths` is called when the first rule for a path is added, and when the last one is removed. */
export function createRulesPart(
  current: () => Current,
  { onPaths, warn }: { readonly onPaths: () => void; readonly warn: (sentence: string) => void },
): RulesPart {
  const memory = createMemory()
  const atRunTime = createRulesAtRunTime({ onPaths, warn })
  return {
    ...{ memory, atRunTime, rules: createRules(memory, atRunTime, current) },
    prepare: async () => memory.restartScenarios,
    reset({ scope }) {
      atRunTime.remove({ scope })
      memory.forget(scope)
    },
  }
}

function createRules(memory: Memory, atRunTime: RulesAtRunTime, current: () => Current): Rules {
  const seed = () => current().loaded.config.seed
  return {
    async add(rule, { scope } = {}) {
      const [added] = await atRunTime.add(rule, { scope, dir: current().loaded.dir, seed: seed() })
      const { id } = added as { readonly id: string }
      const { rule: ready } = atRunTime.all(scope).find(one => one.id === id) ?? {}
      return { id, answered: () => (ready ? memory.answered(ready) : 0) }
    },
    addSent: (sent, scope) => atRunTime.add(sent, { scope, dir: undefined, seed: seed() }),
    list: scope => current().replies.list(scope),
    remove: which => atRunTime.remove(which),
  }
}
