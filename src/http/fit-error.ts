/** Makes errors of the live platform fit its document ("Errors"): `{ error: <string> }`, and `path` on a 404. */
import { isUtf8 } from 'node:buffer'
import { STATUS_CODES } from 'node:http'
import { createEventSplitter, dataOf } from '../completions/events.js'
import { upstreamUnreachable, upstreamUnreadable } from '../core/errors.js'
import type { Exchange, Reply, UpstreamResponse } from '../core/exchange.js'
import { decompress, headerIn, replyBytes } from '../core/http.js'
import { isJsonType, isObject, jsonOf } from '../core/json.js'
import { pageText } from './page-text.js'

/** An error as the live platform sent it. */
interface ErrorAnswer {
  readonly status: number
  /** Node's flat array. */
  readonly headers: readonly string[]
  /** Still compressed if it arrived compressed. */
  readonly body: Buffer
  /** Whether `body` is complete. */
  readonly isWhole: boolean
}

/** What is sent instead. */
interface FittedError {
  /** Node's flat array. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

type MethodAndUrlPath = Pick<Exchange, 'method' | 'path'>

/** Larger errors are not held in memory to be inspected. */
export const MOST_ERROR_BYTES = 262_144
/** The limit for an error after decompression. */
const MOST_PLAIN_BYTES = 1_048_576
/** Pages and texts may be long; an error message is short. */
const MOST_LETTERS = 500

/** Returns `undefined` for an answer that is as documented. It is then passed on unchanged. */
export function fitted(
  { status, headers, body, isWhole }: ErrorAnswer,
  { method, path }: MethodAndUrlPath,
): FittedError | undefined {
  const type = headerIn(headers, 'content-type') ?? ''
  // The response to HEAD has no body: it is judged by its type, and the length of ours is unknown.
  if (method === 'HEAD') return isJsonType(type) ? undefined : { headers: ofJson(headers), body: Buffer.alloc(0) }
  const text = textIn(body, type, headerIn(headers, 'content-encoding'))
  const value = isWhole ? jsonOf(text) : undefined
  const isError = isObject(value) && typeof value.error === 'string'
  if (isError && (status !== 404 || typeof value.path === 'string')) {
    return isJsonType(type) ? undefined : { headers: ofJson(headers, /^content-type$/i), body }
  }
  // Only the path is missing. Everything else in the body stays as it is.
  const fitting =
    isError && !('path' in value)
      ? text.trimEnd().replace(/\}$/, `,"path":${JSON.stringify(path)}}`)
      : JSON.stringify({ error: reasonIn(text, type, value) ?? statusText(status), ...(status === 404 && { path }) })
  const bytes = Buffer.from(fitting)
  return { headers: [...ofJson(headers), 'content-length', String(bytes.length)], body: bytes }
}

/**
 * The reply to send for a recording, with errors made to fit the document. Throws a 502 where the proxy would have
 * answered with one.
 */
export function deliverable(reply: Reply, request: MethodAndUrlPath, errors: 'documented' | 'untouched'): Reply {
  if (!isStatus(reply.status)) throw upstreamUnreadable(`status ${reply.status}`)
  if (errors !== 'documented' || reply.status < 400) return reply
  const delivered = fittedReply(reply, request)
  return { ...delivered, remark: () => messageIn(replyBytes(delivered)) }
}

function fittedReply(reply: Reply, request: MethodAndUrlPath): Reply {
  const { status, contentType, headers: more = [], fault } = reply
  // As the proxy does.
  if (fault) throw upstreamUnreachable('its answer broke off')
  const headers = [...(contentType === '' ? [] : ['content-type', contentType]), ...more]
  const bytes = replyBytes(reply)
  const isWhole = bytes.length <= MOST_ERROR_BYTES
  const found = fitted({ status, headers, body: bytes.subarray(0, MOST_ERROR_BYTES), isWhole }, request)
  if (!found) return reply
  const { headers: ours, body } = found
  return {
    ...{ ...reply, contentType: headerIn(ours, 'content-type') ?? '' },
    ...{ headers: without(ours, /^content-(type|length)$/i), body: body.toString() },
    upstream: asUpstream(headers, bytes),
  }
}

/** Whether a number is the status of a final response: RFC 9110 §15 ends at 599, and fetch refuses anything above. */
export const isStatus = (status: number) => status >= 200 && status <= 599

/** At most this much of a body is kept for inspection. */
export const KEPT_BYTES = 65_536

/** The message of a live error as the client got it, for the log. */
export function messageIn(body: Buffer | string): string | undefined {
  if (body.length > KEPT_BYTES) return undefined
  const value = jsonOf(body.toString())
  const message = isObject(value) && typeof value.error === 'string' ? value.error.trim() : ''
  return message === '' ? undefined : message.slice(0, MOST_LETTERS)
}

/** What the live platform sent, in the form that the journal keeps. */
export const asUpstream = (headers: readonly string[], body: Buffer, bytes = body.length): UpstreamResponse => ({
  ...{ kind: 'upstream', headers, bytes },
  // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
  beginning: body.length === 0 ? [] : [Buffer.from(body.subarray(0, KEPT_BYTES))],
})

/** Headers that describe the body, which is being replaced. */
const ofBody =
  /^(content-(type|length|encoding|language|location|disposition|range|md5|digest)|transfer-encoding|etag|last-modified|accept-ranges|(repr-)?digest)$/i

const without = (headers: readonly string[], names: RegExp) =>
  headers.filter((_, i) => !names.test(headers[i - (i % 2)] ?? ''))

const ofJson = (headers: readonly string[], replaced = ofBody) => [
  ...without(headers, replaced),
  ...['content-type', 'application/json'],
]

/** Returns an empty string if the body cannot be read as text. */
function textIn(body: Buffer, type: string, encoding: string | undefined): string {
  if (body.length === 0) return ''
  try {
    const bytes = decompress(body, encoding, MOST_PLAIN_BYTES)
    const [, charset = isUtf8(bytes) ? 'utf-8' : 'windows-1252'] = /charset\s*=\s*"?([\w.:-]+)/i.exec(type) ?? []
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return ''
  }
}

/** The platform's reason for the error; `undefined` if it gives none. */
function reasonIn(text: string, type: string, value: unknown): string | undefined {
  if (value !== undefined) return wordsIn(value)
  if (/^text\/event-stream\b/i.test(type)) {
    const [event = ''] = createEventSplitter()
      .push(Buffer.from(`${text}\n\n`))
      .flatMap(event => dataOf(event) ?? [])
    return wordsIn(jsonOf(event)) ?? shortened(event)
  }
  if (/\bhtml\b/i.test(type) || /^\s*</.test(text)) return shortened(pageText(text))
  return shortened(text)
}

/** The fields in which error bodies put their message, most likely first. In some bodies it is one level deeper. */
const places = ['error', 'message', 'detail', 'title', 'msg', 'errors'] as const
const MOST_LEVELS = 4
/** Some platforms report each invalid field separately. */
const MOST_ITEMS = 10

function wordsIn(value: unknown, level = 0): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (level === MOST_LEVELS || typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    return (
      value
        .slice(0, MOST_ITEMS)
        .flatMap(item => wordsIn(item, level + 1) ?? [])
        .join('; ') || undefined
    )
  }
  for (const place of places) {
    const words = Object.hasOwn(value, place)
      ? wordsIn((value as Record<string, unknown>)[place], level + 1)
      : undefined
    if (words !== undefined) return words
  }
  return undefined
}

/** Returns `undefined` for bytes that are not text. */
function shortened(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: text has no control characters
  if (/[\0-\x08]/.test(text.slice(0, MOST_LETTERS))) return undefined
  const short = text
    .slice(0, 8 * MOST_LETTERS)
    .replace(/\s+/g, ' ')
    .trim()
  if (short === '') return undefined
  // Does not cut a surrogate pair in half.
  return short.length <= MOST_LETTERS
    ? short
    : `${short
        .slice(0, MOST_LETTERS)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`
}

const statusText = (status: number) => STATUS_CODES[status] ?? `Status ${status}`
