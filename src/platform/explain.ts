/** Explains what the rules would answer, for the control API. */

import { chatRequest } from '../chat/request.js'
import { check } from '../check/check.js'
import { invalidRequest, PlatformError } from '../core/errors.js'
import { CHAT } from '../core/paths.js'
import { type AnsweredBy, sourceInWords } from '../core/reply.js'
import { mcpServers } from '../mcp/options.js'
import {
  type Explanation,
  type Generation,
  linesOf,
  type Replies,
  sentCall,
  verdictOf,
  writtenCall,
} from '../replies/index.js'
import type { Attempt, Explained } from '../replies/operations.js'
import type { Assembly } from './assembly.js'

/** Rejects with a PlatformError for an invalid request. */
export async function explain(attempt: Attempt, { loaded, replies }: Pick<Assembly, 'loaded' | 'replies'>) {
  const servers = [...mcpServers(loaded.config.mcp).keys()]
  return explainAttempt(attempt, { replies, models: loaded.config.models, servers })
}

/** At most this many reasons, since more would not help and take time. */
const MOST_OTHERS = 100

interface ExplainContext {
  readonly replies: Replies
  readonly models: readonly { readonly id: string }[]
  /** The paths of MCP servers. */
  readonly servers: readonly string[]
}

async function explainAttempt(
  { prompt = '', model, request, scope = '' }: Attempt,
  { replies, models, servers }: ExplainContext,
): Promise<Explained> {
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
  if (request && replies.http && request.path !== CHAT) {
    const { explain, linesOf } = replies.http
    return { ...(await explainedAttempt(await explain({ ...request, scope }), { linesOf })), total }
  }
  const body = request?.body ?? { model: model ?? models[0]?.id ?? '', messages }
  const checked = check(chatRequest, body, { firstOnly: true })
  if ('mistakes' in checked) throw invalidRequest(`This is not a chat request: ${checked.mistakes[0]?.sentence}`)
  const explanation = replies.explain(checked.value, { scope })
  const mismatch = (generation: Generation) => replies.mismatch(checked.value, generation)?.()
  return { ...(await explainedAttempt(explanation, { linesOf, mismatch })), total }
}

interface ReplyDescriber<T> {
  linesOf(generation: T): readonly string[]
  /** What may be wrong with the reply. */
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
