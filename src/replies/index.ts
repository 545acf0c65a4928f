/** What the emulated model says: the only entry point of this part. */

import type { Exchange } from '../core/exchange.js'
import { stringifyExact } from '../core/json.js'
import { once } from '../core/work.js'
import { RulesAtRunTime } from './at-run-time.js'
import { type ChatSettings, createChatReplies, mismatchOf } from './chat/index.js'
import type { ReadyRule } from './dialect.js'
import { isActive, isOwn, type RuleSources } from './engine.js'
import { createHttpReplies, type HttpReplies } from './http/index.js'
import { type LoadedRules, loadMcp } from './load.js'
import { createMemory, type Memory } from './memory.js'
import type { ListedRule } from './operations.js'
import { isHttpRule } from './rules.js'

export type { Choice, FinishReason, Generation, ToolCall, UsageInput } from '../chat/generation.js'
export { type Answerable, type AnswerForm, answerable, answerForms, shownMessage } from './answerable.js'
export { type Adding, RulesAtRunTime, type RuntimeRule as AddedRule } from './at-run-time.js'
export { before, ruleByHand } from './by-hand.js'
export { conditionsOn } from './chat/index.js'
export type { ReadyRule } from './dialect.js'
export { type Draft, type DraftSource, draftOf } from './draft.js'
export { type Explanation, linesOf, verdictOf } from './explain.js'
export { seedOfTexts } from './fake.js'
export type { HttpReplies } from './http/index.js'
export { bodyOf, fieldsIn } from './http/input.js'
export type { HttpGeneration } from './http/reply.js'
export {
  areAmbiguous,
  createPathTree,
  paramsIn,
  pathOf,
  routeOf,
  type Segment,
  stepsOfPath,
  type TriedRequest,
  whyInvalidRoute,
} from './http/route.js'
export { answersTool, neverAnswering } from './lint.js'
export {
  findReplyFiles,
  joined,
  type LoadedRules,
  loadRules,
  loadTemplates,
  type ReplyFiles,
  rulesAsGiven,
  rulesFromCode,
} from './load.js'
export type { McpCall } from './mcp/call.js'
export { sentCall, type TriedCall, writtenCall } from './mcp/call.js'
export type { McpGeneration, McpQuestion, McpReplies, McpRound, McpRuleAnswer } from './mcp/index.js'
export { createMemory, type Memory } from './memory.js'
export type { ListedRule } from './operations.js'
export { readBodyFile, readTextFile } from './parts.js'
export { requestTest } from './request-test.js'
export {
  type ChatRuleInput,
  conditionForms,
  type HttpRuleInput,
  isHttpRule,
  isMcp,
  type McpRuleInput,
  type RuleInput,
  rulesSchema,
} from './rules.js'
export { sampled, UnfitSchema } from './structured/index.js'
export { hasTemplate, TemplateError, type Templates } from './templates.js'

export type Replies = ReturnType<typeof createReplies>

interface RepliesConfig extends ChatSettings {
  readonly rules: LoadedRules['rules']
  /** The memory of rules, if it should outlive these replies. */
  readonly memory?: Memory
  /** Rules that are added and removed at run time; they use the same memory. */
  readonly atRunTime?: RulesAtRunTime
}

/** Answers with the first matching rule. If none matches, generates a reply from `seed` and the request. */
export function createReplies(config: RepliesConfig) {
  const parts = { memory: createMemory(), atRunTime: new RulesAtRunTime(), ...config }
  const { rules, memory, atRunTime } = parts
  const ordered = rules.toSorted((a, b) => b.priority - a.priority)
  const { answer, explain, faultFor, answersOwn } = createChatReplies(parts)
  const paths = pathsOnDemand(parts)
  const isFromFiles = rules.every(rule => !isOwn(rule))
  /** The compiled rules of all scopes. */
  const activeRules = (): readonly ReadyRule[] => [...atRunTime.all().map(({ rule }) => rule), ...ordered]
  return {
    answer,
    explain,
    activeRules,
    /** Checks whether a reply is what its request asked for. Returns a sentence for the log. */
    mismatch: mismatchOf,
    /** The fault that a rule sets for the answer to an exchange, wherever the answer comes from. */
    faultFor: (exchange: Exchange) =>
      exchange.endpoint?.callsModel ? faultFor(exchange) : paths()?.faultFor(exchange),
    /** Whether a rule of the test's own answers, whatever the mode. Does not count as an answer. */
    answersOwn(exchange: Exchange): boolean | Promise<boolean> {
      if (isFromFiles && atRunTime.isEmpty) return false
      const { callsModel, isConfigured } = exchange.endpoint ?? {}
      if (callsModel) return answersOwn(exchange)
      return (isConfigured && paths()?.answersOwn(exchange)) || false
    },
    /** The replies of rules for paths; `undefined` while there are none. */
    get http() {
      return paths()
    },
    /** The replies of rules for MCP calls. */
    mcp: once(async () => (await loadMcp()).createMcpReplies(parts)),
    /** The active rules, in the order in which they are tried: those for a scope, or all if none is given. */
    list(scope?: string): readonly ListedRule[] {
      const written = ordered.map(rule => ({ id: null, scope: '', rule }))
      return [...atRunTime.all(scope), ...written].map(one => listed(one, memory.answered(one.rule, scope)))
    },
    /** Returns a function that hands the counters of `before` to the rules that have not changed. */
    continuing: (before: { activeRules(): readonly ReadyRule[] }) => continuing(before.activeRules(), activeRules()),
  }
}

/**
 * Recognizes rules after a reload, by their file and their text: pairs each with its predecessor. Its position, and whether it is switched
 * on, do not matter. Of several that are written the same, the first one goes with the first.
 */
function continuing(before: readonly ReadyRule[], after: readonly ReadyRule[]) {
  const unpaired = Map.groupBy(before, ruleText)
  const pairs = after.map(current => ({ current, previous: unpaired.get(ruleText(current))?.shift() }))
  return () => {
    for (const { previous, current } of pairs) {
      // A reload forgets callers and conversations.
      if (previous && !current.written.per) current.counter = previous.counter
    }
  }
}

const ruleText = ({ file = '', written }: ReadyRule) => `${file}\n${stringifyExact({ ...written, enabled: undefined })}`

/** Returns the replies of rules for paths, created with the first such rule; `undefined` while there are none. */
function pathsOnDemand(parts: RuleSources & { readonly atRunTime: RulesAtRunTime }): () => HttpReplies | undefined {
  const havePaths = parts.rules.some(({ written }) => isHttpRule(written))
  let replies: HttpReplies | undefined
  return () => {
    if (!havePaths && !parts.atRunTime.havePaths) return undefined
    replies ??= createHttpReplies(parts)
    return replies
  }
}

/** A rule in the list. The id is `null` if it was not added at run time. */
interface RuleEntry {
  readonly id: string | null
  readonly scope: string
  readonly rule: ReadyRule
}

const listed = ({ id, scope, rule }: RuleEntry, answered: number): ListedRule => ({
  id,
  scope: scope || null,
  answered,
  title: rule.title,
  place: rule.place,
  file: rule.file ?? null,
  rule: rule.written,
  enabled: isActive(rule),
})
