/** Gives errors of the live platform the documented body (platform-api.md, "Errors"): `{ error: <string> }`, and `path` on a 404. */
import { isUtf8 } from 'node:buffer'
import { dataIn } from '../chat/events.js'
import { upstreamUnreachable, upstreamUnreadable } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { decompress, headerIn, noBytes, replyBytes } from '../core/http.js'
import { isJsonType, isObject, jsonOf } from '../core/json.js'
import type { Reply, UpstreamResponse } from '../core/reply.js'
import { STATUS_CODES } from './node-http.js'

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

type MethodAndUrlPath = Pick<Exchange, 'method' | 'path'>

/** At most this much of an error is held in memory to be inspected. */
export const MOST_ERROR_BYTES = 262_144
/** The limit for an error after decompression. */
const MOST_DECOMPRESSED_BYTES = 1_048_576
/** Error messages are cut to this length, since pages and texts may be long. */
const MOST_CHARACTERS = 500

/** The headers, as node's flat array, and the body to send instead; `undefined` if the error can be forwarded unchanged. */
export function documentedError(
  { status, headers, body, isComplete }: LiveError,
  { method, path }: MethodAndUrlPath,
): { readonly headers: readonly string[]; readonly body: Buffer } | undefined {
  const type = headerIn(headers, 'content-type') ?? ''
  // The response to HEAD has no body, so only its content type counts, and no length is sent.
  if (method === 'HEAD') return isJsonType(type) ? undefined : { headers: jsonHeaders(headers), body: noBytes }
  const text = textOfError(body, type, headerIn(headers, 'content-encoding'))
  const value = isComplete ? jsonOf(text) : undefined
  const isError = isObject(value) && typeof value.error === 'string'
  if (isError && (status !== 404 || typeof value.path === 'string')) {
    return isJsonType(type) ? undefined : { headers: jsonHeaders(headers, /^content-type$/i), body }
  }
  // If only the path is missing, everything else in the body stays as it is.
  const json =
    isError && !('path' in value)
      ? text.trimEnd().replace(/\}$/, `,"path":${JSON.stringify(path)}}`)
      : JSON.stringify({
          error: reasonIn(text, type, value, status) ?? statusText(status),
          ...(status === 404 && { path }),
        })
  const bytes = Buffer.from(json)
  return { headers: [...jsonHeaders(headers), 'content-length', String(bytes.length)], body: bytes }
}

/**
 * The reply to send for a recording: an error gets the documented form, as in the proxy. Throws a 502 where the proxy
 * would answer with one.
 */
export function replayedReply(reply: Reply, request: MethodAndUrlPath, errors: 'documented' | 'untouched'): Reply {
  const { status, contentType, headers: more = [], fault } = reply
  if (!isStatus(status)) throw upstreamUnreadable(`status ${status}`)
  if (errors !== 'documented' || status < 400) return reply
  if (fault) throw upstreamUnreachable('its answer broke off')
  const headers = [...(contentType === '' ? [] : ['content-type', contentType]), ...more]
  const bytes = replyBytes(reply)
  const isComplete = bytes.length <= MOST_ERROR_BYTES
  const documented = documentedError(
    { status, headers, body: bytes.subarray(0, MOST_ERROR_BYTES), isComplete },
    request,
  )
  if (!documented) return { ...reply, remark: () => errorMessageIn(bytes) }
  return {
    ...reply,
    contentType: headerIn(documented.headers, 'content-type') ?? '',
    headers: withoutHeaders(documented.headers, /^content-(type|length)$/i),
    body: documented.body.toString(),
    upstream: upstreamResponse(headers, bytes),
    remark: () => errorMessageIn(documented.body),
  }
}

/** Whether a number is the status of a final response: RFC 9110 §15 ends at 599, and fetch refuses anything above. */
export const isStatus = (status: number) => status >= 200 && status <= 599

/** At most this much of a body is kept for the journal. */
export const MOST_KEPT_BYTES = 81_920

/** The message of a live error as the client got it, for the log. */
export function errorMessageIn(body: Buffer): string | undefined {
  if (body.length > MOST_KEPT_BYTES) return undefined
  const value = jsonOf(body.toString())
  const message = isObject(value) && typeof value.error === 'string' ? value.error.trim() : ''
  return message === '' ? undefined : wholeWords(message)
}

/** What the live platform sent, as the journal keeps it. `bytes` is the size of the whole body. */
export const upstreamResponse = (headers: readonly string[], body: Buffer, bytes = body.length): UpstreamResponse => ({
  kind: 'upstream',
  headers,
  bytes,
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
  'content-type',
  'application/json',
]

/** Returns an empty string if the body cannot be read as text. */
function textOfError(body: Buffer, type: string, encoding: string | undefined): string {
  try {
    const bytes = decompress(body, encoding, MOST_DECOMPRESSED_BYTES)
    const [, charset = isUtf8(bytes) ? 'utf-8' : 'windows-1252'] = /charset\s*=\s*"?([\w.:-]+)/i.exec(type) ?? []
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return ''
  }
}

/** The platform's reason for the error; `undefined` if it gives none. */
function reasonIn(text: string, type: string, value: unknown, status: number): string | undefined {
  if (value !== undefined) return messageIn(value)
  if (/^text\/event-stream\b/i.test(type)) {
    const [event = ''] = dataIn(Buffer.from(text))
    return messageIn(jsonOf(event)) ?? shortReason(event)
  }
  return shortReason(/\bhtml\b/i.test(type) || /^\s*</.test(text) ? titleOf(text, status) : text)
}

/** The fields in which error bodies put their message, most likely first. In some bodies it is one level deeper. */
const messageFields = ['error', 'message', 'detail', 'title', 'msg', 'errors'] as const
const MOST_LEVELS = 4
/** At most this many items of a list, since some platforms report each invalid field separately. */
const MOST_ITEMS = 10

function messageIn(value: unknown, level = 0): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (level === MOST_LEVELS) return undefined
  const inside = (member: unknown) => messageIn(member, level + 1) ?? []
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).flatMap(inside).join('; ') || undefined
  return isObject(value) ? messageFields.flatMap(field => inside(value[field]))[0] : undefined
}

/** Returns `undefined` for an empty text, and for bytes that are not text. */
function shortReason(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: text has no control characters
  if (/[\0-\x08]/.test(text.slice(0, MOST_CHARACTERS))) return undefined
  const line = text
    .slice(0, 8 * MOST_CHARACTERS)
    .replace(/\s+/g, ' ')
    .trim()
  if (line.length <= MOST_CHARACTERS) return line === '' ? undefined : line
  return `${wholeWords(line)}…`
}

/** The beginning of a long text, without the word that would be cut: half a key would not be recognized as a secret. */
function wholeWords(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text
  const end = text.lastIndexOf(' ', MOST_CHARACTERS)
  // Does not cut a surrogate pair in half.
  return text.slice(0, end > 0 ? end : MOST_CHARACTERS).replace(/[\ud800-\udbff]$/, '')
}

/** The title of an HTML page, after the status in words unless it has them; all else on a page is for people. Empty without a title. */
function titleOf(html: string, status: number): string {
  const [, title = ''] = /<title\b[^<>]*>([^<]*)/i.exec(html) ?? []
  const words = statusText(status)
  return title.trim() === '' || title.includes(words) ? title : `${words}: ${title}`
}

const statusText = (status: number) => STATUS_CODES[status] ?? `Status ${status}`
