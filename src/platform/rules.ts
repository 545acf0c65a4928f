/** The rules of a running platform: those from files and code, and those added at run time. */
import { type LoadedConfig, replyFilesOf } from '../config/load.js'
import { mcpServers } from '../config/mcp-options.js'
import { once } from '../core/work.js'
import type { ListedRule, Memory, Replies, RuleInput, RulesAtRunTime } from '../replies/index.js'
import type { Part, PlatformSources } from './part.js'

/** What a reload keeps. */
interface PersistentRules {
  readonly memory: Memory
  readonly atRunTime: RulesAtRunTime
}

async function openPersistentRules(onPaths: () => void): Promise<PersistentRules> {
  const { createMemory, createRulesAtRunTime } = await import('../replies/index.js')
  const memory = createMemory()
  return { memory, atRunTime: createRulesAtRunTime(memory, { onPaths }) }
}

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
  list(scope?: string): Promise<readonly ListedRule[]>
  /** Removes added rules: the one with this id, those of a scope, or all. Returns how many there were. */
  remove(which?: { readonly id?: string; readonly scope?: string | undefined }): Promise<number>
}

interface Current {
  readonly loaded: LoadedConfig
  readonly replies: () => Promise<Replies>
}

export interface RulesPart extends Part {
  readonly rules: Rules
  readonly persistent: () => Promise<PersistentRules>
}

/** `onPaths` is called when the first rule for a path is added, and when the last one is removed. */
export function createRulesPart(current: () => Current, onPaths: () => void): RulesPart {
  const persistent = once(() => openPersistentRules(onPaths))
  let memory: Memory | undefined
  return {
    rules: createRules(persistent, current),
    persistent,
    async open() {
      memory = (await persistent()).memory
    },
    prepare: async () => () => memory?.restartScenarios(),
    async reset({ scope }) {
      const { memory, atRunTime } = await persistent()
      atRunTime.remove({ scope })
      memory.forget(scope)
    },
  }
}

function createRules(persistent: () => Promise<PersistentRules>, current: () => Current): Rules {
  const seed = () => current().loaded.config.seed
  return {
    async add(rule, { scope } = {}) {
      const { atRunTime, memory } = await persistent()
      const [added] = await atRunTime.add(rule, { scope, dir: current().loaded.dir, seed: seed() })
      const { id } = added as { readonly id: string }
      const { rule: ready } = atRunTime.all(scope).find(one => one.id === id) ?? {}
      return { id, answered: () => (ready ? memory.answered(ready) : 0) }
    },
    addSent: async (sent, scope) => (await persistent()).atRunTime.add(sent, { scope, dir: undefined, seed: seed() }),
    list: async scope => (await current().replies()).list(scope),
    remove: async which => (await persistent()).atRunTime.remove(which),
  }
}

/** Reads the rules of a configuration from its files and from code. */
export const loadReplies = () => import('../replies/index.js')
export type RepliesPart = Awaited<ReturnType<typeof loadReplies>>

/** The replies of MCP tools, resources and prompts in the configuration. */
async function repliesOf(loaded: LoadedConfig) {
  const [engine, { configuredReplies }] = await Promise.all([loadReplies(), import('./mcp-replies.js')])
  return configuredReplies(loaded, engine)
}

export async function readReplies(
  loaded: LoadedConfig,
  { rules: inCode = [], file: wanted }: PlatformSources,
  persistent: () => Promise<PersistentRules>,
) {
  const { createReplies, joined, loadRules, rulesFromCode } = await loadReplies()
  const { seed, strict } = loaded.config
  const configured = replyFilesOf(loaded)
  // Without a configuration file, nothing is read from the disk.
  const isDefault = wanted === false && loaded.originOf(['replies']) === 'default'
  const patterns = isDefault ? [] : configured.patterns
  const read = await Promise.all([
    rulesFromCode(inCode, loaded.dir, seed),
    loadRules({ ...configured, patterns }, seed),
    mcpServers(loaded.config.mcp).size > 0 ? repliesOf(loaded) : { rules: [], files: [] },
  ])
  const { rules, files } = joined(read)
  return { replies: createReplies({ rules, seed, strict, ...(await persistent()) }), files }
}

/** Requests wait until the rule files are read. Afterwards, this adds no cost. */
export function waitForReplies(load: () => Promise<Replies>): Pick<Replies, 'answer' | 'mismatch' | 'faultFor'> {
  const wait = async () => {
    const { answer, mismatch, faultFor } = await load()
    return Object.assign(waiting, { answer, mismatch, faultFor })
  }
  const waiting: Pick<Replies, 'answer' | 'mismatch' | 'faultFor'> = {
    answer: async (...parameters) => (await wait()).answer(...parameters),
    mismatch: () => undefined,
    faultFor: async exchange => (await wait()).faultFor(exchange),
  }
  return waiting
}
