/** What the emulated model says: the only entry point of this part. */

import type { ChatRequest } from '../completions/request.js'
import { noRuleMatches } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import { CHAT } from '../core/paths.js'
import { onceLoaded } from '../core/work.js'
import { createRulesAtRunTime, type RulesAtRunTime, type RuntimeRule } from './at-run-time.js'
import { chat } from './chat.js'
import { ChatInput } from './conditions/chat-input.js'
import { readable } from './conditions/on-exchanges.js'
import { defaultReply } from './default-reply.js'
import type { ReadyRule } from './dialect.js'
import { createEngines, type RuleSources } from './engine.js'
import { type Explanation, explanationOf, type RuleDraft, withDraft } from './explain.js'
import { seedOf } from './fake.js'
import type { Generation } from './generation.js'
import type { HttpReplies } from './http/index.js'
import { type LoadedRules, loadedHttp, loadMcp } from './load.js'
import { callOf, hasMagic, MAGIC_PREFIX, magicOf, saysItself, withMagic } from './magic.js'
import type { McpReplies } from './mcp/index.js'
import { createMemory, type Memory } from './memory.js'
import { asksForForm, canJudge, loadJudge, mismatchOf } from './mismatch.js'
import { nearestSentence } from './nearest.js'
import type { ListedRule } from './operations.js'
import { areNeighbours, fileOfRule } from './rule-files.js'
import { isHttpRule } from './rules.js'
import { sampled } from './structured/index.js'

export { type Adding, createRulesAtRunTime, type RulesAtRunTime, type RuntimeRule as AddedRule } from './at-run-time.js'
export { conditionsOn } from './conditions/on-exchanges.js'
export { type Draft, type DraftedRules, type DraftSource, draftOf, draftsOf } from './draft.js'
export { type Explanation, linesOf, type RuleDraft, verdictOf } from './explain.js'
export { seedOfTexts } from './fake.js'
export type { Choice, FinishReason, Generation, ToolCall, UsageInput } from './generation.js'
export type { HttpGeneration } from './http/http-reply.js'
export type { HttpReplies } from './http/index.js'
export { bodyOf, fieldsIn } from './http/input.js'
export {
  areAmbiguous,
  paramsIn,
  pathOf,
  routeOf,
  type Segment,
  stepsOf as stepsOfPath,
  type TriedRequest,
  troubleWithRoute,
} from './http/route.js'
export { createPathTree } from './http/tree.js'
export { keepRules } from './keep.js'
export { type LintFinding, lint } from './lint.js'
export {
  findReplyFiles,
  joined,
  type LoadedRules,
  loadRules,
  type ReplyFiles,
  rulesAsGiven,
  rulesFromCode,
  rulesSent,
  rulesSentJob,
  type SentRules,
} from './load.js'
export { magicWords } from './magic.js'
export type { McpReplies, McpRuleAnswer } from './mcp/index.js'
export type { McpCall } from './mcp/input.js'
export type { McpGeneration, McpQuestion, McpRound } from './mcp/mcp-reply.js'
export { sentCall, type TriedCall, writtenCall } from './mcp/tried.js'
export { createMemory, type Memory } from './memory.js'
export { fileOf, goodRules, type ListedRule } from './operations.js'
export {
  addToFile,
  changeRule,
  draftInFile,
  isInFile,
  problemsOf,
  type RuleChange,
  type RuleEdit,
  type RuleSet,
  readRule,
  ruleFiles,
} from './rule-files.js'
export {
  type ChatRuleInput,
  type HttpRuleInput,
  isHttpRule,
  type McpRuleInput,
  type RuleInput,
  rulesSchema,
} from './rules.js'
export { sampled, sampleJob, UnfitSchema } from './structured/index.js'

export { type CommonFacts, hasTemplate, loadTemplates, TemplateError, type Templates } from './templates.js'
export { readTextFile } from './text-file.js'
export { wrongToolCalls } from './tool-calls.js'

/** The caller, and other facts besides the request. */
type Circumstances = ConstructorParameters<typeof ChatInput>[1]

/** Generates replies. */
export interface Replies {
  /** A promise only if something has to be generated first. Throws a 424 if no rule matches and one is required. */
  answer(request: ChatRequest, circumstances?: Circumstances): Generation | Promise<Generation>
  /** Checks whether a reply is what its request asked for. Returns a sentence for the log. */
  readonly mismatch: typeof mismatchOf
  /** The fault that a rule sets for the answer to an exchange, wherever the answer comes from. */
  faultFor(exchange: Exchange): Promise<Fault | undefined> | undefined
  /** Says which rule would answer, without counting it as an answer. With a draft, as if the draft's rules were active. */
  explain(request: ChatRequest, circumstances?: Circumstances, draft?: RuleDraft): Explanation
  /** The replies of rules for paths; `undefined` while there are none. */
  readonly http: HttpReplies | undefined
  /** The replies of rules for MCP calls. */
  mcp(): Promise<McpReplies>
  /** The active rules, in the order in which they are tried: those for a scope, or all if none is given. */
  list(scope?: string): readonly ListedRule[]
  /** The compiled rules of all scopes. */
  activeRules(): readonly ReadyRule[]
}

interface RepliesConfig {
  readonly rules: LoadedRules['rules']
  readonly seed: number
  /** Whether a request that no rule matches is an error. */
  readonly strict: boolean
  /** Whether magic words in a prompt take effect. */
  readonly magic: boolean
  /** The memory of rules, if it should outlive these replies. */
  readonly memory?: Memory
  /** Rules that are added and removed at run time; they use the same memory. */
  readonly atRunTime?: RulesAtRunTime
}

/**
 * Answers with the first matching rule. If none matches, generates a reply from `seed` and the request. Long because it
 * lists everything that replies can do, a few lines each, over the same rules and memory.
 */
export function createReplies({
  rules,
  seed,
  strict,
  magic,
  memory = createMemory(),
  ...wanted
}: RepliesConfig): Replies {
  const { atRunTime = createRulesAtRunTime(memory) } = wanted
  const ordered = rules.toSorted((a, b) => b.priority - a.priority)
  const { take, triedFor, mayFail } = createChatRules({ rules, memory, atRunTime })
  const paths = pathsOnDemand({ rules, memory, atRunTime })

  /** Throws a 424 that names the nearest rule if a rule is required. */
  function generated({ request }: ChatInput, nearest: () => string): Promise<Generation> {
    if (strict) throw noRuleMatches(nearest())
    return defaultReply(request, seed)
  }

  function withoutRule(input: ChatInput): Promise<Generation> {
    const tried = triedFor(input)
    const nearest = () => nearestSentence(tried(), input, input.user.length)
    const made = generated(input, nearest)
    return tried().rules.length === 0 ? made : made.then(generation => ({ ...generation, remark: nearest }))
  }

  return {
    answer(request, circumstances) {
      const input = new ChatInput(request, circumstances)
      if (magic && input.user.includes(MAGIC_PREFIX) && hasMagic(input.user)) return withMagicWords(input, seed)
      const chosen = take(input)
      if (!chosen) return withoutRule(input)
      const generation = chosen.reply.always ?? chosen.reply.generate(input, chosen.count)
      const isJudged = (request.response_format != null && asksForForm(request)) || chosen.reply.calls.length > 0
      return isJudged && !canJudge() ? loadJudge().then(() => generation) : generation
    },
    mismatch: mismatchOf,
    explain(request, circumstances, draft) {
      const input = new ChatInput(request, circumstances)
      const { rules, reasonsAgainst } = triedFor(input)()
      const isMagic = magic && hasMagic(input.user)
      const { says, ...explanation } = explanationOf(input, {
        ...{ rules: withDraft(rules, chat, draft), reasonsAgainst, isMagic, memory, letters: input.user.length },
        otherwise: async nearest => (isMagic ? withMagicWords(input, seed) : generated(input, nearest)),
      })
      // The code that checks replies is loaded with the first reply that needs it.
      return { ...explanation, says: () => loadJudge().then(says) }
    },
    faultFor(exchange) {
      if (exchange.path !== CHAT) return paths()?.faultFor(exchange)
      if (!mayFail(exchange.scope)) return undefined
      const request = readable(exchange)
      return Promise.resolve(request && take(new ChatInput(request, exchange))?.reply.fault)
    },
    get http() {
      return paths()
    },
    mcp: onceLoaded(async () =>
      (await loadMcp()).createMcpReplies({ strict, rules, memory, seed, sampled, atRunTime }),
    ),
    list: scope => listed([...atRunTime.all(scope), ...ordered.map(inFile)], rule => memory.answered(rule, scope)),
    activeRules: () => [...atRunTime.all().map(({ rule }) => rule), ...ordered],
  }
}

interface RuleParts extends RuleSources {
  readonly atRunTime: RulesAtRunTime
}

/** The rules on chat completions. */
function createChatRules(parts: RuleParts) {
  const { engines, reasonsAgainst, take, mayFail } = createEngines(chat, parts)
  return {
    ...{ take, mayFail },
    /** The rules that are active now, combined on demand. */
    triedFor({ scope }: ChatInput) {
      const lists = engines(scope).flatMap(({ rules }) => (rules.length > 0 ? [rules] : []))
      return () => ({ rules: lists.length === 1 ? (lists[0] ?? []) : lists.flat(), reasonsAgainst })
    },
  }
}

/** Returns the replies of rules for paths, created with the first such rule; `undefined` while there are none. */
function pathsOnDemand(parts: RuleParts): () => HttpReplies | undefined {
  const havePaths = parts.rules.some(({ written }) => isHttpRule(written))
  let made: HttpReplies | undefined
  return () => {
    if (!havePaths && !parts.atRunTime.havePaths) return undefined
    made ??= loadedHttp()?.createHttpReplies(parts)
    return made
  }
}

async function withMagicWords({ request, user }: ChatInput, seed: number): Promise<Generation> {
  const magic = magicOf(request, user)
  if (!magic) return defaultReply(request, seed)
  const sample = async (schema: unknown) => (await sampled({ schema, seeds: [seedOf(request, seed)] }))[0]
  const toolCalls = magic.calls && { toolCalls: [await callOf(magic.calls, sample)] }
  const input = { ...magic, choice: { ...magic.choice, ...toolCalls } }
  return withMagic(saysItself(input) ? nothing : await defaultReply(request, seed), input)
}

/** A placeholder for a reply that would not be used. */
const nothing: Generation = { choices: [{ text: '' }], answeredBy: { kind: 'canned', form: 'reply' } }

type RuleEntry = Pick<RuntimeRule, 'scope' | 'rule'> & { readonly id: string | null }

const inFile = (rule: ReadyRule): RuleEntry => ({ id: rule.id ?? null, scope: '', rule })

function listed(all: readonly RuleEntry[], answered: (rule: ReadyRule) => number): readonly ListedRule[] {
  const named = all.map(({ id, scope, rule }) => ({ id, scope: scope === '' ? null : scope, rule }))
  return named.map((one, i) => ({
    ...{ id: one.id, scope: one.scope, answered: answered(one.rule) },
    ...{ title: one.rule.title, place: one.rule.place, rule: one.rule.written },
    file: fileOfRule(one.id ?? '') ?? null,
    enabled: one.rule.written.enabled !== false,
    moves: [
      ...(areNeighbours(one, named[i - 1]) ? (['up'] as const) : []),
      ...(areNeighbours(one, named[i + 1]) ? (['down'] as const) : []),
    ],
  }))
}
