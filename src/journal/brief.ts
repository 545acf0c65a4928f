/** A short version of an exchange for lists, made without reading bodies. */
import { MOST_TIMED_PIECES } from '../core/clock.js'
import { shortened } from '../core/errors.js'
import { type Exchange, type Outcome, sourceOf } from '../core/exchange.js'
import { appliedFaultInWords } from '../core/reply.js'
import { credentialsOf, type Redact } from '../recordings/redact/index.js'
import type { JournaledExchange } from './entry.js'
import { bodyBytesOf, contentOf, endingOf, isMissed, timesOf } from './facts.js'
import type { JournalBrief } from './shapes.js'

/** Longer texts are cut to this length. */
const MOST_CHARACTERS = 300
/** A bar in the list cannot show more times. */
const MOST_TIMES = 60

export function briefOf({ id, exchange, atMs, durationMs }: JournaledExchange, redact: Redact): JournalBrief {
  const { method, path, caller, scope, endpoint, mode = null, outcome } = exchange
  const redaction = redact(credentialsOf(exchange, redact))
  // Redacts first and shortens afterwards, since half a secret is not recognized.
  const redacted = (text: string | null | undefined) =>
    text == null ? null : shortened(redaction.text(text), MOST_CHARACTERS)
  const content = contentOf(exchange)
  return {
    id: String(id),
    at: new Date(atMs).toISOString(),
    ...{ scope, caller, method },
    path: redacted(path) ?? '',
    endpoint: redacted(endpoint && `${endpoint.method} ${endpoint.path}`),
    mode,
    model: redacted(content.model),
    prompt: redacted(content.prompt),
    call: redacted(content.call),
    stream: content.stream,
    source: sourceOf(outcome),
    fault: redacted(outcome?.fault?.happened ? appliedFaultInWords(outcome.fault) : null),
    missed: isMissed(exchange),
    ...endingOf(exchange, redacted),
    requestBytes: bodyBytesOf(exchange),
    responseBytes: bytesIn(outcome),
    ...timesOf(exchange, durationMs),
    pieces: piecesOf(exchange),
    piecesAtMs: sampled(outcome?.piecesAtMs ?? []),
  }
}

function bytesIn({ answer, sentBytes }: Partial<Outcome> = {}): number {
  if (!answer) return 0
  if (answer.kind === 'upstream') return answer.bytes
  if (sentBytes !== undefined) return sentBytes
  const { body } = answer
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (Buffer.isBuffer(body)) return body.length
  const { head, before, pieces, after, tail, isLatin1 } = body
  const length = (text: string) => (isLatin1 ? text.length : Buffer.byteLength(text))
  const framing = length(before) + length(after)
  return pieces.reduce((sum, piece) => sum + framing + length(piece), length(head) + length(tail))
}

/** The number of pieces with a time, or of all pieces if more were sent than timed. */
function piecesOf({ outcome }: Exchange): number {
  const { answer, complete, piecesAtMs = [] } = outcome ?? {}
  if (answer?.kind !== 'reply' || typeof answer.body === 'string' || Buffer.isBuffer(answer.body))
    return piecesAtMs.length
  return complete && piecesAtMs.length >= MOST_TIMED_PIECES ? answer.body.pieces.length : piecesAtMs.length
}

function sampled(times: readonly number[]): readonly number[] {
  if (times.length <= MOST_TIMES) return times
  const step = (times.length - 1) / (MOST_TIMES - 1)
  return Array.from({ length: MOST_TIMES }, (_, i) => times[Math.round(i * step)] ?? 0)
}
