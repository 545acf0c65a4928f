/** Gives errors of the live platform the documented body (platform-api.md, "Errors"): `{ error: <string> }`, and `path` on a 404. */
import { isUtf8 } from 'node:buffer'
import { createEventSplitter, dataOf } from '../chat/events.js'
import { upstreamUnreachable, upstreamUnreadable } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { decompress, headerIn, replyBytes } from '../core/http.js'
import { isJsonType, isObject, jsonOf } from '../core/json.js'
import type { Reply, UpstreamResponse } from '../core/reply.js'
import { STATUS_CODES } from './node-http.js'
import { pageText } from './page-text.js'

/** An error as the live platform sent it. */
interface LiveError {
  readonly status: number
  /** Node's flat array. */
  readonly headers: readonly string[]
  /** Still compressed if it arrived compressed. */
  readonly body: Buffer
  /** Whether `body` has all of the error. */
  readonly isComplete: boolean
}

/** The headers and body to send instead. */
interface DocumentedError {
  /** Node's flat array. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

type MethodAndUrlPath = Pick<Exchange, 'method' | 'path'>

/** At most this much of an error is held in memory to be inspected. */
export const MOST_ERROR_BYTES = 262_144
/** The limit for an error after decompression. */
const MOST_DECOMPRESSED_BYTES = 1_048_576
/** Error messages are cut to this length, since pages and texts may be long. */
const MOST_CHARACTERS = 500

/** The documented form of an error; `undefined` if the error already has it and can be forwarded unchanged. */
export function documentedError(
  { status, headers, body, isComplete }: LiveError,
  { method, path }: MethodAndUrlPath,
): DocumentedError | undefined {
  const type = headerIn(headers, 'content-type') ?? ''
  // The response to HEAD has no body, so only its content type counts, and no length is sent.
  if (method === 'HEAD') return isJsonType(type) ? undefined : { headers: jsonHeaders(headers), body: Buffer.alloc(0) }
  const text = textOf(body, type, headerIn(headers, 'content-encoding'))
  const value = isComplete ? jsonOf(text) : undefined
  const isError = isObject(value) && typeof value.error === 'string'
  if (isError && (status !== 404 || typeof value.path === 'string')) {
    return isJsonType(type) ? undefined : { headers: jsonHeaders(headers, /^content-type$/i), body }
  }
  // If only the path is missing, everything else in the body stays as it is.
  const json =
    isError && !('path' in value)
      ? text.trimEnd().replace(/\}$/, `,"path":${JSON.stringify(path)}}`)
      : JSON.stringify({ error: reasonOf(text, type, value) ?? statusText(status), ...(status === 404 && { path }) })
  const bytes = Buffer.from(json)
  return { headers: [...jsonHeaders(headers), 'content-length', String(bytes.length)], body: bytes }
}

/**
 * The reply to send for a recording: an error gets the documented form, as in the proxy. Throws a 502 where the proxy
 * would answer with one.
 */
export function replayedReply(reply: Reply, request: MethodAndUrlPath, errors: 'documented' | 'untouched'): Reply {
  if (!isStatus(reply.status)) throw upstreamUnreadable(`status ${reply.status}`)
  if (errors !== 'documented' || reply.status < 400) return reply
  const documented = documentedReply(reply, request)
  return { ...documented, remark: () => errorMessageIn(replyBytes(documented)) }
}

function documentedReply(reply: Reply, request: MethodAndUrlPath): Reply {
  const { status, contentType, headers: more = [], fault } = reply
  if (fault) throw upstreamUnreachable('its answer broke off')
  const headers = [...(contentType === '' ? [] : ['content-type', contentType]), ...more]
  const bytes = replyBytes(reply)
  const isComplete = bytes.length <= MOST_ERROR_BYTES
  const replacement = documentedError(
    { status, headers, body: bytes.subarray(0, MOST_ERROR_BYTES), isComplete },
    request,
  )
  if (!replacement) return reply
  const { headers: newHeaders, body } = replacement
  return {
    ...{ ...reply, contentType: headerIn(newHeaders, 'content-type') ?? '' },
    ...{ headers: withoutHeaders(newHeaders, /^content-(type|length)$/i), body: body.toString() },
    upstream: upstreamResponse(headers, bytes),
  }
}

/** Whether a number is the status of a final response: RFC 9110 §15 ends at 599, and fetch refuses anything above. */
export const isStatus = (status: number) => status >= 200 && status <= 599

/** At most this much of a body is kept for the journal. */
export const MOST_KEPT_BYTES = 65_536

/** The message of a live error as the client got it, for the log. */
export function errorMessageIn(body: Buffer | string): string | undefined {
  if (body.length > MOST_KEPT_BYTES) return undefined
  const value = jsonOf(body.toString())
  const message = isObject(value) && typeof value.error === 'string' ? value.error.trim() : ''
  return message === '' ? undefined : message.slice(0, MOST_CHARACTERS)
}

/** What the live platform sent, as the journal keeps it. `bytes` is the size of the whole body. */
export const upstreamResponse = (headers: readonly string[], body: Buffer, bytes = body.length): UpstreamResponse => ({
  ...{ kind: 'upstream', headers, bytes },
  // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
  beginning: body.length === 0 ? [] : [Buffer.from(body.subarray(0, MOST_KEPT_BYTES))],
})

/** Headers that describe the body, and so are removed when it is replaced. */
const bodyHeaders =
  /^(content-(type|length|encoding|language|location|disposition|range|md5|digest)|transfer-encoding|etag|last-modified|accept-ranges|(repr-)?digest)$/i

const withoutHeaders = (headers: readonly string[], names: RegExp) =>
  headers.filter((_, i) => !names.test(headers[i - (i % 2)] ?? ''))

const jsonHeaders = (headers: readonly string[], replaced = bodyHeaders) => [
  ...withoutHeaders(headers, replaced),
  ...['content-type', 'application/json'],
]

/** Returns an empty string if the body cannot be read as text. */
function textOf(body: Buffer, type: string, encoding: string | undefined): string {
  if (body.length === 0) return ''
  try {
    const bytes = decompress(body, encoding, MOST_DECOMPRESSED_BYTES)
    const [, charset = isUtf8(bytes) ? 'utf-8' : 'windows-1252'] = /charset\s*=\s*"?([\w.:-]+)/i.exec(type) ?? []
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return ''
  }
}

/** The platform's reason for the error; `undefined` if it gives none. */
function reasonOf(text: string, type: string, value: unknown): string | undefined {
  if (value !== undefined) return messageTextIn(value)
  if (/^text\/event-stream\b/i.test(type)) {
    const [event = ''] = createEventSplitter()
      .push(Buffer.from(`${text}\n\n`))
      .flatMap(event => dataOf(event) ?? [])
    return messageTextIn(jsonOf(event)) ?? shortened(event)
  }
  if (/\bhtml\b/i.test(type) || /^\s*</.test(text)) return shortened(pageText(text))
  return shortened(text)
}

/** The fields in which error bodies put their message, most likely first. In some bodies it is one level deeper. */
const messageFields = ['error', 'message', 'detail', 'title', 'msg', 'errors'] as const
const MOST_LEVELS = 4
/** At most this many items of a list, since some platforms report each invalid field separately. */
const MOST_ITEMS = 10

function messageTextIn(value: unknown, level = 0): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (level === MOST_LEVELS || typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    return (
      value
        .slice(0, MOST_ITEMS)
        .flatMap(item => messageTextIn(item, level + 1) ?? [])
        .join('; ') || undefined
    )
  }
  for (const place of messageFields) {
    const words = Object.hasOwn(value, place)
      ? messageTextIn((value as Record<string, unknown>)[place], level + 1)
      : undefined
    if (words !== undefined) return words
  }
  return undefined
}

/** Returns `undefined` for bytes that are not text. */
function shortened(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: text has no control characters
  if (/[\0-\x08]/.test(text.slice(0, MOST_CHARACTERS))) return undefined
  const short = text
    .slice(0, 8 * MOST_CHARACTERS)
    .replace(/\s+/g, ' ')
    .trim()
  if (short === '') return undefined
  // Does not cut a surrogate pair in half.
  return short.length <= MOST_CHARACTERS
    ? short
    : `${short
        .slice(0, MOST_CHARACTERS)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`
}

const statusText = (status: number) => STATUS_CODES[status] ?? `Status ${status}`
