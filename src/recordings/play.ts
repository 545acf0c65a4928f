/** Turns a recording into a reply: in the requested format, at the recorded speed or faster. */
import type { OpenBody, PacedBody, Reply } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import { unpaced } from '../core/pace.js'
import { streamOf, wholeOf, withUsage } from './convert.js'
import { callOf } from './json-rpc.js'
import { withIdsOf } from './json-rpc-answer.js'
import { bodyOf, isStream, type RecordedRequest, type RecordedResponse, type Recording } from './recording.js'

/** A reply, and how long to wait before it begins. */
export interface DelayedReply {
  readonly reply: Reply
  readonly afterMs: number
}

/** `speed` 1 is the recorded speed, 2 is twice as fast, and 0 means no pauses. */
export function delayedReplyOf(response: RecordedResponse, speed: number, file: string): DelayedReply {
  const scaled = (ms: number) => (speed === 0 ? 0 : ms / speed)
  const { status, headMs, endMs } = response
  const contentType = headersOf(response, name => name === 'content-type')[1] ?? ''
  const reply: Reply = {
    ...{ kind: 'reply', status, contentType, answeredBy: { kind: 'recording', file }, isRecorded: true },
    ...bodyAndHeaders(response, speed, scaled),
  }
  // A whole answer is sent at once, so it begins when the recorded one ended.
  return { reply, afterMs: scaled(isStream(response) ? headMs : headMs + endMs) }
}

function bodyAndHeaders(response: RecordedResponse, speed: number, scaled: (ms: number) => number) {
  const headers = headersOf(response, name => !droppedHeaders.has(name))
  if (isStream(response) && speed !== 0) return { headers, body: rhythm(response, scaled) }
  const bytes = bodyOf(response)
  if (isStream(response)) return { headers, body: bytes }
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return { headers, body: text }
  return { headers: [...headers, 'content-length', String(bytes.length)], body: bytes }
}

/** The content type has its own field in a reply. Recorded cookies are only placeholders, but browsers would store them. */
const droppedHeaders: ReadonlySet<string> = new Set(['content-type', 'set-cookie'])

/** As node's flat array. */
const headersOf = ({ headers }: RecordedResponse, isWanted: (name: string) => boolean): readonly string[] =>
  headers.flatMap(([name, value]) => (isWanted(name) ? [name, value] : []))

/** Cached, so that the journal does not hold the pieces once for each replay. */
const pieceCache = new WeakMap<RecordedResponse['chunks'], readonly string[]>()

function piecesOf(chunks: RecordedResponse['chunks']): readonly string[] {
  const pieces = pieceCache.get(chunks) ?? [...chunks.map(({ bytes }) => bytes.toString('latin1')), '']
  pieceCache.set(chunks, pieces)
  return pieces
}

function rhythm({ chunks, endMs }: RecordedResponse, scaled: (ms: number) => number): PacedBody {
  return {
    ...{ head: '', before: '', after: '', tail: '', pace: unpaced, isLatin1: true },
    // With an empty last piece, because the end has its own time.
    pieces: piecesOf(chunks),
    atMs: [...chunks.map(({ atMs }) => scaled(atMs)), scaled(Math.max(endMs, chunks.at(-1)?.atMs ?? 0))],
  }
}

/** The same stream, which stays open after its last event. */
export function withOpenEnd(reply: Reply): Reply {
  const { body } = reply
  const { pieces, atMs = [] }: Pick<PacedBody, 'pieces' | 'atMs'> =
    typeof body === 'object' && 'pieces' in body ? body : { pieces: [Buffer.from(body).toString('latin1')] }
  const decoder = new TextDecoder()
  const texts = pieces.map(piece => decoder.decode(Buffer.from(piece, 'latin1'), { stream: true }))
  const endlessBody: OpenBody = {
    ...{ head: '', before: '', pieces: [], after: '', tail: '', pace: unpaced, isEndless: true },
    play: sink => playAt(texts, atMs, sink),
  }
  return { ...reply, body: endlessBody }
}

/** Writes each text at its time. Returns a function that stops it. */
function playAt(texts: readonly string[], atMs: readonly number[], sink: { write(text: string): void }): () => void {
  const startMs = performance.now()
  let timer: NodeJS.Timeout | undefined
  function writeFrom(i: number): void {
    const text = texts[i]
    if (text === undefined) return
    const waitMs = Math.max(0, (atMs[i] ?? 0) - (performance.now() - startMs))
    timer = setTimeout(() => {
      if (text !== '') sink.write(text)
      writeFrom(i + 1)
    }, waitMs)
  }
  writeFrom(0)
  return () => clearTimeout(timer)
}

/** Returns `undefined` if the recording cannot be converted faithfully. */
export function inFormatOf(wanted: RecordedRequest, recording: Recording): RecordedResponse | undefined {
  const { request, response } = recording
  if (callOf(request) !== undefined) return withIdsOf(wanted, recording)
  const [wantedFormat, recordedFormat] = [formatOf(wanted), formatOf(request)]
  const isSame =
    wantedFormat.stream === recordedFormat.stream && wantedFormat.includeUsage === recordedFormat.includeUsage
  if (isSame || response.status >= 400) return response
  if (!wantedFormat.stream) return wholeOf(response)
  return isStream(response) ? withUsage(response, wantedFormat.includeUsage) : streamOf(response, wantedFormat)
}

function formatOf({ body }: RecordedRequest) {
  const { stream, stream_options: options } = body.kind === 'json' && isObject(body.value) ? body.value : {}
  return {
    stream: stream === true,
    includeUsage: stream === true && isObject(options) && options.include_usage === true,
  }
}
