/** Makes a recording of an exchange that is over, as the recorder would have made it while the answer went by. */

import { eventsIn } from '../completions/events.js'
import { MOST_PIECES_TIMED } from '../core/clock.js'
import { cannotBeRecorded } from '../core/errors.js'
import type { Exchange, Outcome, Paced, Reply, UpstreamResponse } from '../core/exchange.js'
import { isAuth } from '../core/paths.js'
import { inSlices } from '../core/work.js'
import { credentialsOf, type Redact, type Redaction } from '../redact/index.js'
import { askedIn, requestOf } from './key.js'
import { type Capture, type RecordedChunk, type Recording, responseOf } from './recording.js'
import { redactResponse } from './redacted.js'

/** An exchange that is over. */
export interface Past {
  readonly exchange: Exchange
  /** When it was over, in milliseconds since 1970. */
  readonly atMs: number
  readonly durationMs: number
}

interface Making {
  readonly redact: Redact
  /** Of one body. */
  readonly maxBytes: number
}

/** Rejects with a PlatformError that says why where it cannot be one. */
export async function recordingOfPast(past: Past, { redact, maxBytes }: Making): Promise<Recording> {
  const { exchange, atMs, durationMs } = past
  const redaction = redact(credentialsOf(exchange, redact))
  const capture = captureOf(past, redaction)
  if (bytesIn(capture) > maxBytes) throw cannotBeRecorded(`its answer is larger than recordings.maxBytes (${maxBytes})`)
  const response = await responseOf(capture, maxBytes).catch(({ message }: Error) => {
    throw cannotBeRecorded(message)
  })
  if (!response.complete) throw cannotBeRecorded('its answer broke off')
  return {
    recordedAt: new Date(atMs - durationMs).toISOString(),
    request: requestOf(askedIn(exchange), redaction),
    response: await inSlices(redactResponse(response, redaction)),
  }
}

const bytesIn = ({ chunks }: Capture) => chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)

function captureOf({ exchange, durationMs }: Past, redaction: Redaction): Capture {
  const { outcome, method, startedMs } = exchange
  const why = objectionTo(exchange, redaction)
  if (why !== undefined || !outcome?.said) throw cannotBeRecorded(why ?? 'no answer has left')
  const { status, complete, beganMs = startedMs, piecesAtMs = [] } = outcome
  const said = outcome.upstream ?? outcome.said
  const headMs = beganMs - startedMs
  const endMs = Math.max(0, durationMs - headMs)
  const type = said.kind === 'reply' && said.contentType !== '' ? ['content-type', said.contentType] : []
  return {
    ...{ status, headMs, endMs, complete },
    headers: [...type, ...(said.headers ?? [])],
    // The answer to a HEAD has no body.
    chunks: method === 'HEAD' ? [] : chunksOf(said, { piecesAtMs, endMs }),
  }
}

/** Why an exchange can be no recording: the rest of a sentence that begins with "because"; nothing where it can. */
function objectionTo({ path, endpoint, outcome }: Exchange, redaction: Redaction): string | undefined {
  if (isAuth(path)) return 'it is with the auth backend, whose answers are never recorded'
  if (!outcome || outcome.status === 0 || !outcome.said) return 'no answer has left'
  if (outcome.error !== undefined) {
    return `its answer is an error of Standin's own (${redaction.text(outcome.error).replace(/[.!?]+$/, '')}). A rule can say the same`
  }
  if (!endpoint) return 'it is not with an endpoint of the platform'
  if (outcome.fault?.isSpoilt) return 'a fault has spoilt its answer'
  return objectionToAnswer(outcome)
}

function objectionToAnswer({ said: delivered, upstream, complete }: Outcome): string | undefined {
  const said = upstream ?? delivered
  // A client that has read [DONE] may hang up; it shows in what the live platform has sent.
  if (said?.kind !== 'heard') return complete ? undefined : 'its answer broke off'
  const kept = said.beginning.reduce((sum, { length }) => sum + length, 0)
  return said.bytes > kept
    ? `the journal has only the beginning of its answer (${kept} of ${said.bytes} bytes). Ask it again in mode record`
    : undefined
}

/** When its pieces left after the head, as far as that is known, and when it was over. */
interface PieceTimes {
  readonly piecesAtMs: readonly number[]
  readonly endMs: number
}

/** The chunks of a body; of one of the live platform as much as is kept. */
export function chunksOf(said: Reply | UpstreamResponse, times: PieceTimes): readonly RecordedChunk[] {
  if (said.kind === 'heard') return timed(said.beginning, times)
  const { body, again, contentType } = said
  if (typeof body === 'string') return body === '' ? [] : [{ atMs: times.endMs, bytes: Buffer.from(body) }]
  if (!Buffer.isBuffer(body)) return timed(piecesOf(body), inRhythm(body, times))
  const bytes = again?.() ?? body
  // The pieces of this stream came at once: each event reads better by itself.
  return timed(/^text\/event-stream\b/i.test(contentType) ? eventsIn(bytes) : [bytes], { piecesAtMs: [], endMs: 0 })
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
const inRhythm = ({ atMs, pieces }: Paced, times: PieceTimes): PieceTimes =>
  atMs?.length === pieces.length ? { ...times, piecesAtMs: atMs } : times

/** Where several pieces left together, or more of them than are timed, the times that are known are spread over them. */
function timed(pieces: readonly Buffer[], { piecesAtMs, endMs }: PieceTimes): readonly RecordedChunk[] {
  const known = piecesAtMs.length === 0 ? [0] : [...piecesAtMs]
  if (known.length >= MOST_PIECES_TIMED && pieces.length > known.length) known.push(endMs)
  return pieces
    .map((bytes, i) => ({ atMs: spread(known, pieces.length === 1 ? 0 : i / (pieces.length - 1)), bytes }))
    .filter(({ bytes }) => bytes.length > 0)
}

/** The time at a part of the way from the first to the last, from 0 to 1. */
function spread(times: readonly number[], part: number): number {
  const at = part * (times.length - 1)
  const [before, after] = [times[Math.floor(at)] ?? 0, times[Math.ceil(at)] ?? 0]
  return before + (after - before) * (at - Math.floor(at))
}
