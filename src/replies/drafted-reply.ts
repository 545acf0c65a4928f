/** The reply of a drafted rule: the text and calls of an answer, its pace, or its failure. */

import * as v from 'valibot'
import { open } from '../check/check.js'
import { dataIn } from '../completions/events.js'
import {
  type ContentCall,
  chunkIn,
  completionIn,
  contentOf,
  createSum,
  type VendorChoice,
} from '../completions/reader.js'
import type { ChatRequest } from '../completions/request.js'
import { notForARule } from '../core/errors.js'
import { exactJsonOf, isObject, jsonOf } from '../core/json.js'
import type { ReplyForm } from './reply-form.js'
import { hasTemplate } from './templates.js'

/** An exchange as the journal shows it, without secrets. */
export interface DraftSource {
  readonly request: { readonly method: string; readonly path: string; readonly query?: string; readonly body?: unknown }
  readonly status: number | null
  readonly complete: boolean
  readonly error: string | null
  readonly firstByteMs: number | null
  readonly response: {
    readonly headers: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly truncated: boolean
    readonly piecesAtMs: readonly number[]
  }
}

type ResponseFacts = Omit<DraftSource, 'request'>

export interface DraftedReply {
  /** The reply, as in a rule. */
  readonly form: object
  /** The tools that it calls. */
  readonly calls: readonly string[]
  readonly pace?: { readonly firstTokenMs: number; readonly tokensPerSecond: number }
  readonly remarks: readonly string[]
}

/** Throws a PlatformError that says why no reply can be drafted. */
export function replyOf(source: ResponseFacts, request: ChatRequest): DraftedReply {
  const { status, response } = source
  const incompleteRemarks = source.complete ? [] : ['The answer broke off; the draft has only the part before that.']
  if (status !== null && status >= 400) return { form: { fault: faultOf(source) }, calls: [], remarks: [] }
  const isStream = /^text\/event-stream\b/i.test(response.headers['content-type'] ?? '')
  const { choices, pieces } = isStream ? choicesIn(String(response.body ?? '')) : wholeChoices(response.body)
  if (choices.length === 0) throw notForARule(reasonWithoutChoices(response.truncated))
  const truncatedRemarks = response.truncated ? ['The journal has only the beginning of the answer.'] : []
  const drafts = choices.map(choice => draftedChoice(choice))
  const [first] = drafts
  return {
    form: drafts.length === 1 && first ? first.form : { choices: drafts.map(({ form }) => form) },
    calls: drafts.flatMap(({ calls }) => calls),
    ...(isStream && paceOf(source, pieces)),
    remarks: [...(response.truncated ? truncatedRemarks : incompleteRemarks), ...remarksOn(request)],
  }
}

const reasonWithoutChoices = (truncated: boolean) =>
  truncated ? 'the journal has only the beginning of its answer' : 'its answer is not a chat completion'

const remarksOn = ({ n }: ChatRequest) =>
  (n ?? 1) > 1 ? [`The request wanted ${n} choices; a request for fewer gets the first ones.`] : []

function faultOf({ status, error, response }: ResponseFacts): NonNullable<ReplyForm['fault']> {
  const wait = Number(response.headers['retry-after'] ?? Number.NaN)
  const message = error ?? messageIn(response.body)
  return {
    status: Math.min(status ?? 500, 599),
    ...(message && { message }),
    ...(Number.isInteger(wait) && wait >= 0 && { retryAfter: wait }),
  }
}

const failure = v.union([open({ error: v.string() }), open({ error: open({ message: v.string() }) })])

function messageIn(body: unknown): string | undefined {
  const result = v.safeParse(failure, body)
  if (!result.success) return undefined
  const { error } = result.output
  return typeof error === 'string' ? error : error.message
}

/** The choices of an answer, and the number of pieces in which they arrived. */
function choicesIn(events: string) {
  const sum = createSum()
  let pieces = 0
  for (const data of dataIn(Buffer.from(events))) {
    const chunk = chunkIn(jsonOf(data))
    pieces += chunk?.choices?.length ?? 0
    if (chunk) sum.add(chunk)
  }
  return { choices: sum.completion().choices, pieces }
}

function wholeChoices(body: unknown) {
  const choices = completionIn(body)?.choices ?? []
  return { choices, pieces: choices.length }
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

/** Escapes text that looks like a template. */
export const plain = (text: string) => (hasTemplate(text) ? `{% raw %}${text}{% endraw %}` : text)

/** Faster than this counts as "as fast as possible". */
const NO_TIME_MS = 20

/** The pace of an answer with this many pieces; empty if it came all at once. */
export function paceOf({ firstByteMs, response: { piecesAtMs } }: ResponseFacts, events: number) {
  const [first = 0] = piecesAtMs
  const spanMs = (piecesAtMs.at(-1) ?? 0) - first
  if (piecesAtMs.length < 2 || spanMs < NO_TIME_MS) return {}
  const perSecond = ((Math.max(events, piecesAtMs.length) - 1) * 1000) / spanMs
  const tokensPerSecond = Math.max(1, Math.round(perSecond))
  return { pace: { firstTokenMs: Math.round((firstByteMs ?? 0) + first), tokensPerSecond } }
}
