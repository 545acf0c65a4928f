/** Extracts the exchanges with the platform from a HAR file. */
import { readStream } from '../chat/chunks.js'
import { eventsIn, linesIn } from '../chat/events.js'
import type { Problem } from '../check/problem.js'
import { withOwnAddresses } from '../core/http.js'
import { isAuth, isReserved } from '../core/paths.js'
import { asksForChat } from '../endpoints/index.js'
import { credentialsOf, type Redact } from '../redact/index.js'
import { type HarSource, LostBody, withBodies } from './har-bodies.js'
import { type Entry, entriesIn, harHeaders } from './har-form.js'
import { type Remarks, savedBytes, savedStream, withTypeOfText } from './har-text.js'
import type { Ignore } from './ignore.js'
import { decompressedBody, requestKey, requestOf } from './key.js'
import {
  hasDone,
  isStream,
  type RecordedChunk,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
  recordedHeaders,
  roundedMs,
  unusualReason,
} from './recording.js'
import { redactedResponse } from './redacted.js'

interface HarOptions {
  /** Only URLs below this one belong to the platform. Without it all of them do, with their full path. */
  readonly base: string | undefined
  /** The folder of the file, in which tools may have put bodies; `undefined` for standard input. */
  readonly folder: string | undefined
  readonly redact: Redact
  readonly ignore: Ignore
}

export interface ImportResult {
  /** The recordings of each request by key, in order. */
  readonly byKey: ReadonlyMap<string, readonly Recording[]>
  /** How many entries were skipped, by reason. */
  readonly passedOver: ReadonlyMap<Reason, number>
  /** How many of the recordings had to be mended. */
  readonly mended: number
  /** A sentence for each entry that was incomplete or had to be mended. */
  readonly remarks: readonly string[]
  readonly problems: readonly Problem[]
}

/** Throws a ProblemsError for a file that is not a HAR file or has no valid entry. `origin` is the name of the file. */
export function importHar(source: string, origin: string, options: HarOptions): ImportResult {
  const byKey = new Map<string, Recording[]>()
  const passedOver = new Map<Reason, number>()
  const remarks: string[] = []
  const mendedEntries = new Set<string>()

  const { good, problems, tool } = entriesIn(source, origin)
  const now = new Date().toISOString()

  function addEntry(saved: Entry, label: string): void {
    const read = readEntry(saved, options.base, { tool, folder: options.folder })
    if ('reason' in read) {
      passedOver.set(read.reason, (passedOver.get(read.reason) ?? 0) + 1)
      if (read.remark) remarks.push(`${label} ${read.remark}.`)
      return
    }
    const { entry, place } = read
    const recording = recordingOf(entry, place, now, options, {
      lost: what => void remarks.push(`${label} ${what}.`),
      mended(what) {
        mendedEntries.add(label)
        remarks.push(`${label} ${what}.`)
      },
    })
    if (!recording.response.complete) remarks.push(`${label} broke off; it is kept as incomplete.`)
    if (bodyOf(entry.request) === 'unknown') {
      remarks.push(`${label} has no body, so it answers only a ${recording.request.method} without one.`)
    }
    const key = requestKey(recording.request, options.ignore)
    const recordings = byKey.get(key) ?? []
    recordings.push({ ...recording, place: recordings.length + 1 })
    byKey.set(key, recordings)
  }

  const hasTimes = good.every(({ entry }) => entry.startedDateTime !== '')
  for (const { entry, nth } of hasTimes ? good.toSorted(byTime) : good) addEntry(entry, `log.entries[${nth}]`)
  if (/playwright/i.test(tool) && [...passedOver.keys()].some(reason => bodiless.has(reason))) remarks.push(EMBED)
  return { byKey, passedOver, mended: mendedEntries.size, remarks, problems }
}

const EMBED =
  "Playwright leaves bodies out or in other files unless you set updateContent: 'embed' (routeFromHAR) or content: 'embed' (recordHar)."

/** Reported one by one, because the user may be able to save the file again with its bodies. */
const bodiless: ReadonlySet<Reason> = new Set([
  'without the body of the request',
  'without the body of the answer',
  'with a body that cannot be read',
])

const byTime = ({ entry: a }: { entry: Entry }, { entry: b }: { entry: Entry }) =>
  Date.parse(a.startedDateTime) - Date.parse(b.startedDateTime)

/** Why an entry was skipped, or what it is. `standin import` prints these words after a count. */
type Reason =
  | 'not over HTTP'
  | 'to other servers'
  | 'to the auth backend'
  | "to Standin's own paths"
  | 'preflights'
  | 'static files'
  | 'without an answer'
  | "answered from the browser's cache"
  | 'without the body of the request'
  | 'without the body of the answer'
  | 'with a body that cannot be read'
  | 'with a compressed body that cannot be decompressed'

/** Where an entry was sent: path and query below the base, undecoded. */
interface HarPlace {
  readonly path: string
  readonly query: string
}

/** Returns the place of a URL, or the reason why it does not belong to the platform. */
function harPlaceOf(url: string, base: string | undefined): HarPlace | Reason {
  // No URL object: it would decode and shorten what the client sent.
  const [, origin, path = '', query = ''] = /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? []
  if (origin === undefined) return 'not over HTTP'
  const below = base === undefined ? path : pathBelow(new URL(base), new URL(origin), path)
  if (below === undefined) return 'to other servers'
  return { path: below === '' ? '/' : below, query }
}

function pathBelow(base: URL, { origin }: URL, path: string): string | undefined {
  const prefix = base.pathname.replace(/(?<!\/)\/+$/, '')
  const rest = path.slice(prefix.length)
  return base.origin === origin && path.startsWith(prefix) && /^($|\/)/.test(rest) ? rest : undefined
}

/** An entry that is recorded, with its bodies; or why it is not, with what to say about this one. */
type ReadEntry = { entry: Entry; place: HarPlace } | { reason: Reason; remark?: string }

function readEntry(saved: Entry, base: string | undefined, source: HarSource): ReadEntry {
  const place = harPlaceOf(saved.request.url, base)
  if (typeof place === 'string') return { reason: place }
  const reason = reasonAgainst(saved, place)
  if (reason) return { reason }
  try {
    const entry = withBodies(saved, source)
    const lost = lostBodyOf(entry, place)
    return lost ? { reason: lost, ...(bodiless.has(lost) && { remark: `is ${lost}` }) } : { entry, place }
  } catch (error) {
    if (!(error instanceof LostBody)) throw error
    return { reason: 'with a body that cannot be read', remark: error.message }
  }
}

function reasonAgainst(entry: Entry, { path }: HarPlace): Reason | undefined {
  const { request, response } = entry
  if (isAuth(path)) return 'to the auth backend'
  if (isReserved(path)) return "to Standin's own paths"
  if (request.method.toUpperCase() === 'OPTIONS') return 'preflights'
  if (isStatic(entry)) return 'static files'
  // Browsers write 0 for requests that were cancelled, blocked or never sent. A status below 200 is no final answer.
  if (response.status < 200 || response.status > 599) return 'without an answer'
  return response.status === 304 ? "answered from the browser's cache" : undefined
}

function lostBodyOf(entry: Entry, { path }: HarPlace): Reason | undefined {
  const body = bodyOf(entry.request)
  const isChat = asksForChat(path) && /^post$/i.test(entry.request.method)
  if (body === 'lost' || (isChat && body !== 'whole')) return 'without the body of the request'
  if (requestBody(entry.request).objection !== undefined) return 'with a compressed body that cannot be decompressed'
  return lacksAnswerBody(entry) ? 'without the body of the answer' : undefined
}

const staticTypes = /^(image|font|audio|video)\/|^text\/css\b|\b(java|ecma)script\b|\bwasm\b|\bmanifest\+json\b/i
const staticResources = /^(document|stylesheet|script|image|img|imageset|font|media|manifest|texttrack)$/i

/**
 * Decides by content, never by path. HTML is a page only after a GET that succeeded: a gateway's errors are HTML as
 * well.
 */
function isStatic({ request, response, _resourceType }: Entry): boolean {
  if (request.method.toUpperCase() !== 'GET') return false
  const { mimeType } = response.content
  // A "document" may be an answer of the platform that was opened in a browser tab.
  if (/^(text\/event-stream|application\/((x-)?ndjson|json))\b/i.test(mimeType)) return false
  if (staticTypes.test(mimeType) || staticResources.test(String(_resourceType ?? ''))) return true
  return /^text\/html\b/i.test(mimeType) && response.status < 400
}

/** Whether the body of a request was saved, is missing, or may be missing; few tools say that there was none. */
function bodyOf(request: Entry['request']): 'whole' | 'none' | 'lost' | 'unknown' {
  const { method, postData, bodySize } = request
  if (postData?.text) return 'whole'
  // Clients write the parts of a multipart form differently, so its fields alone match no request.
  if (postData && postData.params.length > 0)
    return /^multipart\//i.test(contentTypeOf(request) ?? '') ? 'lost' : 'whole'
  const headers = harHeaders(request)
  const length = Number(headers['content-length'])
  if (bodySize > 0 || length > 0) return 'lost'
  if (headers['transfer-encoding'] !== undefined && postData?.text === undefined) return 'lost'
  if (!/^(post|put|patch)$/i.test(method) || length === 0) return 'none'
  const saysType = headers['content-type'] !== undefined
  // Without a text, Polly had a body of bytes, and Playwright does not save any.
  if (postData && (saysType || postData.mimeType !== '') && (bodySize < 0 || typeof postData.text !== 'string'))
    return 'lost'
  if (bodySize < 0 && saysType) return 'lost'
  return postData || saysType || bodySize < 0 ? 'unknown' : 'none'
}

/** Any of several sizes shows that there was a body. If none is known, an answer that may have one had one. */
function lacksAnswerBody({ request, response }: Entry): boolean {
  const { status, content, bodySize } = response
  if (content.text || hasNoBody(request.method, status)) return false
  const { 'content-length': length } = harHeaders(response)
  if (content.size > 0 || bodySize > 0 || Number(length) > 0) return true
  const mayBeEmpty = typeof content.text === 'string' || content.size === 0 || length !== undefined
  return !mayBeEmpty && (status < 300 || status > 399)
}

const hasNoBody = (method: string, status: number) => /^head$/i.test(method) || [204, 205, 304].includes(status)

const contentTypeOf = (request: Entry['request']) => request.postData?.mimeType || harHeaders(request)['content-type']

function recordingOf(
  entry: Entry,
  place: HarPlace,
  now: string,
  { base, redact }: HarOptions,
  remarks: Remarks,
): Recording {
  const { method } = entry.request
  const headers = harHeaders(entry.request)
  const { authorization } = headers
  const redaction = redact(credentialsOf({ headers, authorization, query: place.query }, redact))
  const { body } = requestBody(entry.request)
  const request = requestOf({ ...place, method, headers, contentType: contentTypeOf(entry.request), body }, redaction)
  return {
    recordedAt: entry.startedDateTime === '' ? now : new Date(entry.startedDateTime).toISOString(),
    test: '',
    place: 1,
    request,
    response: redactedResponse(responseIn(entry, request, base, remarks), redaction, request.path),
  }
}

/** Most tools save a compressed body decompressed, with its Content-Encoding. */
const requestBody = (request: Entry['request']) =>
  decompressedBody({ headers: harHeaders(request), body: savedBody(request) })

function savedBody({ postData, bodySize }: Entry['request']): Buffer | undefined {
  if (!postData) return undefined
  const { text, params, encoding } = postData
  if (typeof text === 'string') return savedBytes({ text, encoding, size: bodySize }, { mended: () => {} }).bytes
  return Buffer.from(new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value])).toString())
}

function responseIn(
  { request: { url }, response, timings }: Entry,
  { method, path }: RecordedRequest,
  base: string | undefined,
  remarks: Remarks,
): RecordedResponse {
  const { status, content, _error } = response
  const saved = savedBytes(content, remarks)
  const original = responseHeaders(response, method, base ?? new URL(url).origin)
  const headers = saved.isRaw ? original : withTypeOfText(original, saved.bytes, remarks)
  const endMs = duration(timings.receive)
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const isEvents = isStream({ headers })
  const body = isEvents && !saved.isRaw ? savedStream(content, type, remarks) : saved.bytes
  const events = isEvents ? (/^text\/event-stream/i.test(type) ? eventsIn(body) : linesIn(body)) : []
  const hasEnd = hasDone([{ atMs: 0, bytes: body }]) || readStream(body).isEntire
  const mayLackItsEnd = asksForChat(path) && events.length > 0 && !hasEnd
  const chunks = events.length > 0 ? evenChunks(events, endMs) : body.length > 0 ? [{ atMs: endMs, bytes: body }] : []
  // The size is that of the body as it was sent.
  const isAsSent = headers === original && body === saved.bytes && !saved.isRaw && !hasNoBody(method, status)
  const isCut = isAsSent && body.length + BOM_BYTES < content.size
  return {
    status,
    // HTTP/2 has no reason phrases.
    ...(response.statusText !== '' && unusualReason(response)),
    headers,
    headMs: duration(timings.wait),
    endMs,
    chunks,
    complete: !(_error ?? false) && !isCut && !mayLackItsEnd,
  }
}

/** HAR's -1 means not measured. */
const duration = (ms: number) => roundedMs(Math.max(0, ms))

/** A tool that saves only the beginning of a body still gives its full size. A dropped byte order mark is not counted. */
const BOM_BYTES = 3

const headerName = /^[\w!#$%&'*+.^`|~-]+$/
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * Headers that can be sent again. HTTP/2 pseudo-headers begin with a colon, and Chrome writes several values of one
 * header as lines.
 */
function responseHeaders(
  { headers, content }: Entry['response'],
  method: string,
  base: string,
): RecordedResponse['headers'] {
  const flat = headers.flatMap(({ name, value }) => value.split('\n').flatMap(line => [name, line.trim()]))
  const recorded = recordedHeaders(withOwnAddresses(flat, base), method)
  const found = recorded.filter(([name, value]) => headerName.test(name) && fieldValue.test(value))
  const isTyped = found.some(([name]) => name === 'content-type') || !content.mimeType.includes('/')
  return isTyped ? found : [...found, ['content-type', content.mimeType]]
}

/** One chunk per event, evenly spaced, since HAR has no times for events. */
function evenChunks(events: readonly Buffer[], endMs: number): readonly RecordedChunk[] {
  return events.map((bytes, i) => ({ atMs: roundedMs((endMs * (i + 1)) / events.length), bytes }))
}
