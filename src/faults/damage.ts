/** Damages a body on its way to the client: which pieces are sent, what happens between them, and how it ends. */
import { setTimeout as pause } from 'node:timers/promises'
import { chunkOf } from '../chat/chunks.js'
import { dataOf, halvedEvent, wholeEvents } from '../chat/events.js'
import type { Fault } from '../core/fault.js'
import { headerIn } from '../core/http.js'
import type { Ending, Transform } from '../core/outlet.js'
import { createInterleaver } from './interleave.js'
import {
  CHUNKS_BEFORE_STOP,
  eventWithBrokenArguments,
  proseEvents,
  stoppedCompletion,
  stoppingEvent,
  withBrokenArguments,
  withProse,
} from './spoil.js'

/** A fault as it changes one answer. */
export interface Damage extends Transform {
  /** Whether the fault took effect. An answer may be too short for it. */
  happened: boolean
}

type Pieces = AsyncIterable<Buffer>
type Damaged = AsyncGenerator<Buffer | Ending, void>

/** What the head says about a body. */
interface BodyFacts {
  readonly isStream: boolean
  /** Its length in bytes, if the head has one. */
  readonly length: number | undefined
}

export function damageOf(fault: Fault): Damage {
  let facts: BodyFacts = { isStream: false, length: undefined }
  const damage: Damage = {
    happened: false,
    head(headers) {
      facts = bodyFactsIn(headers)
      damage.happened ||= fault.contentType !== undefined
      return damagedHeadersOf(headers, fault, facts)
    },
    pieces: (pieces, gone) => damaged(pieces, fault, { ...facts, gone, note }),
  }
  function note(): void {
    damage.happened = true
  }
  return damage
}

interface Circumstances extends BodyFacts {
  /** Aborted when the client has left. */
  readonly gone: AbortSignal
  /** Called when the fault takes effect. */
  readonly note: () => void
}

/** The length of a truncated body. */
const halfLength = (length: number) => Math.floor(length / 2)

function damaged(pieces: Pieces, fault: Fault, how: Circumstances): AsyncIterable<Buffer | Ending> {
  const { isStream, length, note } = how
  const isRewritten = !isStream && (fault.finish !== undefined || fault.malformedArguments || fault.model === 'prose')
  if (isRewritten && fault.cutBytes === undefined) return rewritten(pieces, fault, note)
  const events = isStream ? damagedEvents(eventsOf(pieces, fault, note), fault, how) : pieces
  if (fault.cutBytes !== undefined) return cutAfter(events, fault.cutBytes, 'cut', note)
  if (isStream || length === 0 || !(fault.reset || fault.truncate)) return events
  const ending = fault.reset ? 'reset' : 'end'
  // Of a body of unknown length, half of the first piece is sent.
  return length === undefined ? halfOfFirst(pieces, ending, note) : cutAfter(pieces, halfLength(length), ending, note)
}

/** Ends the body in this way after `bytes` bytes. */
async function* cutAfter(
  pieces: AsyncIterable<Buffer | Ending>,
  bytes: number,
  ending: Ending,
  note: () => void,
): Damaged {
  let left = bytes
  if (left > 0) {
    for await (const piece of pieces) {
      if (typeof piece === 'string') return yield piece
      yield piece.subarray(0, left)
      left -= piece.length
      if (left <= 0) break
    }
  }
  if (left > 0) return
  note()
  yield ending
}

async function* halfOfFirst(pieces: Pieces, ending: Ending, note: () => void): Damaged {
  for await (const piece of pieces) {
    yield piece.subarray(0, halfLength(piece.length))
    note()
    return yield ending
  }
}

/** The events of a stream. With this fault, the fragments of parallel tool calls are mixed. */
async function* eventsOf(pieces: Pieces, { interleave, model }: Fault, note: () => void): AsyncGenerator<Buffer, void> {
  if (model === 'prose') return yield* proseEvents(wholeEvents(pieces), note)
  if (!interleave) return yield* wholeEvents(pieces)
  const interleaver = createInterleaver()
  const pass = ({ events, isMixed }: ReturnType<typeof interleaver.push>) => {
    if (isMixed) note()
    return events.filter(event => event.length > 0)
  }
  for await (const piece of pieces) yield* pass(interleaver.push(piece))
  yield* pass(interleaver.rest())
}

/** Changes the JSON of a completion that is no stream. */
async function* rewritten(pieces: Pieces, { finish, malformedArguments, model }: Fault, note: () => void): Damaged {
  const parts: Buffer[] = []
  for await (const piece of pieces) parts.push(piece)
  const body = Buffer.concat(parts)
  const stopped = finish && stoppedCompletion(body, finish)
  const changed =
    (malformedArguments && withBrokenArguments(stopped ?? body)) || (model === 'prose' && withProse(body)) || stopped
  if (changed) note()
  yield changed || body
}

/** The event with which a stream ends instead of this one, as if it were complete; `undefined` if it goes on. */
function endingBefore(event: Buffer, { end, finish }: Fault, chunks: number): Buffer[] | undefined {
  const chunk = chunkOf(event)
  const most = end ?? (finish && chunk && CHUNKS_BEFORE_STOP)
  if (most === undefined) return undefined
  // The original reason would make the stream complete.
  const isDue = chunks >= most || chunk?.choices?.some(({ finish_reason }) => finish_reason) === true
  if (!isDue) return undefined
  const last = finish && stoppingEvent(event, finish)
  return last ? [last] : []
}

/** A stream is reset after this many chunks. */
const CHUNKS_BEFORE_RESET = 2

async function* damagedEvents(events: Pieces, fault: Fault, { gone, note }: Circumstances): Damaged {
  let chunks = 0
  /** The last chunk so far, held back if the very last one is to be truncated. */
  let held: Buffer | undefined

  /** What is due after this number of chunks. */
  async function* due(): Damaged {
    if (chunks === fault.stall) {
      note()
      await silence(fault.stallMs, gone)
    }
    const isCut = chunks === fault.cut
    const isReset = fault.reset && chunks === CHUNKS_BEFORE_RESET
    const isFailed = chunks === fault.fail
    if (isCut || isReset || isFailed) note()
    if (isFailed) yield Buffer.from(`data: ${JSON.stringify(errorEvent(fault.message ?? brokenStream))}\n\n`)
    if (isCut || isReset || isFailed) yield isCut ? 'cut' : isReset ? 'reset' : 'end'
  }

  async function* passChunk(event: Buffer, isHalved: boolean): Damaged {
    chunks++
    const whole = (fault.malformedArguments && eventWithBrokenArguments(event)) || event
    const sent = isHalved || chunks === fault.malformed ? halvedEvent(whole) : whole
    if (sent !== event) note()
    yield sent
    yield* due()
  }

  yield* due()
  for await (const event of events) {
    const data = dataOf(event)
    const isDone = data?.trim() === '[DONE]'
    const ending = data === undefined || isDone ? undefined : endingBefore(event, fault, chunks)
    if (ending) {
      note()
      yield* ending
      if (chunkOf(event)) yield* passDone(doneEvent, fault, note)
      return yield 'end'
    }
    if (data === undefined) yield event
    else if (isDone) {
      if (held) yield* passChunk(held, true)
      held = undefined
      yield* passDone(event, fault, note)
    } else if (!fault.truncate) yield* passChunk(event, false)
    else {
      if (held) yield* passChunk(held, false)
      held = event
    }
  }
  if (held) yield* passChunk(held, true)
  if (!fault.reset) return
  note()
  yield 'reset'
}

function* passDone(event: Buffer, { done }: Fault, note: () => void): Generator<Buffer, void> {
  if (done !== undefined) note()
  if (done !== 'missing') yield event
  if (done === 'double') yield event
}

/** Sends nothing for this long, or until the client leaves. */
async function silence(ms: number | undefined, gone: AbortSignal): Promise<void> {
  if (ms === undefined) await new Promise(() => {})
  else await pause(ms, undefined, { signal: gone })
}

function bodyFactsIn(headers: readonly string[]): BodyFacts {
  const length = headerIn(headers, 'content-length')
  const encoding = headerIn(headers, 'content-encoding') ?? 'identity'
  return {
    // A compressed stream cannot be split into events.
    isStream: /^text\/event-stream\b/i.test(headerIn(headers, 'content-type') ?? '') && encoding === 'identity',
    length: length === undefined ? undefined : Number(length),
  }
}

/** The headers to send with this fault: with its content type, and without a length that the damage would make wrong. */
function damagedHeadersOf(headers: readonly string[], fault: Fault, { isStream, length }: BodyFacts): string[] {
  const { contentType, truncate } = fault
  const { malformed, done, fail, end, interleave, finish, malformedArguments, model } = fault
  const changesStream = (malformed ?? done ?? fail ?? end ?? interleave ?? model) !== undefined
  const changesContent = finish !== undefined || malformedArguments === true || model === 'prose'
  const changesLength = truncate || changesContent || (isStream && changesStream)
  const sentHeaders = headers.filter((_text, i) => {
    const name = headers[i - (i % 2)]?.toLowerCase()
    if (name === 'content-type') return contentType === undefined
    return name !== 'content-length' || !changesLength
  })
  if (contentType !== undefined) sentHeaders.push('content-type', contentType)
  if (truncate && !isStream && length !== undefined) sentHeaders.push('content-length', String(halfLength(length)))
  return sentHeaders
}

const doneEvent = Buffer.from('data: [DONE]\n\n')

/** The error event at the end of a stream. */
const brokenStream = 'Something went wrong on the server while the answer was being sent.'

/**
 * An error as an event of a stream, in OpenAI's format: the platform's document covers HTTP errors only, and the AI SDK
 * shows no other format.
 */
const errorEvent = (message: string) => ({ error: { message, type: 'server_error', param: null, code: null } })
