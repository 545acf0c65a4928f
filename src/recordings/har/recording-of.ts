/** Makes a recording of an entry of a HAR file, without the secrets that stand in it. */

import { isUtf8 } from 'node:buffer'
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

/** The recording of an exchange that took place there; `remark` is told what was done to its text. */
export function recordingOf(entry: Entry, place: Place, redact: Redact, remark: (what: string) => void): Recording {
  const headers = Object.fromEntries(entry.request.headers.map(({ name, value }) => [name.toLowerCase(), value]))
  const { authorization } = headers
  const redaction = redact(credentialsOf({ headers, authorization, query: place.query }, redact))
  const request = requestIn(entry, place, redaction)
  return {
    recordedAt: inUtc(entry.startedDateTime),
    request,
    response: redactedResponse(responseIn(entry, request.path, remark), redaction),
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

function responseIn({ response, timings }: Entry, path: string, remark: (what: string) => void): RecordedResponse {
  const { status, content, _error, _complete } = response
  const headers = responseHeaders(response)
  const endMs = duration(timings.receive)
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const body = bodyOf(content, isStream({ headers }) && typeof _complete !== 'boolean', remark)
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

/** Chromium writes event streams as if each of their bytes were a character. */
function bodyOf(
  { text, encoding, size }: Entry['response']['content'],
  isFromStream: boolean,
  remark: (what: string) => void,
): Buffer {
  if (encoding === 'base64') return Buffer.from(text ?? '', 'base64')
  const written = Buffer.from(text ?? '')
  const isGarbled = isFromStream && size !== written.length && garbled.test(text ?? '')
  if (!isGarbled) return written
  const bytes = bytesOf(text ?? '')
  if (bytes && isUtf8(bytes)) {
    remark('was saved with its UTF-8 read as Latin-1, as Chromium does; its letters are put right')
    return bytes
  }
  remark('looks garbled: its UTF-8 was read in another encoding, and part of it is lost. Record it again')
  return written
}

/** The first byte of a letter beyond ASCII and the second one, or what stands where a byte could not be read. */
const garbled =
  /[\xc2-\xf4][\x80-\xbf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122\ufffd]/

/** The bytes that these characters stand for in Latin-1, or in the Windows-1252 that browsers read in its place. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'latin1')
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) <= 0xff) continue
    const place = windows.indexOf(text.charAt(i))
    if (place < 0) return undefined
    bytes[i] = 0x80 + place
  }
  return bytes
}

/** What the bytes from 0x80 to 0x9f are in Windows-1252. Some versions of node decode it as Latin-1. */
const windows =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178'

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
