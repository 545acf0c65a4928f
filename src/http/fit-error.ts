/** Makes errors of the live platform fit its document ("Errors"): `{ error: <string> }`, and `path` on a 404. */
import { isUtf8 } from 'node:buffer'
import { STATUS_CODES } from 'node:http'
import { createEventSplitter, dataOf } from '../completions/events.js'
import { upstreamUnreachable, upstreamUnreadable } from '../core/errors.js'
import type { Exchange, Reply, UpstreamResponse } from '../core/exchange.js'
import { decoded, headerIn, replyBytes } from '../core/http.js'
import { jsonOf } from '../core/json.js'
import { pageText } from './page-text.js'

/** An error as the live platform sent it. */
interface ErrorAnswer {
  readonly status: number
  /** Node's flat array. */
  readonly headers: readonly string[]
  /** Compressed where it came compressed. */
  readonly body: Buffer
  /** Whether `body` is all of it. */
  readonly isWhole: boolean
}

/** What is delivered in its place. */
export interface Fitted {
  /** Node's flat array. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

type Asked = Pick<Exchange, 'method' | 'path'>

/** No more of an error is held in memory to be looked at. */
export const MOST_ERROR_BYTES = 262_144
/** Nor of what was compressed. */
const MOST_PLAIN_BYTES = 1_048_576
/** A page or a text may go on; an error message is short. */
const MOST_LETTERS = 500

/** Nothing where the answer is as documented: then it passes byte for byte. */
export function fitted({ status, headers, body, isWhole }: ErrorAnswer, { method, path }: Asked): Fitted | undefined {
  const type = headerIn(headers, 'content-type') ?? ''
  // A body that was not asked for can only be judged by its type, and the length of ours is not known.
  if (method === 'HEAD') return isJson(type) ? undefined : { headers: ofJson(headers), body: Buffer.alloc(0) }
  const text = textIn(body, type, headerIn(headers, 'content-encoding'))
  const value = isWhole ? jsonOf(text) : undefined
  const isError = isObject(value) && typeof value.error === 'string'
  if (isError && (status !== 404 || typeof value.path === 'string')) {
    return isJson(type) ? undefined : { headers: withJsonType(headers), body }
  }
  // Only the path is missing: what else it says stays as it is, to the letter.
  const fitting =
    isError && !('path' in value)
      ? text.trimEnd().replace(/\}$/, `,"path":${JSON.stringify(path)}}`)
      : JSON.stringify({ error: reasonIn(text, type, value) ?? statusText(status), ...(status === 404 && { path }) })
  const bytes = Buffer.from(fitting)
  return { headers: [...ofJson(headers), 'content-length', String(bytes.length)], body: bytes }
}

/** What is delivered of a recording whose status is no success. Throws a 502 where the answer itself would have been one. */
export function deliverable(reply: Reply, asked: Asked, errors: 'documented' | 'untouched'): Reply {
  if (!isStatus(reply.status)) throw upstreamUnreadable(`status ${reply.status}`)
  if (errors !== 'documented' || reply.status < 400) return reply
  const delivered = fittedReply(reply, asked)
  return { ...delivered, remark: () => messageIn(replyBytes(delivered)) }
}

function fittedReply(reply: Reply, asked: Asked): Reply {
  const { status, contentType, headers: more = [], fault } = reply
  // As it ends in the proxy.
  if (fault) throw upstreamUnreachable('its answer broke off')
  const headers = [...(contentType === '' ? [] : ['content-type', contentType]), ...more]
  const said = replyBytes(reply)
  const isWhole = said.length <= MOST_ERROR_BYTES
  const found = fitted({ status, headers, body: said.subarray(0, MOST_ERROR_BYTES), isWhole }, asked)
  if (!found) return reply
  const { headers: ours, body } = found
  const isOfBody = (_: string, i: number) => /^content-(type|length)$/i.test(ours[i - (i % 2)] ?? '')
  return {
    ...{ ...reply, contentType: headerIn(ours, 'content-type') ?? '' },
    ...{ headers: ours.filter((one, i) => !isOfBody(one, i)), body: body.toString() },
    upstream: asSaid(headers, said),
  }
}

/** Whether it is the status of an answer: RFC 9110 §15 ends at 599, and fetch refuses anything beyond. */
export const isStatus = (status: number) => status >= 200 && status <= 599

/** At most this much of a body is kept to be looked at. */
export const KEPT_BYTES = 65_536

/** What the log says of a live error: its message as the client got it. */
export function messageIn(body: Buffer | string): string | undefined {
  if (body.length > KEPT_BYTES) return undefined
  const value = jsonOf(body.toString())
  const message = isObject(value) && typeof value.error === 'string' ? value.error.trim() : ''
  return message === '' ? undefined : message.slice(0, MOST_LETTERS)
}

/** What the live platform sent, as the journal keeps it. */
export const asSaid = (headers: readonly string[], body: Buffer, bytes = body.length): UpstreamResponse => ({
  ...{ kind: 'heard', headers, bytes },
  // A copy: what the network delivers is a small part of a large buffer, which would be kept whole.
  beginning: body.length === 0 ? [] : [Buffer.from(body.subarray(0, KEPT_BYTES))],
})

const isJson = (contentType: string) => /^application\/([\w.-]+\+)?json\b/i.test(contentType)

/** Those that describe a body, which is another one now. */
const ofBody =
  /^(content-(type|length|encoding|language|location|disposition|range|md5|digest)|transfer-encoding|etag|last-modified|accept-ranges|(repr-)?digest)$/i

const ofJson = (headers: readonly string[]) => [
  ...headers.filter((_, i) => !ofBody.test(headers[i - (i % 2)] ?? '')),
  ...['content-type', 'application/json'],
]

const withJsonType = (headers: readonly string[]) => [
  ...headers.filter((_, i) => !/^content-type$/i.test(headers[i - (i % 2)] ?? '')),
  ...['content-type', 'application/json'],
]

/** Empty where it cannot be read. */
function textIn(body: Buffer, type: string, encoding: string | undefined): string {
  if (body.length === 0) return ''
  try {
    const bytes = decoded(body, encoding, MOST_PLAIN_BYTES)
    const [, charset = isUtf8(bytes) ? 'utf-8' : 'windows-1252'] = /charset\s*=\s*"?([\w.:-]+)/i.exec(type) ?? []
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return ''
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What the platform gives as the reason; nothing where it gives none. */
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

/** Where error bodies have their message, from the likeliest on; in some it is one level deeper. */
const places = ['error', 'message', 'detail', 'title', 'msg', 'errors'] as const
const MOST_LEVELS = 4
/** Some report each invalid field by itself. */
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

/** Bytes that are no text at all say nothing. */
function shortened(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what no text has
  if (/[\0-\x08]/.test(text.slice(0, MOST_LETTERS))) return undefined
  const short = text
    .slice(0, 8 * MOST_LETTERS)
    .replace(/\s+/g, ' ')
    .trim()
  if (short === '') return undefined
  // Not half of a letter that takes two places.
  return short.length <= MOST_LETTERS
    ? short
    : `${short
        .slice(0, MOST_LETTERS)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()}…`
}

const statusText = (status: number) => STATUS_CODES[status] ?? `Status ${status}`
