/** An answer as the journal keeps it, in the chunks in which it left. */
import { createEventSplitter } from '../core/events.js'
import type { Heard, Paced, Reply } from '../core/exchange.js'
import type { RecordedChunk } from './recording.js'

/** When its pieces left after the head, as far as that is known, and when it was over. */
export interface Times {
  readonly piecesAtMs: readonly number[]
  readonly endMs: number
}

/** The chunks of a body; of one of the live platform as much as is kept. */
export function chunksOf(said: Reply | Heard, times: Times): readonly RecordedChunk[] {
  if (said.kind === 'heard') return timed(said.beginning, times)
  const { body, again, contentType } = said
  if (typeof body === 'string') return body === '' ? [] : [{ atMs: times.endMs, bytes: Buffer.from(body) }]
  if (!Buffer.isBuffer(body)) return timed(piecesOf(body), inRhythm(body, times))
  const bytes = again?.() ?? body
  return timed(/^text\/event-stream\b/i.test(contentType) ? eventsIn(bytes) : [bytes], { piecesAtMs: [], endMs: 0 })
}

/** A stream that was there at once: each event reads better by itself. */
function eventsIn(bytes: Buffer): readonly Buffer[] {
  const splitter = createEventSplitter()
  const events = splitter.push(bytes)
  const rest = splitter.rest()
  return rest.length === 0 ? events : [...events, rest]
}

function piecesOf({ head, before, pieces, after, tail, bytewise }: Paced): readonly Buffer[] {
  const framed = pieces.map(piece => before + piece + after)
  const whole = framed.length === 0 ? [head + tail] : framed
  return whole.map((text, i) => {
    const first = i === 0 && framed.length > 0 ? head : ''
    const last = i === whole.length - 1 && framed.length > 0 ? tail : ''
    return Buffer.from(first + text + last, bytewise ? 'latin1' : 'utf8')
  })
}

/** A recorded rhythm is known for each of its pieces. */
const inRhythm = ({ atMs, pieces }: Paced, times: Times): Times =>
  atMs?.length === pieces.length ? { ...times, piecesAtMs: atMs } : times

/** Where several pieces left together, or more of them than are timed, the times that are known are spread over them. */
function timed(pieces: readonly Buffer[], { piecesAtMs, endMs }: Times): readonly RecordedChunk[] {
  const known = piecesAtMs.length === 0 ? [0] : [...piecesAtMs]
  if (known.length >= MOST_TIMES && pieces.length > known.length) known.push(endMs)
  return pieces
    .map((bytes, i) => ({ atMs: spread(known, pieces.length === 1 ? 0 : i / (pieces.length - 1)), bytes }))
    .filter(({ bytes }) => bytes.length > 0)
}

/** So many times of one stream are kept. */
const MOST_TIMES = 1000

/** The time at a part of the way from the first to the last, from 0 to 1. */
function spread(times: readonly number[], part: number): number {
  const at = part * (times.length - 1)
  const [before, after] = [times[Math.floor(at)] ?? 0, times[Math.ceil(at)] ?? 0]
  return before + (after - before) * (at - Math.floor(at))
}
