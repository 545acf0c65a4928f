/** Recorded answers for tests, whole and as streams cut at any place. */
import fc from 'fast-check'
import type { RecordedResponse } from '../../src/recordings/index.js'
import { recordedBody } from '../../src/recordings/recording.js'

const answer = (contentType: string, chunks: RecordedResponse['chunks']): RecordedResponse => ({
  status: 200,
  headers: [
    ['content-type', contentType],
    ['x-request-id', 'req-7'],
  ],
  headMs: 120,
  chunks,
  endMs: 400,
  complete: true,
})

/** An answer that is one JSON object. */
export const whole = (body: unknown): RecordedResponse =>
  answer('application/json', [{ atMs: 80, bytes: Buffer.from(JSON.stringify(body)) }])

/** A stream with this body; its chunks, 10 ms apart, end at these places. */
export const stream = (body: string | Buffer, places: readonly number[] = []): RecordedResponse =>
  answer(
    'text/event-stream',
    cutAt(Buffer.from(body), places).map((bytes, i) => ({ atMs: i * 10, bytes })),
  )

/** A stream of these events and `[DONE]`. */
export const streaming = (...events: readonly object[]): RecordedResponse =>
  stream([...events.map(event => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'].join(''))

/** A stream of one choice with these deltas. */
export const saying = (...deltas: readonly object[]): RecordedResponse =>
  streaming(...deltas.map(delta => piece({ index: 0, delta, finish_reason: null })), piece({ ...ended, delta: {} }))

export const ended = { index: 0, finish_reason: 'stop' }

/** An event with these choices. */
export const piece = (...choices: readonly object[]) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_750_000_000, model: 'gpt-4o' },
  choices,
})

export const textOf = (response: RecordedResponse | undefined): string | undefined =>
  response && `${recordedBody(response)}`

/** The JSON of an answer; `undefined` if there is none. */
export const jsonOf = (response: RecordedResponse | undefined) => response && JSON.parse(`${recordedBody(response)}`)

/** The objects of the events of a stream that ended with `[DONE]`. */
export function objectsOf(response: RecordedResponse | undefined) {
  const events = textOf(response)?.split('\n\n') ?? []
  if (events.splice(-2).join() !== 'data: [DONE],') throw new Error('The stream does not end with [DONE].')
  return events.map(event => JSON.parse(event.replace(/^data: /, '')))
}

/** Places where the network may cut. */
export const places = fc.array(fc.nat(), { maxLength: 30 })

/** `bytes` in pieces that may end anywhere, even in the middle of a character. */
export function cutAt(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...places.map(place => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end)).filter(({ length }) => length > 0)
}
