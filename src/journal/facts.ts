/**
 * Facts about an exchange that are cheap to compute: what it requested, the tokens it used, and when its first token
 * was sent.
 */
import { saidByUser } from '../chat/said.js'
import type { Facts } from '../core/caller.js'
import { MOST_TIMED_PIECES } from '../core/clock.js'
import { type Exchange, type Outcome, sourceOf } from '../core/exchange.js'
import { isObject, jsonOf } from '../core/json.js'
import { callTitle } from '../core/json-rpc.js'
import { isAuth } from '../core/paths.js'
import type { Reply, UpstreamResponse } from '../core/reply.js'

/** The facts that filters match. They are not redacted, and those that need the body are computed only when accessed. */
export function factsOf(exchange: Exchange): Facts {
  const { method, path, caller, scope, endpoint, mode = null, outcome } = exchange
  return {
    method,
    path,
    caller,
    scope,
    mode,
    endpoint: endpoint ? `${endpoint.method} ${endpoint.path}` : null,
    status: outcome?.status || null,
    source: sourceOf(outcome),
    error: outcome?.error ?? null,
    complete: outcome?.complete ?? false,
    findings: exchange.violations?.length ?? 0,
    get model() {
      return contentOf(exchange).model
    },
    get call() {
      return callOf(exchange)
    },
    get prompt() {
      return contentOf(exchange).prompt
    },
    get missed() {
      return isMissed(exchange)
    },
  }
}

/** The content of a request. */
interface RequestContent {
  readonly model: string | null
  /** The beginning of what the user said last. */
  readonly prompt: string | null
  /** The MCP call, such as `tools/call get_weather`. */
  readonly call: string | null
  readonly stream: boolean | null
}

/** Longer bodies are not parsed to be shown. */
export const READ_BYTES = 262_144
const cache = new WeakMap<Buffer, RequestContent>()

/** Also works for requests that were refused or forwarded. */
export function contentOf({ chat, body }: Exchange): RequestContent {
  const cached = body && cache.get(body)
  if (cached) return cached
  // A chat request is an object, so nothing else is parsed.
  const isRead = body !== undefined && body[0] === 0x7b && body.length <= READ_BYTES
  const content = contentIn(chat ?? (isRead ? jsonOf(body) : undefined))
  if (body) cache.set(body, content)
  return content
}

/** Cheap for bodies that are not MCP messages. */
export function callOf(exchange: Exchange): string | null {
  const { chat, body } = exchange
  if (chat || !body || body.length > READ_BYTES || !body.includes('"jsonrpc"')) return null
  return contentOf(exchange).call
}

function contentIn(value: unknown): RequestContent {
  const { model, messages, stream, jsonrpc, method, params } = (value ?? {}) as Record<string, unknown>
  const isChat = Array.isArray(messages)
  const isCall = jsonrpc === '2.0' && typeof method === 'string'
  return {
    model: typeof model === 'string' ? model : null,
    prompt: isChat ? promptIn(messages) : null,
    call: isCall ? callTitle({ method, params: isObject(params) ? params : {} }) : null,
    stream: isChat ? stream === true : null,
  }
}

/**
 * Longer than what is shown, so that a secret at the end is either whole or missing: half a secret is not recognized.
 */
const PROMPT_CHARACTERS = 2000

/**
 * The last word, which was possibly cut and may be part of a secret. Chinese, Japanese and Thai have no spaces, and JSON
 * needs none, so quotes, braces and characters beyond ASCII end a word as well.
 */
const lastWord = /(?<![^\s"'<>`{}|^\u0080-\uffff])[^\s"'<>`{}|^\u0080-\uffff]+$/
const halfCharacter = /[\ud800-\udbff]$/

function promptIn(messages: readonly unknown[]): string | null {
  const text = saidByUser(messages) ?? ''
  return (text.length <= PROMPT_CHARACTERS ? text : beginningOf(text)).trim() || null
}

const beginningOf = (text: string) => text.slice(0, PROMPT_CHARACTERS).replace(halfCharacter, '').replace(lastWord, '')

/** The email address or phone number that a request to the auth backend names. */
export function accountOf({ path, body }: Exchange): string | null {
  if (!isAuth(path) || !body || body.length > READ_BYTES) return null
  const { email, phone } = (jsonOf(body) ?? {}) as Record<string, unknown>
  const named = [email, phone].find(value => typeof value === 'string' && value !== '')
  return (named as string | undefined) ?? null
}

/** How many tokens of a stream have been sent so far: each event but the first one, which only has the role, is about one. */
export function tokensSoFarOf({ outcome }: Exchange): number {
  const { answer, piecesAtMs: { length } = [] } = outcome ?? {}
  if (answer?.kind !== 'upstream') return Math.max(0, length - 1)
  const events = Buffer.concat(answer.beginning)
    .toString('latin1')
    .match(/^data:/gm)
  return Math.max(0, (events?.length ?? 0) - 1)
}

/** Counting the tokens of a longer prompt takes too long. */
const COUNTED_BYTES = 32_768
/** Usage comes at the end of an answer. */
const USAGE_BYTES = 1024

const cuttingFaults = ['fail', 'end', 'finish', 'truncate'] as const

/** Whether only a part of the answer was sent. */
const isCut = ({ complete, fault }: Outcome) =>
  !complete || (fault?.isSpoilt === true && cuttingFaults.some(key => fault.fault[key] !== undefined))

/**
 * The tokens that the answer reports; for a stream without usage, the tokens counted here. Those of the part of an answer
 * that was cut are not known.
 */
export function tokensOf({ body, outcome }: Exchange) {
  if (!outcome || isCut(outcome)) return null
  const { answer } = outcome
  if (answer?.kind === 'reply' && answer.tokens && (body?.length ?? 0) <= COUNTED_BYTES) {
    const { prompt, completion } = answer.tokens
    return { prompt, completion }
  }
  const end = endOf(answer)
  const [, prompt] = /"prompt_tokens"\s*:\s*(\d+)/.exec(end) ?? []
  const [, completion] = /"completion_tokens"\s*:\s*(\d+)/.exec(end) ?? []
  return prompt && completion ? { prompt: Number(prompt), completion: Number(completion) } : null
}

function endOf(answer: Reply | UpstreamResponse | undefined): string {
  if (!answer) return ''
  if (answer.kind === 'upstream') {
    const bytes = Buffer.concat(answer.beginning)
    return bytes.length < answer.bytes ? '' : bytes.subarray(-USAGE_BYTES).toString('latin1')
  }
  const { body } = answer
  if (typeof body === 'string') return body.slice(-USAGE_BYTES)
  if (Buffer.isBuffer(body)) return body.subarray(-USAGE_BYTES).toString('latin1')
  return `${body.pieces.at(-1) ?? ''}${body.tail}`.slice(-USAGE_BYTES)
}

/** The time from the request to the first piece of a stream; null if the answer was sent in one piece. */
export function firstTokenMsOf({ outcome, startedMs }: Exchange): number | null {
  const [first] = outcome?.piecesAtMs ?? []
  return first === undefined || outcome?.beganMs === undefined ? null : rounded(outcome.beganMs - startedMs + first)
}

export const rounded = (ms: number) => Math.round(ms * 100) / 100

/** Whether no rule or recording matched. If there are rules, a canned reply has a remark about the nearest one. */
export const isMissed = ({ outcome }: Exchange) =>
  (outcome?.remark !== undefined && outcome.answeredBy?.kind === 'canned') ||
  outcome?.code === 'no_rule_matches' ||
  outcome?.code === 'no_recording'

/** The size of the request's body, as far as known. */
export const bodyBytesOf = ({ body, bodyCutFromBytes }: Exchange) => bodyCutFromBytes ?? body?.length ?? 0

/** Whether the request can be repeated, because its whole body was kept or it has none. */
export function isRepeatable({ body, bodyCutFromBytes, headers }: Exchange): boolean {
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
  return bodyCutFromBytes === undefined && (body !== undefined || !hasBody)
}

/** The size of the answer's body, as far as it was sent. */
export function responseBytesOf({ outcome }: Exchange): number {
  const { answer, sentBytes } = outcome ?? {}
  if (!answer) return 0
  if (answer.kind === 'upstream') return answer.bytes
  if (sentBytes !== undefined) return sentBytes
  const { body } = answer
  if (typeof body === 'string' || Buffer.isBuffer(body)) return Buffer.byteLength(body)
  const { head, before, pieces, after, tail, isLatin1 } = body
  const length = (text: string) => (isLatin1 ? text.length : Buffer.byteLength(text))
  const framing = length(before) + length(after)
  return pieces.reduce((sum, piece) => sum + framing + length(piece), length(head) + length(tail))
}

/** The number of pieces with a time, or of all pieces if more were sent than timed. */
export function piecesOf({ outcome }: Exchange): number {
  const { answer, complete, piecesAtMs: { length } = [] } = outcome ?? {}
  if (!complete || length < MOST_TIMED_PIECES || answer?.kind !== 'reply') return length
  return typeof answer.body === 'string' || Buffer.isBuffer(answer.body) ? length : answer.body.pieces.length
}

/** What names a scope, in words. */
const scopeSourceInWords: Readonly<Record<string, string>> = {
  token: 'its token',
  apiKey: 'its API key',
  body: 'the user in its body',
  baggage: 'its baggage',
  header: 'its header x-standin-scope',
}

/** Says that a request could belong to more than one scope, if so. */
export function scopesInWords({ scopeCandidates: candidates }: Exchange): string | undefined {
  if (!candidates) return undefined
  const all = candidates.map(({ by, scope }) => `"${scope}" by ${scopeSourceInWords[by] ?? by}`)
  return `It could belong to different scopes: ${all.join(', ')}. The first one counts.`
}
