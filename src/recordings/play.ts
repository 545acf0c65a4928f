/** Turns a recording into a reply: at the recorded speed or faster, as a whole answer, as a stream, or as readable text. */
import { chunkOf, readStream, stepsOf } from '../chat/chunks.js'
import { dataOf, eventsIn } from '../chat/events.js'
import { completionIn, contentOf, type VendorCompletion } from '../chat/reader.js'
import { exactJsonOf, isObject, jsonOf, stringifyExact } from '../core/json.js'
import { unpaced } from '../core/pace.js'
import { openBody, type PacedBody, type Reply } from '../core/reply.js'
import { asksForChat } from '../endpoints/index.js'
import { editedChunks } from '../redact/edits.js'
import { rpcCallOf, withIdsOf } from './json-rpc.js'
import {
  hasRhythm,
  isStream,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
  recordedBody,
} from './recording.js'

/** A reply, and how long to wait before it begins. */
export interface DelayedReply {
  readonly reply: Reply
  readonly afterMs: number
}

/** `speed` 1 is the recorded speed, 2 is twice as fast, and 0 means no pauses. */
export function delayedReplyOf(response: RecordedResponse, speed: number, file: string): DelayedReply {
  const scaled = (ms: number) => (speed === 0 ? 0 : ms / speed)
  const { status, statusText, headMs, endMs } = response
  const contentType = flatHeaders(response, name => name === 'content-type')[1] ?? ''
  const reply: Reply = {
    kind: 'reply',
    status,
    statusText,
    contentType,
    answeredBy: { kind: 'recording', file },
    isRecorded: true,
    ...bodyAndHeaders(response, speed, scaled),
  }
  // A whole answer is sent at once, so it begins when the recorded one ended.
  return { reply, afterMs: scaled(hasRhythm(response) ? headMs : headMs + endMs) }
}

function bodyAndHeaders(response: RecordedResponse, speed: number, scaled: (ms: number) => number) {
  const headers = flatHeaders(response, name => !droppedHeaders.has(name))
  if (hasRhythm(response) && speed !== 0) return { headers, body: rhythm(response, scaled) }
  const bytes = recordedBody(response)
  if (hasRhythm(response)) return { headers, body: bytes }
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return { headers, body: text }
  return { headers: [...headers, 'content-length', String(bytes.length)], body: bytes }
}

/** The content type has its own field in a reply. Recorded cookies are only placeholders, but browsers would store them. */
const droppedHeaders: ReadonlySet<string> = new Set(['content-type', 'set-cookie'])

/** As node's flat array. */
const flatHeaders = ({ headers }: RecordedResponse, isWanted: (name: string) => boolean): readonly string[] =>
  headers.flatMap(([name, value]) => (isWanted(name) ? [name, value] : []))

function rhythm({ chunks, endMs }: RecordedResponse, scaled: (ms: number) => number): PacedBody {
  return {
    head: '',
    before: '',
    after: '',
    tail: '',
    pace: unpaced,
    isLatin1: true,
    // With an empty last piece, because the end has its own time.
    pieces: [...chunks.map(({ bytes }) => bytes.toString('latin1')), ''],
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
  const endlessBody = openBody(sink => {
    const timers = texts.map((text, i) => setTimeout(() => text !== '' && sink.write(text), atMs[i] ?? 0))
    return () => timers.forEach(clearTimeout)
  }, true)
  return { ...reply, body: endlessBody }
}

/** Returns `undefined` if the recording cannot be converted faithfully. */
export function inFormatOf(wanted: RecordedRequest, recording: Recording): RecordedResponse | undefined {
  const { request, response } = recording
  if (rpcCallOf(request) !== undefined) return withIdsOf(wanted, recording)
  const [wantedFormat, recordedFormat] = [formatOf(wanted), formatOf(request)]
  if (wantedFormat === recordedFormat || response.status >= 400 || wantedFormat === 'no body') return response
  if (recordedFormat === 'no body') return undefined
  if (wantedFormat === 'whole') return wholeOf(response)
  const options = { includeUsage: wantedFormat === 'stream with usage' }
  return isStream(response) ? withUsage(response, options.includeUsage) : streamOf(response, options)
}

/** How an answer is wanted, which does not make its request another one. */
export const formats = ['stream with usage', 'whole', 'stream', 'no body'] as const
export type Format = (typeof formats)[number]

export function formatOf({ method, path, body }: RecordedRequest): Format {
  if (method === 'HEAD') return 'no body'
  const { stream, stream_options: options } = body.kind === 'json' && isObject(body.value) ? body.value : {}
  if (stream !== true || !asksForChat(path)) return 'whole'
  return isObject(options) && options.include_usage === true ? 'stream with usage' : 'stream'
}

interface StreamOptions {
  readonly includeUsage: boolean
}

/**
 * Returns the events that the platform would have sent instead of this completion, all at the time at which it was
 * complete. An error is the same in both formats and is returned unchanged. A stream is returned with or without its
 * usage, as requested. Returns `undefined` for a stream without the requested usage, and for anything else that is not a
 * complete chat completion.
 */
export function streamOf(response: RecordedResponse, options: StreamOptions): RecordedResponse | undefined {
  if (isErrorAnswer(response)) return response
  if (isStream(response)) return withUsage(response, options.includeUsage)
  const completion = response.complete ? completionIn(jsonOf(recordedBody(response).toString())) : undefined
  return completion && withBody(response, 'text/event-stream; charset=utf-8', [...framed(completion, options)])
}

function* framed(completion: VendorCompletion, { includeUsage }: StreamOptions): Generator<string> {
  const { id, object: _, created, model, service_tier, system_fingerprint, choices, usage, ...others } = completion
  const hasUsage = includeUsage && usage
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  const envelope = { id, object: 'chat.completion.chunk', created, model, service_tier, system_fingerprint }
  // OpenAI's reference on include_usage: every event has the field, and it is null in all but the last.
  const nullUsage = hasUsage ? { usage: null } : {}
  // Other fields of a vendor are sent once.
  let vendorFields: object = others

  const tracks = choices.map((choice, i) => stepsOf({ ...choice, index: choice.index ?? i }))
  const turns = Math.max(...tracks.map(({ length }) => length))
  for (let turn = 0; turn < turns; turn++) {
    for (const step of tracks.flatMap(track => track[turn] ?? [])) {
      yield event({ ...envelope, ...vendorFields, choices: [step], ...nullUsage })
      vendorFields = {}
    }
  }
  if (hasUsage) yield event({ ...envelope, choices: [], usage })
  yield 'data: [DONE]\n\n'
}

/**
 * Returns the JSON object that the platform would have sent instead of this stream, at the time at which the stream
 * ended. Errors and other answers that are not streams are returned unchanged. Returns `undefined` for a stream that
 * broke off, failed in the middle or is not a chat completion.
 */
export function wholeOf(response: RecordedResponse): RecordedResponse | undefined {
  if (isErrorAnswer(response) || !isStream(response)) return response
  const { completion, isEntire } = readStream(recordedBody(response))
  if (!response.complete || !isEntire || !completion) return undefined
  const { headMs, endMs } = response
  return { ...withBody(response, 'application/json', [JSON.stringify(completion)]), headMs: headMs + endMs }
}

/**
 * Returns the stream as the platform would have sent it with or without `include_usage`. Events without usage keep their
 * bytes and times. Returns `undefined` if there is no usage to include. Errors and other answers that are not streams are
 * returned unchanged.
 */
export function withUsage(response: RecordedResponse, includeUsage: boolean): RecordedResponse | undefined {
  if (isErrorAnswer(response) || !isStream(response)) return response
  const events = eventsIn(recordedBody(response))
  if (includeUsage) return events.some(event => chunkOf(event)?.usage) ? response : undefined
  let position = 0
  const edits = events.flatMap(event => {
    const start = position
    position += event.length
    const bytes = withoutUsage(event)
    return bytes === event ? [] : [{ start, end: position, to: bytes }]
  })
  if (edits.length === 0) return response
  const chunks = editedChunks(response.chunks, edits)
  return { ...response, chunks: chunks.filter(({ bytes }) => bytes.length > 0) }
}

/**
 * Removes the usage that is sent only on request. Usage in an event with choices is not: vendors that put it there always
 * send it.
 */
function withoutUsage(event: Buffer): Buffer {
  const { usage, choices } = chunkOf(event) ?? {}
  if (usage === undefined || (usage !== null && choices?.length)) return event
  const { usage: _, ...others } = exactJsonOf(dataOf(event) ?? '') as object & { usage: unknown }
  return Buffer.from(usage === null ? `data: ${stringifyExact(others)}\n\n` : '')
}

/** Whether the platform answered with an error, which is the same in every format. */
const isErrorAnswer = ({ status }: RecordedResponse) => status < 200 || status >= 300

/** The same answer with another body, sent all at once. */
const withBody = (response: RecordedResponse, contentType: string, pieces: readonly string[]): RecordedResponse => ({
  ...response,
  headers: [...response.headers.filter(([name]) => name !== 'content-type'), ['content-type', contentType]],
  chunks: pieces.map(piece => ({ atMs: 0, bytes: Buffer.from(piece) })),
  endMs: 0,
})

/**
 * Returns the text of every choice, with tool calls as `name(arguments)`, and refusals and reasoning marked as such.
 * For a stream that broke off, returns the text up to there. Returns `undefined` if it is not a chat completion. Never
 * throws.
 */
export function assembledText(response: RecordedResponse): string | undefined {
  const choices = completionOf(response)?.choices
  return choices
    ?.map(({ message }, i) => [...(choices.length > 1 ? [`[choice ${i}]`] : []), ...messageLines(message)].join('\n'))
    .join('\n\n')
}

/** The names of the tools that a chat completion calls. */
export const toolsCalledIn = (response: RecordedResponse): readonly string[] =>
  completionOf(response)?.choices.flatMap(({ message }) => contentOf(message).calls.map(({ name }) => name)) ?? []

function completionOf(response: RecordedResponse): VendorCompletion | undefined {
  if (!isStream(response)) return completionIn(jsonOf(recordedBody(response).toString()))
  return readStream(recordedBody(response)).completion
}

function messageLines(message: VendorCompletion['choices'][number]['message']): readonly string[] {
  const { text, reasoning, refusal, calls } = contentOf(message)
  return [
    ...(reasoning === '' ? [] : [`[reasoning] ${reasoning}`]),
    ...(text === '' ? [] : [text]),
    ...(refusal === '' ? [] : [`[refusal] ${refusal}`]),
    ...calls.map(call => `${call.name}(${call.arguments})`),
  ]
}
