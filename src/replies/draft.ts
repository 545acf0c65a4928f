/** Drafts a rule that repeats an answer, as a starting point for the author. */

import { dataIn } from '../chat/events.js'
import { type ContentCall, chunkIn, completionIn, contentOf, createSum, type VendorChoice } from '../chat/reader.js'
import { type ChatRequest, chatRequest } from '../chat/request.js'
import { check } from '../check/check.js'
import { expressionIn } from '../check/expressions.js'
import { blockYaml } from '../check/yaml.js'
import { notForARule } from '../core/errors.js'
import { exactJsonOf, isObject, jsonOf } from '../core/json.js'
import { CHAT } from '../core/paths.js'
import { withLeaves } from '../recordings/redact/index.js'
import { ChatInput } from './conditions/chat-input.js'
import { type DraftSource, draftOnPath, paceOf, plain } from './http/draft.js'
import type { ReplyForm } from './reply-form.js'
import { hasTemplate } from './templates.js'

export type { DraftSource } from './http/draft.js'

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
  const checked = check(chatRequest, request.body, { firstOnly: true })
  const chat = 'value' in checked ? checked.value : undefined
  if (!chat) throw notForARule('it is not a chat completion request')
  const reply = replyOf(source, chat)
  const { user } = new ChatInput(chat)
  const name = slugOf(user) || slugOf(chat.model) || 'rule'
  const { when, remark } = whenOf(chat, reply)
  const { form, pace, remarks } = reply
  const rule = { name, when, reply: form, ...(pace && { pace }) }
  return { rule, remarks: [...(remark ? [remark] : []), ...remarks] }
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

/** A redacted secret, which no request contains. */
const placeholder = /\[[a-z][a-z0-9-]*\]/g
const LONGEST_CONDITION = 120

/** A condition on the whole text, or on its longest unredacted part; `undefined` if there is none. */
function textCondition(text: string): { readonly exact: string } | { readonly contains: string } | undefined {
  const parts = text.split(placeholder).map(part => part.trim())
  const [longest = ''] = parts.toSorted((a, b) => b.length - a.length)
  const part = shortenedTo(LONGEST_CONDITION, longest, ' ')
  if (part === '') return undefined
  return part === text.trim() ? { exact: text } : { contains: part }
}

/** The beginning of a text, cut at the end of a word if one ends in its second half. */
function shortenedTo(most: number, text: string, separator: string): string {
  if (text.length <= most) return text
  const end = text.lastIndexOf(separator, most)
  return text.slice(0, end > most / 2 ? end : most).trimEnd()
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
  return shortenedTo(LONGEST_NAME, words, '-')
}

interface DraftedReply {
  /** The reply, as in a rule. */
  readonly form: object
  /** The tools that it calls. */
  readonly calls: readonly string[]
  readonly pace?: { readonly firstTokenMs: number; readonly tokensPerSecond: number }
  readonly remarks: readonly string[]
}

/** Throws a PlatformError that says why no reply can be drafted. */
function replyOf(source: DraftSource, { n }: ChatRequest): DraftedReply {
  const { status, response, complete } = source
  if (status !== null && status >= 400) return { form: { fault: faultOf(source) }, calls: [], remarks: [] }
  const isStream = /^text\/event-stream\b/i.test(response.headers['content-type'] ?? '')
  const chunks = isStream ? chunksIn(String(response.body ?? '')) : []
  const sum = createSum()
  for (const chunk of chunks) sum.add(chunk)
  const choices = (isStream ? sum.completion() : completionIn(response.body))?.choices ?? []
  const cutShort = 'the journal has only the beginning of its answer'
  if (choices.length === 0) throw notForARule(response.truncated ? cutShort : 'its answer is not a chat completion')
  const drafts = choices.map(draftedChoice)
  const [first] = drafts
  const pieces = chunks.reduce((count, chunk) => count + (chunk.choices?.length ?? 0), 0)
  const remarks = [
    response.truncated && 'The journal has only the beginning of the answer.',
    !response.truncated && !complete && 'The answer broke off; the draft has only the part before that.',
    (n ?? 1) > 1 && `The request wanted ${n} choices; a request for fewer gets the first ones.`,
  ]
  return {
    form: drafts.length === 1 && first ? first.form : { choices: drafts.map(({ form }) => form) },
    calls: drafts.flatMap(({ calls }) => calls),
    ...(isStream && paceOf(source, pieces)),
    remarks: remarks.filter(remark => remark !== false),
  }
}

const chunksIn = (events: string) =>
  dataIn(Buffer.from(events)).flatMap(data => {
    const chunk = chunkIn(jsonOf(data))
    return chunk ? [chunk] : []
  })

function faultOf({ status, error, response }: DraftSource): NonNullable<ReplyForm['fault']> {
  const wait = Number(response.headers['retry-after'] ?? Number.NaN)
  const message = error ?? messageIn(response.body)
  return {
    status: Math.min(status ?? 500, 599),
    ...(message && { message }),
    ...(Number.isInteger(wait) && wait >= 0 && { retryAfter: wait }),
  }
}

/** The sentence of an error, as the platform or as OpenAI writes it. */
function messageIn(body: unknown): string | undefined {
  const error = isObject(body) ? body.error : undefined
  const message = isObject(error) ? error.message : error
  return typeof message === 'string' ? message : undefined
}

function draftedChoice({ message, finish_reason: finish }: VendorChoice) {
  const { text, refusal, reasoning, calls: all } = contentOf(message)
  const calls = all.filter(({ name }) => name !== '')
  const isSilent = calls.length > 0 || refusal !== ''
  const form = {
    ...(reasoning !== '' && { reasoning: plain(reasoning) }),
    ...((text !== '' || !isSilent) && { text: plain(text) }),
    ...(refusal !== '' && { refusal: plain(refusal) }),
    ...(calls.length > 0 && { toolCalls: calls.map(callForm) }),
    ...((finish === 'length' || finish === 'content_filter') && { finishReason: finish }),
  }
  return { form, calls: calls.map(({ name }) => name) }
}

/** The arguments of a function as a map if possible, which reads better, and which tests can inspect. */
function callForm({ kind, name, arguments: text }: ContentCall) {
  if (kind === 'custom') return { name, type: 'custom', arguments: plain(text) } as const
  const value = exactJsonOf(text)
  return { name, arguments: isObject(value) && !hasTemplate(value) ? value : plain(text) }
}
