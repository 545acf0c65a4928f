/** Drafts a rule that repeats an answer, as a starting point for the author. */

import { dataIn, dataOf, eventsIn } from '../chat/events.js'
import { type ContentCall, chunkIn, completionIn, contentOf, createSum, type VendorChoice } from '../chat/reader.js'
import { type ChatRequest, chatRequest } from '../chat/request.js'
import { check } from '../check/check.js'
import { expressionIn } from '../check/expressions.js'
import { blockYaml } from '../check/yaml.js'
import { notForARule } from '../core/errors.js'
import { exactJsonOf, isObject, jsonOf } from '../core/json.js'
import { CHAT } from '../core/paths.js'
import type { ReplyForm } from './chat/form.js'
import { ChatInput } from './chat/input.js'
import { fieldsIn } from './http/input.js'
import { isDocumented, whyInvalidRoute } from './http/route.js'
import { hasTemplate } from './templates.js'

/** An exchange as the journal shows it, without secrets. */
export interface DraftSource {
  readonly request: { readonly method: string; readonly path: string; readonly query?: string; readonly body?: unknown }
  readonly status: number | null
  readonly complete: boolean
  readonly error: string | null
  readonly response: {
    readonly headers: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly truncated: boolean
  }
}

export interface Draft {
  readonly rule: object
  /** A file with this rule. */
  readonly yaml: string
  /** Remarks for the author, one sentence each. */
  readonly remarks: readonly string[]
}

/** Throws a PlatformError that says why no rule can be drafted. */
export function draftOf(source: DraftSource): Draft {
  const { request, status, complete, response } = source
  if (status === null) throw notForARule('it has no answer')
  const rule = request.path === CHAT ? chatRule(source) : pathRule(source)
  const { user } = ('when' in rule ? rule.when : {}) as { readonly user?: object }
  const remarks = [
    user && 'contains' in user && 'It matches only part of the user message, because the rest is long or secret.',
    response.truncated && 'The journal has only the beginning of the answer.',
    !response.truncated && !complete && 'The answer broke off; the draft has only the part before that.',
  ]
  return { rule, yaml: blockYaml([rule]), remarks: remarks.filter(remark => typeof remark === 'string') }
}

/** A redacted secret, which no request contains. */
const placeholder = /\[[a-z][a-z0-9-]*\]/g
/** The length of a name and of a text in a condition. */
const LONGEST_NAME = 40
const LONGEST_CONDITION = 120

/** The beginning of a text, cut at the end of a word if one ends in its second half. */
function cutBetweenWords(text: string, most: number, separator: string): string {
  if (text.length <= most) return text
  const end = text.lastIndexOf(separator, most)
  return text.slice(0, end > most / 2 ? end : most).trimEnd()
}

/** The name of a rule: a few words of a text. */
export function slugOf(text: string): string {
  const words = text
    .slice(0, 400)
    .replace(placeholder, '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return cutBetweenWords(words, LONGEST_NAME, '-')
}

/** Escapes text that looks like a template. The tag that would end the escaping is taken apart. */
export const withoutTemplates = (text: string) =>
  hasTemplate(text) ? `{% raw %}${text.replace(/\{%(?=-?\s*endraw)/g, '{%{% endraw %}{% raw %}')}{% endraw %}` : text

// Chat completions.

function chatRule(source: DraftSource): object {
  const checked = check(chatRequest, source.request.body, { firstOnly: true })
  if ('mistakes' in checked) throw notForARule('it is not a chat completion request')
  const request = checked.value
  const { form, calls } = chatReply(source)
  const name = slugOf(new ChatInput(request).user) || slugOf(request.model) || 'rule'
  return { name, when: chatConditions(request, calls), reply: form }
}

/** Conditions that match the request, but not the follow-up that an app sends after the answer. */
function chatConditions(request: ChatRequest, calls: readonly string[]): object {
  const { user: prompt, turn, toolResults } = new ChatInput(request)
  const tool = toolResults.findLast(({ tool }) => tool !== '')?.tool
  const user = conditionOnPrompt(prompt)
  const format = request.response_format?.type
  return {
    ...(expressionIn(request.model) ? {} : { model: request.model }),
    ...(user && { user }),
    ...(turn > 1 && { turn }),
    // Without it the rule would answer its own tool call forever.
    ...(toolResults.length > 0 && { toolResult: tool === undefined ? true : { tool } }),
    ...(toolResults.length === 0 && calls.length > 0 && { toolResult: false }),
    ...(calls.length > 0 && { tools: [...new Set(calls)] }),
    ...(format && format !== 'text' && { responseFormat: format }),
  }
}

/** A condition on the whole text, or on its longest unredacted part; `undefined` if there is none. */
function conditionOnPrompt(text: string): { readonly exact: string } | { readonly contains: string } | undefined {
  const parts = text.split(placeholder).map(part => part.trim())
  const [longest = ''] = parts.toSorted((a, b) => b.length - a.length)
  const part = cutBetweenWords(longest, LONGEST_CONDITION, ' ')
  if (part === '') return undefined
  return part === text.trim() ? { exact: text } : { contains: part }
}

/** The reply of a rule, and the tools that it calls. Throws a PlatformError that says why no reply can be drafted. */
function chatReply(source: DraftSource): { readonly form: object; readonly calls: readonly string[] } {
  const { status, response } = source
  if (status !== null && status >= 400) return { form: { fault: faultOf(source) }, calls: [] }
  const choices = choicesIn(response)
  if (choices.length === 0) {
    const cutShort = 'the journal has only the beginning of its answer'
    throw notForARule(response.truncated ? cutShort : 'its answer is not a chat completion')
  }
  const drafts = choices.map(draftedChoice)
  const [first] = drafts
  return {
    form: drafts.length === 1 && first ? first.form : { choices: drafts.map(({ form }) => form) },
    calls: drafts.flatMap(({ calls }) => calls),
  }
}

const isStream = ({ headers }: DraftSource['response']) => /^text\/event-stream\b/i.test(headers['content-type'] ?? '')

/** The choices of a chat's answer, whole or streamed. */
export function choicesIn(response: DraftSource['response']): readonly VendorChoice[] {
  if (!isStream(response)) return completionIn(response.body)?.choices ?? []
  const sum = createSum()
  for (const data of dataIn(Buffer.from(String(response.body ?? '')))) {
    const chunk = chunkIn(jsonOf(data))
    if (chunk) sum.add(chunk)
  }
  return sum.completion()?.choices ?? []
}

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
    ...(reasoning !== '' && { reasoning: withoutTemplates(reasoning) }),
    ...((text !== '' || !isSilent) && { text: withoutTemplates(text) }),
    ...(refusal !== '' && { refusal: withoutTemplates(refusal) }),
    ...(calls.length > 0 && { toolCalls: calls.map(callForm) }),
    ...((finish === 'length' || finish === 'content_filter') && { finishReason: finish }),
  }
  return { form, calls: calls.map(({ name }) => name) }
}

/** The arguments of a function as a map if possible, which reads better, and which tests can inspect. */
function callForm({ kind, name, arguments: text }: ContentCall) {
  if (kind === 'custom') return { name, type: 'custom', arguments: withoutTemplates(text) } as const
  const value = exactJsonOf(text)
  return { name, arguments: isObject(value) && !hasTemplate(value) ? value : withoutTemplates(text) }
}

// Other paths.

/** The conditions are the query and the simple fields of the body. */
function pathRule({ request, status, response }: DraftSource): object {
  const { method, path, query = '', body } = request
  const on = `${method} ${path}`
  if (isDocumented(on)) throw notForARule("the platform's document defines the answers of this endpoint")
  if (method === 'HEAD') throw notForARule('the rule for GET answers HEAD')
  const trouble = whyInvalidRoute(on)
  if (trouble) throw notForARule(`${on} ${trouble}`)
  const when = {
    ...simpleConditions('query', fieldsIn(new URLSearchParams(query))),
    ...simpleConditions('body', isObject(body) ? body : formIn(body)),
  }
  const { body: content, type } = replyBody(response)
  const kept = ['location', 'retry-after', 'link'].filter(name => response.headers[name] !== undefined)
  const headers = {
    ...(type !== undefined && { 'content-type': type }),
    ...Object.fromEntries(kept.map(name => [name, withoutTemplates(response.headers[name] ?? '')])),
  }
  const answer = { ...(Object.keys(headers).length > 0 && { headers }), ...content }
  // A reply must not be empty.
  const reply = status === 200 && Object.keys(answer).length > 0 ? answer : { status, ...answer }
  return { name: slugOf(on) || 'rule', on, ...(Object.keys(when).length > 0 && { when }), reply }
}

/** The fields of a form, which is a text by itself. */
const formIn = (body: unknown): object =>
  typeof body === 'string' && /^[^\s=&]+=\S*$/.test(body) ? fieldsIn(new URLSearchParams(body)) : {}

const MOST_CONDITIONS = 5

/** Whether a text is short and has no special meaning in a condition: no stars, no slashes around it, no placeholder of a secret. */
const isSimple = (value: unknown) =>
  ['number', 'bigint', 'boolean'].includes(typeof value) ||
  (typeof value === 'string' &&
    value.length > 0 &&
    value.length <= LONGEST_CONDITION &&
    !/[*?]|^\/|\[[a-z][a-z0-9-]*\]/.test(value))

function simpleConditions(name: 'query' | 'body', values: object) {
  const simple = Object.entries(values).filter(([key, value]) => isSimple(value) && /^[\w-]+$/.test(key))
  return simple.length === 0 ? {} : { [name]: Object.fromEntries(simple.slice(0, MOST_CONDITIONS)) }
}

/** The body of a reply, and its content type where that does not follow from it. */
function replyBody(response: DraftSource['response']): { readonly body: object; readonly type?: string } {
  const { body } = response
  const { 'content-type': type = '' } = response.headers
  if (body === undefined || body === null || body === '') return { body: {} }
  if (typeof body !== 'string')
    return hasTemplate(body)
      ? { body: { text: withoutTemplates(JSON.stringify(body)) }, type }
      : { body: { json: body } }
  if (isStream(response)) return { body: { events: eventsOf(body) } }
  const isUsual = type.startsWith('text/plain') || type === ''
  return { body: { text: withoutTemplates(body) }, ...(!isUsual && { type }) }
}

/** The events of a stream. Their data is JSON where possible, which reads better. */
function eventsOf(body: string): readonly object[] {
  return eventsIn(Buffer.from(body)).flatMap(event => {
    const data = dataOf(event)
    if (data === undefined) return []
    const [, type] = /^event: ?(.*?)\r?$/m.exec(event.toString()) ?? []
    const value = jsonOf(data)
    const isText = value === undefined || hasTemplate(value)
    return [{ ...(type !== undefined && { event: type }), data: isText ? withoutTemplates(data) : value }]
  })
}
