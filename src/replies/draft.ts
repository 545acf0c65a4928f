/** Drafts a rule that repeats an answer, as a starting point for the author. */

import { dataIn, dataOf, eventsIn } from '../chat/events.js'
import { type ContentCall, chunkIn, completionIn, contentOf, createSum, type VendorChoice } from '../chat/reader.js'
import { blockYaml } from '../check/yaml.js'
import { notForARule, refusal } from '../core/errors.js'
import { exactJsonOf, isObject, jsonOf } from '../core/json.js'
import { type Answerable, ruleFor, shownMessage } from './answerable.js'
import type { ReplyForm } from './chat/form.js'
import { isDocumented } from './http/route.js'
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
  readonly yaml: string
  /** Remarks for the author, one sentence each. */
  readonly remarks: readonly string[]
}

/** The rule that repeats an answer to the same request. Throws a PlatformError that says why none can be drafted. */
export function draftOf(source: DraftSource, target: Answerable | string): Draft {
  const { status, complete, response } = source
  if (status === null) throw notForARule('it has no answer')
  if (typeof target === 'string') throw refusal(409, 'not_for_a_rule', target)
  const { on } = target
  const name = slugOf(on ?? shownMessage(source) ?? '') || 'rule'
  const rule = { ...ruleFor(target, name), reply: on === undefined ? chatReply(source) : replyAt(on, source) }
  const remarks = [
    response.truncated && 'The journal has only the beginning of the answer.',
    !response.truncated && !complete && 'The answer broke off; the draft has only the part before that.',
  ]
  return { rule, yaml: blockYaml([rule]), remarks: remarks.filter(remark => typeof remark === 'string') }
}

/** A redacted secret, which no request contains. */
const placeholder = /\[[a-z][a-z0-9-]*\]/g
const LONGEST_NAME = 40

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
  if (words.length <= LONGEST_NAME) return words
  const end = words.lastIndexOf('-', LONGEST_NAME)
  return words.slice(0, end > LONGEST_NAME / 2 ? end : LONGEST_NAME)
}

/** Escapes text that looks like a template. The tag that would end the escaping is taken apart. */
export const withoutTemplates = (text: string) =>
  hasTemplate(text) ? `{% raw %}${text.replace(/\{%(?=-?\s*endraw)/g, '{%{% endraw %}{% raw %}')}{% endraw %}` : text

// Chat completions.

/** Throws a PlatformError that says why no reply can be drafted. */
function chatReply(source: DraftSource): object {
  const { status, response } = source
  if (status !== null && status >= 400) return { fault: faultOf(source) }
  const choices = choicesIn(response)
  if (choices.length === 0) {
    const cutShort = 'the journal has only the beginning of its answer'
    throw notForARule(response.truncated ? cutShort : 'its answer is not a chat completion')
  }
  const [only, ...others] = choices.map(choiceForm)
  return others.length === 0 && only ? only : { choices: [only, ...others] }
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

function choiceForm({ message, finish_reason: finish }: VendorChoice): object {
  const { text, refusal, reasoning, calls: all } = contentOf(message)
  const calls = all.filter(({ name }) => name !== '')
  const isSilent = calls.length > 0 || refusal !== ''
  return {
    ...(reasoning !== '' && { reasoning: withoutTemplates(reasoning) }),
    ...((text !== '' || !isSilent) && { text: withoutTemplates(text) }),
    ...(refusal !== '' && { refusal: withoutTemplates(refusal) }),
    ...(calls.length > 0 && { toolCalls: calls.map(callForm) }),
    ...((finish === 'length' || finish === 'content_filter') && { finishReason: finish }),
  }
}

/** The arguments of a function as a map if possible, which reads better, and which tests can inspect. */
function callForm({ kind, name, arguments: text }: ContentCall) {
  if (kind === 'custom') return { name, type: 'custom', arguments: withoutTemplates(text) } as const
  const value = exactJsonOf(text)
  return { name, arguments: isObject(value) && !hasTemplate(value) ? value : withoutTemplates(text) }
}

// Other paths.

function replyAt(on: string, { request, status, response }: DraftSource): object {
  if (request.method === 'HEAD') throw notForARule('the rule for GET answers HEAD')
  if (!on.includes(' /')) throw notForARule('it is a call of an MCP server')
  if (isDocumented(on)) throw notForARule("the platform's document defines the answers of this endpoint")
  const { body: content, type } = replyBody(response)
  const kept = ['location', 'retry-after', 'link'].filter(name => response.headers[name] !== undefined)
  const headers = {
    ...(type !== undefined && { 'content-type': type }),
    ...Object.fromEntries(kept.map(name => [name, withoutTemplates(response.headers[name] ?? '')])),
  }
  const answer = { ...(Object.keys(headers).length > 0 && { headers }), ...content }
  // A reply must not be empty.
  return status === 200 && Object.keys(answer).length > 0 ? answer : { status, ...answer }
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
