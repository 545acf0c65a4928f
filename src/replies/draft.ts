/** Drafts a rule that repeats an answer, as a starting point for the author. */

import { check } from '../check/check.js'
import { blockYaml } from '../check/yaml.js'
import { type ChatRequest, chatRequest } from '../completions/request.js'
import { notForARule } from '../core/errors.js'
import { CHAT } from '../core/paths.js'
import { withLeaves } from '../redact/index.js'
import { ChatInput } from './conditions/chat-input.js'
import { expressionIn } from './conditions/text.js'
import { type DraftedReply, type DraftSource, replyOf } from './drafted-reply.js'
import { draftOnPath } from './http/draft.js'

export type { DraftSource } from './drafted-reply.js'

export interface Draft {
  readonly rule: object
  /** A file with this rule. */
  readonly yaml: string
  /** Remarks for the author, one sentence each. */
  readonly remarks: readonly string[]
}

/** `redact` removes secrets, which a stream may have sent in pieces. Throws a PlatformError that says why no rule can be drafted. */
export function draftOf(source: DraftSource, redact: (text: string) => string): Draft {
  const { rule, remarks } = draftedRule(source)
  const redacted = withLeaves(rule, value => (typeof value === 'string' ? redact(value) : value)) as object
  return { rule: redacted, yaml: blockYaml([redacted]), remarks }
}

/** The rule as an author would write it, and the remarks. */
function draftedRule(source: DraftSource): Omit<Draft, 'yaml'> {
  const { request, status } = source
  if (status === null) throw notForARule('it has no answer')
  if (request.path !== CHAT) {
    const { rule, remarks } = draftOnPath(source)
    const name = slugOf(rule.on) || 'rule'
    return { rule: { name, ...rule }, remarks }
  }
  const chat = requestIn(request.body)
  if (!chat) throw notForARule('it is not a chat completion request')
  const reply = replyOf(source, chat)
  const { user } = new ChatInput(chat)
  const name = slugOf(user) || slugOf(chat.model) || 'rule'
  const { when, remark } = whenOf(chat, reply)
  const { form, pace, remarks } = reply
  const rule = { name, when, reply: form, ...(pace && { pace }) }
  return { rule, remarks: [...(remark ? [remark] : []), ...remarks] }
}

function requestIn(body: unknown): ChatRequest | undefined {
  const checked = check(chatRequest, body, { firstOnly: true })
  return 'value' in checked ? checked.value : undefined
}

/** Conditions that match the request, but not the follow-up that an app sends after the answer. */
function whenOf(request: ChatRequest, { calls }: DraftedReply) {
  const input = new ChatInput(request)
  const results = input.toolResults
  const tools = results.map(({ tool }) => tool).filter(tool => tool !== '')
  const user = textCondition(input.user)
  const format = request.response_format?.type
  const when = {
    ...(expressionIn(request.model) ? {} : { model: request.model }),
    ...(user && { user }),
    ...(input.turn > 1 && { turn: input.turn }),
    // Without it the rule would answer its own tool call forever.
    ...(results.length > 0 && { toolResult: tools[0] === undefined ? true : { tool: tools.at(-1) } }),
    ...(results.length === 0 && calls.length > 0 && { toolResult: false }),
    ...(calls.length > 0 && { tools: [...new Set(calls)] }),
    ...(format && format !== 'text' && { responseFormat: format }),
  }
  const isCut = user && 'contains' in user
  const remark = isCut ? 'It matches only part of the user message, because the rest is long or secret.' : undefined
  return { when, remark }
}

type DraftedText = { readonly exact: string } | { readonly contains: string }

/** A condition on the whole text, or on its most memorable part. */
function textCondition(text: string): DraftedText | undefined {
  const part = memorable(text)
  if (part === undefined) return undefined
  return part === text.trim() ? { exact: text } : { contains: part }
}

/** A redacted secret, which no request contains. */
const placeholder = /\[[a-z][a-z0-9-]*\]/g
const LONGEST = 120

/** The longest unredacted part of a text, cut at the end of a word; `undefined` if there is none. */
function memorable(text: string): string | undefined {
  const parts = text.split(placeholder).map(part => part.trim())
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '')
  if (longest.length <= LONGEST) return longest || undefined
  const end = longest.lastIndexOf(' ', LONGEST)
  return longest.slice(0, end > LONGEST / 2 ? end : LONGEST).trimEnd()
}

const LONGEST_NAME = 40

/** A few words of a text, as a file name. */
function slugOf(text: string): string {
  const words = text
    .slice(0, 400)
    .replace(placeholder, '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  if (words.length <= LONGEST_NAME) return words
  const end = words.lastIndexOf('-', LONGEST_NAME)
  return words.slice(0, end > LONGEST_NAME / 2 ? end : LONGEST_NAME)
}
