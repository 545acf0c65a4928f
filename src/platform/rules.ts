/** The rules of a running platform: adds, lists and removes them at run time, and explains what they would answer. */

import { chatIn, chatRequest } from '../chat/request.js'
import { check } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'
import { invalidRequest, PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Part } from '../core/part.js'
import { type AnsweredBy, sourceInWords } from '../core/reply.js'
import { documentedAt } from '../endpoints/index.js'
import { namedModels } from '../endpoints/options.js'
import type { ModeOf } from '../http/modes.js'
import { mcpServers } from '../mcp/options.js'
import {
  createMemory,
  type Explanation,
  type Generation,
  isMcp,
  type ListedRule,
  linesOf,
  type Memory,
  type ReadyRule,
  type Replies,
  type RuleInput,
  RulesAtRunTime,
  requestTest,
  sentCall,
  verdictOf,
  writtenCall,
} from '../replies/index.js'
import type { Attempt, Explained } from '../replies/operations.js'
import type { LoadedConfig } from './config/load.js'
import type { PreparedConfig } from './prepare.js'

interface ScopeOption {
  /** The scope whose requests it answers; without one, all requests. */
  readonly scope?: string | undefined
}

export interface AddedRule {
  readonly id: string
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

export interface RulesPart extends Part<PreparedConfig> {
  readonly rules: Rules
  /** Explains what the rules would answer. Rejects with a PlatformError for an invalid request. */
  explain(attempt: Attempt): Promise<Explained>
  /** Why an added rule does not answer an exchange after all; `undefined` if it does. */
  whyNot(id: string, exchange: Exchange): Promise<string | undefined>
  readonly memory: Memory
  readonly atRunTime: RulesAtRunTime
}

interface RulesSettings {
  /** Called when the first rule for a path is added, and when the last one is removed. */
  readonly onPaths: () => void
  readonly warn: (sentence: string) => void
  readonly modeOf: ModeOf
}

export function createRulesPart(current: () => Current, { onPaths, warn, modeOf }: RulesSettings): RulesPart {
  const memory = createMemory()
  const atRunTime = new RulesAtRunTime({ onPaths, warn })
  return {
    memory,
    atRunTime,
    rules: createRules(memory, atRunTime, { current, modeOf }),
    explain: attempt => explainAttempt(attempt, current()),
    whyNot: (id, exchange) => whyNot(atRunTime.all().find(one => one.id === id)?.rule, exchange, current().replies),
    prepare: async () => memory.restartScenarios,
    reset({ scope }) {
      atRunTime.remove({ scope })
      memory.forget(scope)
    },
  }
}

interface RuleContext extends Pick<RulesSettings, 'modeOf'> {
  readonly current: () => Current
}

function createRules(memory: Memory, atRunTime: RulesAtRunTime, { current, modeOf }: RuleContext): Rules {
  const seed = () => current().loaded.config.seed
  const requirePossible = (rules: readonly RuleInput[]) => {
    if (rules.some(isMcp)) requireEmulatedServer([...mcpServers(current().loaded.config.mcp).keys()], modeOf)
  }
  return {
    async add(rule, { scope } = {}) {
      requirePossible([rule])
      const [added] = await atRunTime.add(rule, { scope, dir: current().loaded.dir, seed: seed() })
      const { id } = added as { readonly id: string }
      const { rule: ready } = atRunTime.all(scope).find(one => one.id === id) ?? {}
      return { id, answered: () => (ready ? memory.answered(ready) : 0) }
    },
    async addSent(sent, scope) {
      requirePossible([sent].flat())
      return atRunTime.add(sent, { scope, dir: undefined, seed: seed() })
    },
    list: scope => current().replies.list(scope),
    remove: which => atRunTime.remove(which),
  }
}

/** Throws a ProblemsError if no server of MCP is emulated: a session belongs to the server that began it, so no other can answer in it. */
function requireEmulatedServer(servers: readonly string[], modeOf: ModeOf): void {
  const modes = servers.map(path => ({ path, mode: modeOf({ method: 'POST', path }) }))
  const [first] = modes
  if (!first || modes.some(({ mode }) => mode === 'emulate')) return
  const sentence = `Replies for MCP answer in mode emulate only, since a session belongs to the server that began it, and ${first.path} is in mode ${first.mode}. Set modes: { "${first.path}": "emulate" }.`
  throw new ProblemsError([{ origin: 'the rule', sentence }])
}

async function whyNot(rule: ReadyRule | undefined, exchange: Exchange, { explain }: Replies) {
  if (!rule) return 'The rule was removed meanwhile.'
  if (!exchange.endpoint?.callsModel) {
    const reasons = await requestTest(rule.written, 'repair')(exchange)
    return reasons?.length === 0
      ? undefined
      : `The rule does not match it: ${reasons?.join('; ') ?? 'it is for others'}.`
  }
  const explained = explain(chatIn(exchange), exchange)
  if (explained.rule === rule) return undefined
  const tried = explained.triedBefore(MOST_OTHERS).find(one => one.rule === rule)
  if (tried) return `The answer does not suit the request: ${tried.reasons.join('; ')}.`
  return `${explained.rule?.title ?? 'Another answer'} comes first.`
}

/** At most this many reasons, since more would not help and take time. */
const MOST_OTHERS = 100

async function explainAttempt(
  { prompt = '', model, request, scope = '' }: Attempt,
  { loaded, replies }: Current,
): Promise<Explained> {
  const servers = [...mcpServers(loaded.config.mcp).keys()]
  const messages = [{ role: 'user', content: prompt }]
  const total = replies.activeRules().length
  const isServer = request && servers.includes(request.path)
  const call = request ? isServer && sentCall(request.body) : writtenCall(prompt)
  if (call) {
    const { explain, linesOf } = await replies.mcp()
    const server = request?.path ?? servers[0] ?? '/mcp'
    const tried = { ...call, server, scope, headers: request?.headers, caller: request?.caller }
    return { ...(await explainedAttempt(explain(tried), { linesOf })), total }
  }
  if (request && replies.http && !documentedAt(request.method, request.path)?.callsModel) {
    const { explain, linesOf } = replies.http
    return { ...(await explainedAttempt(await explain({ ...request, scope }), { linesOf })), total }
  }
  const body = request?.body ?? { model: model ?? namedModels(loaded.config.models)[0] ?? '', messages }
  const checked = check(chatRequest, body, { firstOnly: true })
  if ('mistakes' in checked) throw invalidRequest(`This is not a chat request: ${checked.mistakes[0]?.sentence}`)
  const explanation = replies.explain(checked.value, { scope })
  const mismatch = (generation: Generation) => replies.mismatch(checked.value, generation)?.()
  return { ...(await explainedAttempt(explanation, { linesOf, mismatch })), total }
}

interface ReplyDescriber<T> {
  linesOf(generation: T): readonly string[]
  mismatch?(generation: T): string | undefined
}

async function explainedAttempt<T extends { readonly answeredBy: AnsweredBy }>(
  { rule, nearest, triedBefore, remaining, reply }: Explanation<T>,
  { linesOf, mismatch = () => undefined }: ReplyDescriber<T>,
): Promise<Omit<Explained, 'total'>> {
  const generation = await reply().catch((error: unknown) => {
    // With strict, the refusal is what the app would get.
    if (error instanceof PlatformError) return error
    throw error
  })
  const before = triedBefore(MOST_OTHERS).map(one => ({ ...one, isBefore: true }))
  const others = [...before, ...remaining(MOST_OTHERS - before.length).map(one => ({ ...one, isBefore: false }))]
  const isRefused = generation instanceof PlatformError
  return {
    rule: rule ? { title: rule.title, place: rule.place, why: verdictOf(rule) } : null,
    source: isRefused ? null : sourceInWords(generation.answeredBy),
    reply: isRefused ? generation.message : linesOf(generation).join('\n'),
    hint: isRefused ? (generation.more.hint ?? null) : (mismatch(generation) ?? (rule ? null : nearest())),
    others: others.map(({ rule: { title, place }, isBefore, reasons }) => ({ title, place, isBefore, reasons })),
  }
}
