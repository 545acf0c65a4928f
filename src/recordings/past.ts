/** Makes a recording of an exchange that is over, as the recorder would have made it while the answer went by. */
import { cannotBeRecorded } from '../core/errors.js'
import type { Exchange, Outcome } from '../core/exchange.js'
import type { Redact, Redaction } from '../core/redact.js'
import { isAuth } from '../core/reserved.js'
import { credentialsOf } from '../core/shown-credentials.js'
import { inSlices } from '../core/slices.js'
import { type Heard, responseOf } from './heard.js'
import { askedIn } from './identified.js'
import { requestOf } from './key.js'
import type { Recording } from './recording.js'
import { redactResponse } from './redacted.js'
import { chunksOf } from './said-by-us.js'

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
  const heard = heardIn(past, redaction)
  if (bytesIn(heard) > maxBytes) throw cannotBeRecorded(`its answer is larger than recordings.maxBytes (${maxBytes})`)
  const response = await responseOf(heard, maxBytes).catch(({ message }: Error) => {
    throw cannotBeRecorded(message)
  })
  if (!response.complete) throw cannotBeRecorded('its answer broke off')
  return {
    recordedAt: new Date(atMs - durationMs).toISOString(),
    request: requestOf(askedIn(exchange), redaction),
    response: await inSlices(redactResponse(response, redaction)),
  }
}

const bytesIn = ({ chunks }: Heard) => chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)

function heardIn({ exchange, durationMs }: Past, redaction: Redaction): Heard {
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
    // To whoever asks for the head alone no body was sent.
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
  // A client that has read [DONE] may hang up; of what the live platform said that can be seen.
  if (said?.kind !== 'heard') return complete ? undefined : 'its answer broke off'
  const kept = said.beginning.reduce((sum, { length }) => sum + length, 0)
  return said.bytes > kept
    ? `the journal has only the beginning of its answer (${kept} of ${said.bytes} bytes). Ask it again in mode record`
    : undefined
}
