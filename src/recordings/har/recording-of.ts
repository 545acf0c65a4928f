/** Makes a recording of an entry of a HAR file, without the secrets that stand in it. */

import { CHAT } from '../../core/read-chat.js'
import type { Redact, Redaction } from '../../core/redact.js'
import { credentialsOf } from '../../core/shown-credentials.js'
import { hasSaidDone, thoseThatMatter } from '../heard.js'
import { requestOf } from '../key.js'
import { isStream, type RecordedRequest, type RecordedResponse, type Recording } from '../recording.js'
import { redactedResponse } from '../redacted.js'
import type { Entry } from './form.js'
import type { Place } from './passed-over.js'
import { evenPieces, eventsOf, ownPieces, rounded } from './pieces.js'

/** The recording of an exchange that took place there. */
export function recordingOf(entry: Entry, place: Place, redact: Redact): Recording {
  const headers = Object.fromEntries(entry.request.headers.map(({ name, value }) => [name.toLowerCase(), value]))
  const { authorization } = headers
  const redaction = redact(credentialsOf({ headers, authorization, query: place.query }, redact))
  const request = requestIn(entry, place, redaction)
  return {
    recordedAt: inUtc(entry.startedDateTime),
    request,
    response: redactedResponse(responseIn(entry, request.path), redaction),
  }
}

/** Our own times come back as they are written. */
const inUtc = (written: string) => (written.endsWith('Z') ? written : new Date(written).toISOString())

function requestIn({ request }: Entry, { path, query }: Place, redaction: Redaction): RecordedRequest {
  const { method, headers, postData, _path, _query } = request
  const contentType = postData?.mimeType || headers.find(({ name }) => /^content-type$/i.test(name))?.value
  const asked = { method, path: _path ?? path, query, contentType, body: requestBody(postData) }
  const recorded = requestOf(asked, redaction)
  // In the form in which requests are compared it is already, and the brackets of placeholders would be encoded.
  return typeof _query === 'string' ? { ...recorded, query: redaction.query(_query) } : recorded
}

function requestBody(postData: Entry['request']['postData']): Buffer | undefined {
  if (!postData) return undefined
  const { text, params, encoding, _encoding } = postData
  if (typeof text === 'string') return Buffer.from(text, (_encoding || encoding) === 'base64' ? 'base64' : 'utf8')
  return Buffer.from(new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value])).toString())
}

function responseIn({ response, timings }: Entry, path: string): RecordedResponse {
  const { status, content, _error, _complete } = response
  const headers = responseHeaders(response)
  const body = Buffer.from(content.text ?? '', content.encoding === 'base64' ? 'base64' : 'utf8')
  const endMs = duration(timings.receive)
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const events = isStream({ headers }) ? eventsOf(body, type) : []
  const mayLackItsEnd = path === CHAT && events.length > 0 && !hasSaidDone(body)
  const isWhole = !(_error ?? false) && !isCut(response, body) && !mayLackItsEnd
  const chunks = events.length > 0 ? evenPieces(events, endMs) : body.length > 0 ? [{ atMs: endMs, bytes: body }] : []
  return {
    ...{ status, headers, headMs: duration(timings.wait), endMs },
    chunks: ownPieces(body, content._chunks) ?? chunks,
    complete: _complete ?? isWhole,
  }
}

/** -1 is what could not be measured. */
const duration = (ms: number) => rounded(Math.max(0, ms))

const BOM_BYTES = 3

/** A tool that keeps only the beginning of a body still tells its size; one that leaves out a byte order mark has cut nothing. */
function isCut({ content }: Entry['response'], body: Buffer): boolean {
  return content.encoding !== 'base64' && body.length + BOM_BYTES < content.size
}

const token = /^[\w!#$%&'*+.^`|~-]+$/
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Those that can be sent again: HTTP/2's own begin with a colon, and Chrome writes several values of one name as lines. */
function responseHeaders({ headers, content }: Entry['response']): RecordedResponse['headers'] {
  const flat = headers.flatMap(({ name, value }) => value.split('\n').flatMap(line => [name, line.trim()]))
  const found = thoseThatMatter(flat).filter(([name, value]) => token.test(name) && fieldValue.test(value))
  const isTyped = found.some(([name]) => name === 'content-type') || !content.mimeType.includes('/')
  return isTyped ? found : [...found, ['content-type', content.mimeType]]
}
