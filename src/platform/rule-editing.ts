/** Rules in the control API: changes them in place, and says what they would answer. */

import { check } from '../check/check.js'
import { chatRequest } from '../completions/request.js'
import { type LoadedConfig, replyFilesOf } from '../config/load.js'
import { mcpServers } from '../config/mcp-options.js'
import { invalidRequest, noSuchRule, PlatformError } from '../core/errors.js'
import { type AnsweredBy, sourceInWords } from '../core/exchange.js'
import { CHAT } from '../core/paths.js'
import { createSerialQueue } from '../core/work.js'
import type {
  Explanation,
  Generation,
  Replies,
  RuleChange,
  RuleDraft,
  RuleEdit,
  RuleInput,
  RuleSet,
} from '../replies/index.js'
import type { Attempt, Drafts, Explained, RunningRules } from '../replies/operations.js'
import type { Assembly } from './assembly.js'
import type { PlatformSources } from './part.js'
import { loadReplies, type RepliesPart, type RulesPart } from './rules.js'

type Current = () => Pick<Assembly, 'loaded' | 'replies'>

/** The rule files; none if the platform has no configuration file. */
function filesOf(loaded: LoadedConfig, { file }: PlatformSources) {
  const files = replyFilesOf(loaded)
  return file === false && loaded.originOf(['replies']) === 'default' ? { ...files, patterns: [] } : files
}

/** Turns drafts into rules: writes, checks and saves them. */
export function createDrafts({ current, sources, reload }: Omit<Dependencies, 'drafts'>): Drafts {
  return {
    draft: async (source, open) => (await loadReplies()).draftOf(source, open),
    read: async yaml => (await loadReplies()).rulesSent({ yaml }),
    async keep(yaml, name) {
      const file = await (await loadReplies()).keepRules(yaml, name, filesOf(current().loaded, sources))
      await applyChanges(reload)
      return file
    },
  }
}

interface Dependencies {
  readonly current: Current
  readonly sources: PlatformSources
  readonly drafts: Drafts
  /** Reads all files again. */
  readonly reload: () => Promise<void>
}

export const createRuleEditing = (dependencies: Dependencies, part: RulesPart): RunningRules => ({
  ...part.rules,
  ...createEdits(dependencies, part),
  ...createTrials(dependencies),
})

const currentRules = async ({ current, sources }: Dependencies): Promise<RuleSet> => ({
  files: filesOf(current().loaded, sources),
  rules: (await current().replies()).activeRules(),
})

const editContextOf = ({ current, drafts }: Dependencies): EditContext => ({
  goodRules: async yaml => (await loadReplies()).goodRules(drafts, yaml),
  seed: current().loaded.config.seed,
})

/** Reads and changes rules, in their files or among the added ones. */
function createEdits(dependencies: Dependencies, part: RulesPart) {
  const { rules, persistent } = part
  const { current, sources, reload } = dependencies
  const ruleSet = () => currentRules(dependencies)
  // Edits wait for one another, so that none is based on a text that is being written.
  const queue = createSerialQueue()

  async function changeInFile(id: string, change: RuleChange): Promise<string> {
    const changed = await (await loadReplies()).changeRule(id, change, await ruleSet())
    await applyChanges(reload)
    return changed
  }

  return {
    async read(id: string) {
      const { fileOf, isInFile, readRule } = await loadReplies()
      if (isInFile(id)) return readRule(id, await ruleSet())
      const added = (await persistent()).atRunTime.all().find(one => one.id === id)
      if (!added) throw noSuchRule(id)
      return fileOf({ rule: added.rule.written })
    },
    files: async () => (await loadReplies()).ruleFiles(filesOf(current().loaded, sources)),
    addToFile: (file: string, yaml: string) =>
      queue(async () => {
        await (await loadReplies()).addToFile(file, yaml, await ruleSet())
        await applyChanges(reload)
      }),
    change: (id: string, change: RuleEdit) =>
      queue(async () => {
        if ((await loadReplies()).isInFile(id)) return changeInFile(id, change)
        return changeAtRunTime(id, change, part, editContextOf(dependencies))
      }),
    async remove(which: Parameters<RunningRules['remove']>[0]) {
      const { id } = which
      if (id === undefined || !(await loadReplies()).isInFile(id)) return rules.remove(which)
      await queue(() => changeInFile(id, { kind: 'remove' }))
      return 1
    },
  }
}

/** Reports mistakes in rules, and explains what rules would answer. */
const createTrials = (dependencies: Dependencies) => ({
  async problems(yaml: string, id?: string) {
    const { isInFile, problemsOf } = await loadReplies()
    return id !== undefined && isInFile(id)
      ? problemsOf(id, yaml, await currentRules(dependencies))
      : (await dependencies.drafts.read(yaml)).problems
  },
  async explain({ draft, ...attempt }: Attempt) {
    const { loaded, replies } = dependencies.current()
    const servers = [...mcpServers(loaded.config.mcp).keys()]
    const drafted = draft && (await rulesOfDraft(draft, await currentRules(dependencies), editContextOf(dependencies)))
    return explainAttempt(attempt, { drafted, replies: await replies(), models: loaded.config.models, servers })
  },
})

interface EditContext {
  readonly goodRules: (yaml: string) => Promise<readonly RuleInput[]>
  readonly seed: number
}

/** Returns the id of the changed rule, or of the rule that was put before it. */
async function changeAtRunTime(
  id: string,
  change: RuleEdit,
  { rules, persistent }: RulesPart,
  { goodRules, seed }: EditContext,
): Promise<string> {
  const { atRunTime } = await persistent()
  const existing = atRunTime.all().find(one => one.id === id)
  if (!existing) throw noSuchRule(id)
  if (change.kind === 'before') {
    const [added] = await rules.addSent(await goodRules(change.yaml), existing.scope)
    return added?.id ?? id
  }
  if (change.kind === 'move') await atRunTime.change(id, { move: change.to }, { seed })
  else if (change.kind === 'switch') {
    await atRunTime.change(id, { rule: { ...existing.rule.written, enabled: change.enabled } }, { seed })
  } else {
    const [rule, more] = await goodRules(change.yaml)
    if (!rule || more) throw invalidRequest('One rule takes the place of this one. Add others as new rules.')
    await atRunTime.change(id, { rule }, { seed })
  }
  return id
}

async function rulesOfDraft(
  { yaml, instead: id }: NonNullable<Attempt['draft']>,
  ruleSet: RuleSet,
  { goodRules, seed }: EditContext,
): Promise<RuleDraft> {
  const { draftInFile, isInFile, rulesAsGiven } = await loadReplies()
  const instead = ruleSet.rules.find(rule => rule.id !== undefined && rule.id === id)
  if (id !== undefined && isInFile(id)) return { rules: await draftInFile(id, yaml, ruleSet, seed), instead }
  const place = instead?.place ?? 'the rule that you are writing'
  const originOf = () => ({ place, title: place === instead?.place ? instead.title : place, isUnstable: true })
  return { rules: await rulesAsGiven(await goodRules(yaml), { dir: undefined, seed, originOf }), instead }
}

/** At most this many reasons, since more would not help and take time. */
const MOST_OTHERS = 100

interface ExplainContext {
  readonly drafted: RuleDraft | undefined
  readonly replies: Replies
  readonly models: readonly { readonly id: string }[]
  /** The paths of MCP servers. */
  readonly servers: readonly string[]
}

async function explainAttempt(
  { prompt = '', model, request, scope = '' }: Omit<Attempt, 'draft'>,
  { drafted, replies, models, servers }: ExplainContext,
): Promise<Explained> {
  const { linesOf, sentCall, verdictOf, writtenCall } = await loadReplies()
  const messages = [{ role: 'user', content: prompt }]
  const total = replies.activeRules().length
  const isServer = request && servers.includes(request.path)
  const call = request ? isServer && sentCall(request.body) : writtenCall(prompt)
  if (call) {
    const { explain, linesOf } = await replies.mcp()
    const server = request?.path ?? servers[0] ?? '/mcp'
    const tried = { ...call, server, scope, headers: request?.headers, caller: request?.caller }
    return { ...(await explainedAttempt(explain(tried, drafted), { linesOf, verdictOf })), total }
  }
  if (request && replies.http && request.path !== CHAT) {
    const { explain, linesOf } = replies.http
    return { ...(await explainedAttempt(await explain({ ...request, scope }, drafted), { linesOf, verdictOf })), total }
  }
  const body = request?.body ?? { model: model ?? models[0]?.id ?? '', messages }
  const checked = check(chatRequest, body, { firstOnly: true })
  if ('mistakes' in checked) throw invalidRequest(`This is not a chat request: ${checked.mistakes[0]?.sentence}`)
  const explanation = replies.explain(checked.value, { scope }, drafted)
  const mismatch = (generation: Generation) => replies.mismatch(checked.value, generation)?.()
  return { ...(await explainedAttempt(explanation, { linesOf, verdictOf, mismatch })), total }
}

interface ReplyDescriber<T> extends Pick<RepliesPart, 'verdictOf'> {
  linesOf(generation: T): readonly string[]
  /** What may be wrong with the reply. */
  mismatch?(generation: T): string | undefined
}

async function explainedAttempt<T extends { readonly answeredBy: AnsweredBy }>(
  { rule, nearest, triedBefore, remaining, reply }: Explanation<T>,
  { linesOf, verdictOf, mismatch = () => undefined }: ReplyDescriber<T>,
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

/** The file that was written is valid. If another one is not, the platform keeps its last valid configuration. */
const applyChanges = (reload: () => Promise<void>) => reload().catch(() => {})
