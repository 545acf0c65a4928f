/**
 * Writes recordings as HAR 1.2, which browsers and proxies can open. Whatever HAR has no fields for goes into fields
 * with an underscore.
 */
import { isUtf8 } from 'node:buffer'
import { STATUS_CODES } from 'node:http'
import { stringifyExact } from '../../core/json.js'
import { bodyOf, type RecordedRequest, type RecordedResponse, type Recording, type RequestBody } from '../recording.js'

/** A recording, and its number among those with the same request. */
interface Numbered {
  readonly recording: Recording
  readonly nth: number
}

interface HarFrame {
  /** The base URL of the entries, without a trailing slash. */
  readonly base: string
  readonly version: string
}

/** Returns the text of a HAR file with these recordings, oldest first. */
export function harOf(recordings: readonly Numbered[], { base, version }: HarFrame): string {
  const entries = recordings
    .map(one => entryOf(one, base))
    .sort((a, b) => Date.parse(a.startedDateTime) - Date.parse(b.startedDateTime))
  return `${JSON.stringify({ log: { version: '1.2', creator: { name: 'Standin', version }, entries } }, null, 2)}\n`
}

const HTTP = 'HTTP/1.1'
/** HAR's value for unknown sizes and times. */
const UNKNOWN = -1

function entryOf({ recording: { recordedAt, request, response }, nth }: Numbered, base: string) {
  return {
    startedDateTime: recordedAt,
    time: response.headMs + response.endMs,
    request: requestOf(request, base),
    response: responseOf(response),
    cache: {},
    timings: { send: 0, wait: response.headMs, receive: response.endMs },
    _nth: nth,
  }
}

function requestOf({ method, path, query, body }: RecordedRequest, base: string) {
  const posted = postDataOf(body)
  return {
    ...{ method, url: `${base}${inAddress(path)}${query && `?${inAddress(query)}`}`, httpVersion: HTTP, cookies: [] },
    headers: posted ? [{ name: 'content-type', value: posted.mimeType }] : [],
    queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
    ...(posted && { postData: posted }),
    ...{ headersSize: UNKNOWN, bodySize: posted ? Buffer.byteLength(posted.text, posted._encoding) : 0 },
    ...{ _path: path, _query: query },
  }
}

/** Encodes characters that are not allowed in a URL, such as the brackets of placeholders. */
const inAddress = (part: string) => part.replace(/[^\w\-.~:/?@!$&'()*+,;=%]/g, encodeURIComponent)

interface PostData {
  readonly mimeType: string
  readonly text: string
  readonly _encoding?: 'base64'
}

function postDataOf(body: RequestBody): PostData | undefined {
  switch (body.kind) {
    case 'none':
      return undefined
    case 'json':
      return { mimeType: 'application/json', text: stringifyExact(body.value) }
    case 'text':
      return { mimeType: 'text/plain', text: body.text }
    case 'bytes':
      return { mimeType: 'application/octet-stream', text: body.bytes.toString('base64'), _encoding: 'base64' }
  }
}

function responseOf(response: RecordedResponse) {
  const { status, headers, chunks, complete } = response
  const body = bodyOf(response)
  const header = (wanted: string) => headers.find(([name]) => name === wanted)?.[1] ?? ''
  return {
    ...{ status, statusText: STATUS_CODES[status] ?? '', httpVersion: HTTP, cookies: [] },
    headers: headers.map(([name, value]) => ({ name, value })),
    content: {
      size: body.length,
      mimeType: header('content-type'),
      ...(isUtf8(body) ? { text: body.toString('utf8') } : { text: body.toString('base64'), encoding: 'base64' }),
      _chunks: chunks.map(({ atMs, bytes }) => ({ atMs, bytes: bytes.length })),
    },
    redirectURL: header('location'),
    ...{ headersSize: UNKNOWN, bodySize: body.length },
    _complete: complete,
  }
}
