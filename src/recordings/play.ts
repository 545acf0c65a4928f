/** Makes a reply of a recording: in the form that is asked for, in the recorded rhythm or a faster one. */
import type { Paced, Reply } from '../core/exchange.js'
import { unpaced } from '../core/pace.js'
import { streamOf, wholeOf, withUsage } from './convert.js'
import { bodyOf, isStream, type RecordedRequest, type RecordedResponse, type Recording } from './recording.js'

/** A reply, and how long it takes to begin. */
export interface Played {
  readonly reply: Reply
  readonly afterMs: number
}

/** `speed` 1 is as it was recorded, 2 twice as fast, 0 without any pause. What broke off breaks off again. */
export function played(response: RecordedResponse, speed: number, file: string): Played {
  const slowed = (ms: number) => (speed === 0 ? 0 : ms / speed)
  const { status, headMs, endMs, complete } = response
  const contentType = headersOf(response, name => name === 'content-type')[1] ?? ''
  const reply: Reply = {
    ...{ kind: 'reply', status, contentType, answeredBy: { kind: 'recording', file }, isRecorded: true },
    ...(complete ? {} : { fault: { cutAfterBytes: Math.max(1, bodyOf(response).length) } }),
    ...bodyAndHeaders(response, speed, slowed),
  }
  // A whole answer leaves at once, so its time is over when it begins.
  return { reply, afterMs: slowed(isStream(response) ? headMs : headMs + endMs) }
}

function bodyAndHeaders(response: RecordedResponse, speed: number, slowed: (ms: number) => number) {
  const headers = headersOf(response, name => !notPlayed.has(name))
  if (isStream(response) && speed !== 0) return { headers, body: rhythm(response, slowed) }
  const bytes = bodyOf(response)
  // What broke off gets no length that would make it look complete.
  if (isStream(response) || !response.complete) return { headers, body: bytes }
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return { headers, body: text }
  return { headers: [...headers, 'content-length', String(bytes.length)], body: bytes }
}

/** The type has a place of its own in a reply; a cookie that is only a placeholder would be kept by browsers all the same. */
const notPlayed: ReadonlySet<string> = new Set(['content-type', 'set-cookie'])

/** As node's flat array. */
const headersOf = ({ headers }: RecordedResponse, isWanted: (name: string) => boolean): readonly string[] =>
  headers.flatMap(([name, value]) => (isWanted(name) ? [name, value] : []))

/** The journal keeps what was played, which need not be there twice. */
const known = new WeakMap<RecordedResponse['chunks'], readonly string[]>()

function piecesOf(chunks: RecordedResponse['chunks']): readonly string[] {
  const pieces = known.get(chunks) ?? [...chunks.map(({ bytes }) => bytes.toString('latin1')), '']
  known.set(chunks, pieces)
  return pieces
}

function rhythm({ chunks, endMs }: RecordedResponse, slowed: (ms: number) => number): Paced {
  return {
    ...{ head: '', before: '', after: '', tail: '', pace: unpaced, bytewise: true },
    // A last one without any bytes, for the end has its own time.
    pieces: piecesOf(chunks),
    atMs: [...chunks.map(({ atMs }) => slowed(atMs)), slowed(Math.max(endMs, chunks.at(-1)?.atMs ?? 0))],
  }
}

interface Form {
  readonly stream: boolean
  readonly includeUsage: boolean
}

/** Nothing where that cannot be done faithfully. */
export function inForm(asked: RecordedRequest, { request, response }: Recording): RecordedResponse | undefined {
  const [wanted, recorded] = [formOf(asked), formOf(request)]
  const isSame = wanted.stream === recorded.stream && wanted.includeUsage === recorded.includeUsage
  if (isSame || response.status >= 400) return response
  if (!wanted.stream) return wholeOf(response)
  return isStream(response) ? withUsage(response, wanted.includeUsage) : streamOf(response, wanted)
}

function formOf({ body }: RecordedRequest): Form {
  const fields = body.kind === 'json' ? fieldsOf(body.value) : {}
  const stream = fields.stream === true
  return { stream, includeUsage: stream && fieldsOf(fields.stream_options).include_usage === true }
}

const fieldsOf = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
