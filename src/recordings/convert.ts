/** Converts recorded chat completions: to a whole answer, to a stream, or to readable text. */

import { isDeepStrictEqual } from 'node:util'
import { eventsIn } from '../completions/events.js'
import { completionIn, contentOf, type VendorChunk, type VendorCompletion } from '../completions/reader.js'
import { chunkOf, readStream } from '../completions/stream.js'
import { stepsOf } from '../completions/writer.js'
import { jsonOf } from '../core/json.js'
import { bodyOf, edited, isStream, type RecordedResponse } from './recording.js'

/** As in a request's `stream_options`. */
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
  if (isError(response)) return response
  if (isStream(response)) return withUsage(response, options.includeUsage)
  const completion = response.complete ? completionIn(jsonOf(bodyOf(response).toString())) : undefined
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
  if (isError(response) || !isStream(response)) return response
  const { completion, isEntire } = readStream(bodyOf(response))
  if (!response.complete || !isEntire || !completion) return undefined
  const { headMs, endMs } = response
  return { ...withBody(response, 'application/json', [JSON.stringify(completion)]), headMs: headMs + endMs }
}

/**
 * Returns the stream as the platform would have sent it with or without `include_usage`. What remains keeps its bytes
 * and times. Returns `undefined` if there is no usage to include. Errors and other answers that are not streams are
 * returned unchanged.
 */
export function withUsage(response: RecordedResponse, includeUsage: boolean): RecordedResponse | undefined {
  if (isError(response) || !isStream(response)) return response
  const events = eventsIn(bodyOf(response))
  if (includeUsage) return events.some(event => chunkOf(event)?.usage) ? response : undefined
  let position = 0
  const edits = events.flatMap(event => {
    const found = usageIn(event)
    const start = position
    position += event.length
    return found ? [{ start: start + found.start, end: start + found.end, bytes: nothing }] : []
  })
  if (edits.length === 0) return response
  const chunks = edited(response.chunks, edits)
  return { ...response, chunks: chunks.filter(({ bytes }) => bytes.length > 0) }
}

const nothing = Buffer.alloc(0)

/** A range within an event. */
interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Finds the usage that is sent only on request. Usage in an event with choices is not: vendors that put it there always
 * send it.
 */
function usageIn(event: Buffer): Span | undefined {
  const chunk = chunkOf(event)
  if (chunk?.usage) return chunk.choices?.length ? undefined : { start: 0, end: event.length }
  return chunk?.usage === null ? nullIn(event, chunk) : undefined
}

/** Finds `usage: null` with its comma. A vendor's own object may contain one as well, so the result is checked. */
function nullIn(event: Buffer, { usage: _, ...others }: VendorChunk): Span | undefined {
  // One character per byte, so that positions in the text are positions in the bytes.
  const found = event.toString('latin1').matchAll(/,\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,?/g)
  const spans = [...found].map(({ 0: { length }, index }) => ({ start: index, end: index + length }))
  const leavesOthers = ({ start, end }: Span) =>
    isDeepStrictEqual(chunkOf(Buffer.concat([event.subarray(0, start), event.subarray(end)])), others)
  return spans.find(leavesOthers)
}

/** Whether the platform answered with an error, which is the same in every format. */
export const isError = ({ status }: RecordedResponse) => status < 200 || status >= 300

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
    ?.map(({ message }, i) => [...(choices.length > 1 ? [`[choice ${i}]`] : []), ...linesOf(message)].join('\n'))
    .join('\n\n')
}

function completionOf(response: RecordedResponse): VendorCompletion | undefined {
  if (!isStream(response)) return completionIn(jsonOf(bodyOf(response).toString()))
  return readStream(bodyOf(response)).completion
}

function linesOf(message: VendorCompletion['choices'][number]['message']): readonly string[] {
  const { text, reasoning, refusal, calls } = contentOf(message)
  return [
    ...(reasoning === '' ? [] : [`[reasoning] ${reasoning}`]),
    ...(text === '' ? [] : [text]),
    ...(refusal === '' ? [] : [`[refusal] ${refusal}`]),
    ...calls.map(call => `${call.name}(${call.arguments})`),
  ]
}
