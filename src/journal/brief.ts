/** An exchange in a line: what a list of many shows of it, made without reading bodies. */
import type { Facts } from '../core/caller.js'
import { MOST_PIECES_TIMED } from '../core/clock.js'
import { type Exchange, type Reply, sourceOf, type UpstreamResponse } from '../core/exchange.js'
import { credentialsOf, type Redact } from '../redact/index.js'
import { bodyBytesOf, type JournaledExchange } from './entry.js'
import type { JournalBrief } from './shapes.js'

/** Only the beginning of a longer text is shown. */
const LONGEST = 300
/** More times than these cannot be distinguished in a bar. */
const MOST_TIMES = 60

export function briefOf({ id, exchange, atMs, durationMs }: JournaledExchange, redact: Redact): JournalBrief {
  const { method, path, caller, scope, endpoint, mode = null, outcome, startedMs } = exchange
  const redaction = redact(credentialsOf(exchange, redact))
  // First what is secret, then the length: half a secret is known by nothing.
  const told = (text: string | undefined) => (text === undefined ? null : shortened(redaction.text(text)))
  return {
    id: String(id),
    at: new Date(atMs).toISOString(),
    ...{ scope, caller, method },
    path: told(path) ?? '',
    endpoint: told(endpoint && `${endpoint.method} ${endpoint.path}`),
    mode,
    model: told(modelOf(exchange) ?? undefined),
    source: sourceOf(outcome),
    missed: isMissed(exchange),
    status: outcome?.status || null,
    error: told(outcome?.error),
    code: outcome?.code ?? null,
    hint: told(outcome?.hint),
    openaiRefuses: told(exchange.openaiRefuses),
    complete: outcome?.complete ?? false,
    requestBytes: bodyBytesOf(exchange),
    responseBytes: bytesIn(outcome?.said),
    firstByteMs: outcome?.beganMs === undefined ? null : rounded(outcome.beganMs - startedMs),
    durationMs: rounded(durationMs),
    pieces: piecesOf(exchange),
    piecesAtMs: thinned(outcome?.piecesAtMs ?? []),
  }
}

/** The same without taking anything out, and only as far as it is looked at. */
export function factsOf(exchange: Exchange): Facts {
  const { method, path, caller, scope, endpoint, mode = null, outcome } = exchange
  return {
    ...{ method, path, caller, scope, mode },
    endpoint: endpoint ? `${endpoint.method} ${endpoint.path}` : null,
    status: outcome?.status || null,
    source: sourceOf(outcome),
    error: outcome?.error ?? null,
    complete: outcome?.complete ?? false,
    get model() {
      return modelOf(exchange)
    },
    get missed() {
      return isMissed(exchange)
    },
  }
}

/** Longer bodies are not read for it. */
const READ_BYTES = 262_144
const models = new WeakMap<Buffer, string | null>()

/** What a request asks by its own words, also where it went no further: refused, or carried to the live platform. */
function modelOf({ chat, body }: Exchange): string | null {
  if (chat) return chat.model
  // A chat request is an object: anything else need not be read.
  if (body?.[0] !== 0x7b || body.length > READ_BYTES) return null
  const known = models.get(body)
  if (known !== undefined) return known
  const model = modelIn(body.toString('utf8'))
  models.set(body, model)
  return model
}

function modelIn(text: string): string | null {
  try {
    const { model } = JSON.parse(text) as { readonly model?: unknown }
    return typeof model === 'string' ? model : null
  } catch {
    return null
  }
}

const rounded = (ms: number) => Math.round(ms * 100) / 100

const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** A canned reply has a remark about the nearest rule, where there are rules. */
const isMissed = ({ outcome }: Exchange) =>
  (outcome?.remark !== undefined && outcome.answeredBy?.kind === 'canned') ||
  outcome?.code === 'no_rule_matches' ||
  outcome?.code === 'no_recording'

function bytesIn(said: Reply | UpstreamResponse | undefined): number {
  if (!said) return 0
  if (said.kind === 'heard') return said.bytes
  const { body } = said
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (Buffer.isBuffer(body)) return body.length
  const { head, before, pieces, after, tail, bytewise } = body
  const length = (text: string) => (bytewise ? text.length : Buffer.byteLength(text))
  const around = length(before) + length(after)
  return pieces.reduce((sum, piece) => sum + around + length(piece), length(head) + length(tail))
}

/** The number of pieces with a time; where more were sent than are timed, the number of all pieces. */
function piecesOf({ outcome }: Exchange): number {
  const { said, complete, piecesAtMs = [] } = outcome ?? {}
  if (said?.kind !== 'reply' || typeof said.body === 'string' || Buffer.isBuffer(said.body)) return piecesAtMs.length
  return complete && piecesAtMs.length >= MOST_PIECES_TIMED ? said.body.pieces.length : piecesAtMs.length
}

function thinned(times: readonly number[]): readonly number[] {
  if (times.length <= MOST_TIMES) return times
  const step = (times.length - 1) / (MOST_TIMES - 1)
  return Array.from({ length: MOST_TIMES }, (_, i) => times[Math.round(i * step)] ?? 0)
}
