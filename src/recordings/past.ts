/** Records an exchange that has ended, as the recorder would have done while it was running. */

import { eventsIn } from '../completions/events.js'
import { MOST_TIMED_PIECES } from '../core/clock.js'
import { cannotBeRecorded } from '../core/errors.js'
import type { Exchange, Outcome, PacedBody, Reply, UpstreamResponse } from '../core/exchange.js'
import { isAuth } from '../core/paths.js'
import { inSlices } from '../core/work.js'
import type { Redact, Redaction } from '../redact/index.js'
import { redactedRequest } from './key.js'
import { type Capture, type RecordedChunk, type Recording, responseOf } from './recording.js'
import { redactResponse } from './redacted.js'

/** An exchange that has ended. */
export interface PastExchange {
  readonly exchange: Exchange
  /** When it ended, in milliseconds since 1970. */
  readonly atMs: number
  readonly durationMs: number
}

/** Rejects with a PlatformError that says why the exchange cannot be recorded. `maxBytes` is the limit for one body. */
export async function recordingOfPast(past: PastExchange, redact: Redact, maxBytes: number): Promise<Recording> {
  const { exchange, atMs, durationMs } = past
  const { request, redaction, objection } = redactedRequest(exchange, { redact, maxBytes })
  if (objection !== undefined) throw cannotBeRecorded(objection)
  const capture = captureOf(past, redaction)
  const bytes = capture.chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0)
  if (bytes > maxBytes) throw cannotBeRecorded(`its answer is larger than recordings.maxBytes (${maxBytes})`)
  const response = await responseOf(capture, maxBytes).catch(({ message }: Error) => {
    throw cannotBeRecorded(message)
  })
  if (!response.complete) throw cannotBeRecorded('its answer broke off')
  return {
    recordedAt: new Date(atMs - durationMs).toISOString(),
    request,
    response: await inSlices(redactResponse(response, redaction)),
  }
}

function captureOf({ exchange, durationMs }: PastExchange, redaction: Redaction): Capture {
  const { outcome, method, startedMs } = exchange
  const objection = objectionTo(exchange, redaction)
  if (objection !== undefined || !outcome?.answer) throw cannotBeRecorded(objection ?? 'no answer was sent')
  const { status, complete, beganMs = startedMs, piecesAtMs = [] } = outcome
  const answer = outcome.upstream ?? outcome.answer
  const headMs = beganMs - startedMs
  const endMs = Math.max(0, durationMs - headMs)
  const type = answer.kind === 'reply' && answer.contentType !== '' ? ['content-type', answer.contentType] : []
  return {
    ...{ status, headMs, endMs, complete },
    headers: [...type, ...(answer.headers ?? [])],
    // The answer to HEAD has no body.
    chunks: method === 'HEAD' ? [] : chunksOf(answer, { piecesAtMs, endMs }),
  }
}

/** Returns why an exchange cannot be recorded, as the end of a sentence after "because"; `undefined` if it can. */
function objectionTo({ path, endpoint, outcome }: Exchange, redaction: Redaction): string | undefined {
  if (isAuth(path)) return 'it is a request to the auth backend, whose answers are never recorded'
  if (!outcome || outcome.status === 0 || !outcome.answer) return 'no answer was sent'
  if (outcome.error !== undefined) {
    return `its answer is an error of Standin's own (${redaction.text(outcome.error).replace(/[.!?]+$/, '')}). A rule can give the same answer`
  }
  if (!endpoint) return 'it is not a request to an endpoint of the platform'
  if (outcome.fault?.isSpoilt) return 'a fault changed its answer'
  return objectionToAnswer(outcome)
}

function objectionToAnswer({ answer: delivered, upstream, complete }: Outcome): string | undefined {
  const answer = upstream ?? delivered
  // A client may hang up after [DONE]. Whether the answer is complete shows in what the live platform sent.
  if (answer?.kind !== 'upstream') return complete ? undefined : 'its answer broke off'
  const keptBytes = answer.beginning.reduce((sum, { length }) => sum + length, 0)
  return answer.bytes > keptBytes
    ? `the journal has only the beginning of its answer (${keptBytes} of ${answer.bytes} bytes). Repeat the request in mode record`
    : undefined
}

/** When the pieces were sent, as far as known, and when the answer ended, both counted from the head. */
interface PieceTimes {
  readonly piecesAtMs: readonly number[]
  readonly endMs: number
}

/** The chunks of a body; of a live answer, those that the journal has. */
export function chunksOf(answer: Reply | UpstreamResponse, times: PieceTimes): readonly RecordedChunk[] {
  if (answer.kind === 'upstream') return timed(answer.beginning, times)
  const { body, regenerate, contentType } = answer
  if (typeof body === 'string') return body === '' ? [] : [{ atMs: times.endMs, bytes: Buffer.from(body) }]
  if (!Buffer.isBuffer(body)) return timed(piecesOf(body), inRhythm(body, times))
  const bytes = regenerate?.() ?? body
  // The pieces of this stream were sent at once. One chunk per event reads better.
  return timed(/^text\/event-stream\b/i.test(contentType) ? eventsIn(bytes) : [bytes], { piecesAtMs: [], endMs: 0 })
}

function piecesOf({ head, before, pieces, after, tail, isLatin1 }: PacedBody): readonly Buffer[] {
  const texts = pieces.length === 0 ? [''] : pieces.map(piece => before + piece + after)
  return texts.map((text, i) => {
    const whole = (i === 0 ? head : '') + text + (i === texts.length - 1 ? tail : '')
    return Buffer.from(whole, isLatin1 ? 'latin1' : 'utf8')
  })
}

/** A replayed stream has a time for each piece. */
const inRhythm = ({ atMs, pieces }: PacedBody, times: PieceTimes): PieceTimes =>
  atMs?.length === pieces.length ? { ...times, piecesAtMs: atMs } : times

/** Spreads the known times over all pieces, since some were sent together or were not timed. */
function timed(pieces: readonly Buffer[], { piecesAtMs, endMs }: PieceTimes): readonly RecordedChunk[] {
  const known = piecesAtMs.length === 0 ? [0] : [...piecesAtMs]
  if (known.length >= MOST_TIMED_PIECES && pieces.length > known.length) known.push(endMs)
  return pieces
    .map((bytes, i) => ({ atMs: spread(known, pieces.length === 1 ? 0 : i / (pieces.length - 1)), bytes }))
    .filter(({ bytes }) => bytes.length > 0)
}

/** The time at a fraction of the way, from 0 to 1. */
function spread(times: readonly number[], fraction: number): number {
  const index = fraction * (times.length - 1)
  const [before, after] = [times[Math.floor(index)] ?? 0, times[Math.ceil(index)] ?? 0]
  return before + (after - before) * (index - Math.floor(index))
}
