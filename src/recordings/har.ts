/** Extracts the exchanges with the platform from a HAR file. The schema is as lenient as existing tools require. */
import * as v from 'valibot'
import { readStream } from '../chat/chunks.js'
import { eventsIn, linesIn } from '../chat/events.js'
import { check, type Mistake } from '../check/check.js'
import { open, text } from '../check/forms.js'
import { jsonFrom, withPlaces } from '../check/json-places.js'
import { type Problem, ProblemsError } from '../check/problem.js'
import { withOwnAddresses } from '../core/http.js'
import { CHAT, isAuth, isReserved } from '../core/paths.js'
import { credentialsOf, type Redact } from '../redact/index.js'
import type { Ignore } from './canonical.js'
import { type Remarks, savedBytes, savedStream, withTypeOfText } from './har-text.js'
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
  /** Problems of entries that were left out. */
  readonly problems: readonly Problem[]
}

/** Throws a ProblemsError for a file that is not a HAR file or has no valid entry. `origin` is the name of the file. */
export function importHar(source: string, origin: string, options: HarOptions): ImportResult {
  const byKey = new Map<string, Recording[]>()
  const passedOver = new Map<Reason, number>()
  const remarks: string[] = []
  const mendedEntries = new Set<string>()

  function addEntry(entry: Entry, label: string): void {
    const place = recordablePlace(entry, options.base)
    if (typeof place === 'string') {
      passedOver.set(place, (passedOver.get(place) ?? 0) + 1)
      if (bodiless.has(place)) remarks.push(`${label} is ${place}.`)
      return
    }
    const recording = recordingOf(entry, place, options, {
      lost: what => void remarks.push(`${label} ${what}.`),
      mended(what) {
        mendedEntries.add(label)
        remarks.push(`${label} ${what}.`)
      },
    })
    if (!recording.response.complete) remarks.push(`${label} broke off; it is kept as incomplete.`)
    const key = requestKey(recording.request, options.ignore)
    const recordings = byKey.get(key) ?? []
    recordings.push(recording)
    byKey.set(key, recordings)
  }

  const { good, problems } = entriesIn(source, origin)
  for (const { entry, nth } of good.toSorted(byTime)) addEntry(entry, `log.entries[${nth}]`)
  return { byKey, passedOver, mended: mendedEntries.size, remarks, problems }
}

/** Reported one by one, because the user may be able to save the file again with its bodies. */
const bodiless: ReadonlySet<Reason> = new Set(['without the body of the request', 'without the body of the answer'])

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

/** Returns the place of an entry, or why it must not be recorded. */
function recordablePlace(entry: Entry, base: string | undefined): HarPlace | Reason {
  const place = harPlaceOf(entry.request.url, base)
  return typeof place === 'string' ? place : (reasonAgainst(entry, place) ?? place)
}

function reasonAgainst(entry: Entry, { path }: HarPlace): Reason | undefined {
  const { request, response } = entry
  if (isAuth(path)) return 'to the auth backend'
  if (isReserved(path)) return "to Standin's own paths"
  if (request.method.toUpperCase() === 'OPTIONS') return 'preflights'
  if (isStatic(entry)) return 'static files'
  // Browsers write 0 for requests that were cancelled, blocked or never sent. A status below 200 is no final answer.
  if (response.status < 200 || response.status > 599) return 'without an answer'
  if (response.status === 304) return "answered from the browser's cache"
  if (lacksRequestBody(request)) return 'without the body of the request'
  if (requestBody(request).objection !== undefined) return 'with a compressed body that cannot be decompressed'
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

function lacksRequestBody(request: Entry['request']): boolean {
  const { postData, bodySize } = request
  if (postData?.text) return false
  // Clients write the parts of a multipart form differently, so its fields alone match no request.
  if (postData && postData.params.length > 0) return /^multipart\//i.test(contentTypeOf(request) ?? '')
  const { 'content-length': length, 'transfer-encoding': coding } = harHeaders(request)
  return bodySize > 0 || Number(length) > 0 || (coding !== undefined && postData?.text === undefined)
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

const harHeaders = ({ headers }: Pick<Entry['response'], 'headers'>): Readonly<Record<string, string>> =>
  Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]))

const contentTypeOf = (request: Entry['request']) => request.postData?.mimeType || harHeaders(request)['content-type']

function recordingOf(entry: Entry, place: HarPlace, { base, redact }: HarOptions, remarks: Remarks): Recording {
  const { method } = entry.request
  const headers = harHeaders(entry.request)
  const { authorization } = headers
  const redaction = redact(credentialsOf({ headers, authorization, query: place.query }, redact))
  const { body } = requestBody(entry.request)
  const request = requestOf({ ...place, method, headers, contentType: contentTypeOf(entry.request), body }, redaction)
  return {
    recordedAt: new Date(entry.startedDateTime).toISOString(),
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
  const mayLackItsEnd = path === CHAT && events.length > 0 && !hasEnd
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

const number = v.number('a number')
const harTexts = v.nullish(text, '')
const numbers = v.nullish(number, 0)

const pair = open({ name: text, value: harTexts })
const harPairs = v.nullish(v.array(pair, 'a list'), [])

const request = open({
  method: v.pipe(text, v.nonEmpty('a string that is not empty')),
  url: v.pipe(text, v.check(URL.canParse, 'a URL')),
  headers: harPairs,
  bodySize: numbers,
  postData: v.nullish(
    open({
      mimeType: harTexts,
      text: v.nullish(text),
      params: harPairs,
      // From HAR 1.3; several tools write it already.
      encoding: harTexts,
    }),
  ),
})

const response = open({
  status: v.pipe(number, v.integer('a whole number')),
  statusText: harTexts,
  headers: harPairs,
  bodySize: numbers,
  content: v.nullish(
    open({
      size: numbers,
      mimeType: harTexts,
      text: v.nullish(text),
      encoding: harTexts,
    }),
    {},
  ),
  // Chrome's.
  _error: v.nullish(v.unknown()),
})

const entry = open({
  startedDateTime: v.pipe(
    text,
    v.check(time => !Number.isNaN(Date.parse(time)), 'a time such as 2030-01-31T12:00:00.000Z'),
  ),
  request,
  response,
  timings: v.nullish(open({ wait: numbers, receive: numbers }), {}),
  // Chrome's and Firefox's: script, image, fetch …
  _resourceType: v.nullish(v.unknown()),
})

const har = open({ log: open({ entries: v.array(v.unknown(), 'a list') }) })
/** Checked together with its neighbours, so that problems are named by their place in the file. */
const full = open({ log: open({ entries: v.array(entry, 'a list') }) })

export type Entry = v.InferOutput<typeof entry>

/** At most this many problems of one file are listed. */
const MISTAKES_SHOWN = 20

/**
 * Reads the valid entries of a HAR file, with their places, and the problems of the others. Throws a ProblemsError if it
 * is not one, or if all of its entries are invalid.
 */
function entriesIn(file: string, origin: string) {
  // The specification allows a byte order mark.
  const source = file.replace(/^\ufeff/, '')
  const json = jsonFrom(source, origin)
  const outline = check(har, json, { whole: 'The file' })
  if ('mistakes' in outline) throw new ProblemsError(problemsOf(outline.mistakes, origin, source))
  const checked = check(full, json)
  const mistakes = 'mistakes' in checked ? checked.mistakes : []
  const wrong = new Set(mistakes.map(({ path }) => path[2]))
  const problems = problemsOf(mistakes, origin, source)
  const good = outline.value.log.entries.flatMap((one, nth) => {
    const found = wrong.has(nth) ? undefined : check(entry, one)
    return found && 'value' in found ? [{ entry: found.value, nth }] : []
  })
  if (good.length === 0 && problems.length > 0) throw new ProblemsError(problems)
  return { good, problems }
}

function problemsOf(mistakes: readonly Mistake[], origin: string, source: string): readonly Problem[] {
  const omitted = mistakes.length - MISTAKES_SHOWN
  return [
    ...withPlaces(mistakes.slice(0, MISTAKES_SHOWN), source, origin),
    ...(omitted > 0 ? [{ origin, sentence: `${omitted} more values are invalid.` }] : []),
  ]
}
