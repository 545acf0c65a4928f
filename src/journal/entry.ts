/** An exchange as the journal shows it: readable and without secrets. */
import type { ClosestRecording } from '../check/finding.js'
import { type Exchange, type Outcome, sourceOf } from '../core/exchange.js'
import { isTooDeep, jsonOf } from '../core/json.js'
import { credentialsOf, type Redact, type Redaction, withoutSecretFields } from '../recordings/redact/index.js'
import { responseParts, SHOWN_BYTES } from './answer.js'
import { bodyBytesOf, callOf, endingOf, isRepeatable, timesOf } from './facts.js'
import type { JournalEntry } from './shapes.js'

/** What the journal keeps of an exchange until it is read. */
export interface JournaledExchange {
  readonly id: number
  readonly exchange: Exchange
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly durationMs: number
}

export function entryOf(
  { id, exchange, atMs, durationMs }: JournaledExchange,
  redact: Redact,
  shownBytes = SHOWN_BYTES,
): JournalEntry {
  const { path, caller, scope, endpoint, mode = null, outcome } = exchange
  const redaction = redact(credentialsOf(exchange, redact))
  const redacted = (text: string | undefined) => (text === undefined ? null : redaction.text(text))
  return {
    ...{ id: String(id), at: new Date(atMs).toISOString(), scope, caller },
    request: requestJson(exchange, redaction, shownBytes),
    // If only the live platform knows the path, it is the requested one.
    endpoint: redacted(endpoint && `${endpoint.method} ${endpoint.path}`),
    call: redacted(callOf(exchange) ?? undefined),
    mode,
    source: sourceOf(outcome),
    answeredBy: outcome?.answeredBy ? (redaction.value(outcome.answeredBy) as JournalEntry['answeredBy']) : null,
    fault: outcome?.fault ? (redaction.value(outcome.fault) as JournalEntry['fault']) : null,
    repeatable: isRepeatable(exchange),
    // A remark may quote the prompt.
    remark: redacted(outcome?.remark?.()),
    ...endingOf(exchange, redacted),
    ...(exchange.nearest && { nearest: redaction.value(exchange.nearest) as ClosestRecording }),
    violations: exchange.violations ?? [],
    ...(outcome?.upstream && { upstream: responseJson({ answer: outcome.upstream }, { path, redaction, shownBytes }) }),
    response: {
      ...responseJson(outcome, { path, redaction, shownBytes }),
      piecesAtMs: outcome?.piecesAtMs ?? [],
    },
    ...timesOf(exchange, durationMs),
  }
}

function requestJson(exchange: Exchange, redaction: Redaction, shownBytes: number): JournalEntry['request'] {
  const { method, path, query, headers, body } = exchange
  const flat = Object.entries(headers).flatMap(([name, value]) => [name, String(value)])
  return {
    method,
    path: redaction.text(path),
    query: redaction.query(query),
    headers: pairs(redaction.headers(flat)),
    ...(body &&
      body.length > 0 && {
        body: readable(bodyText(path, body.subarray(0, shownBytes)), redaction, headers['content-type']),
      }),
    bytes: bodyBytesOf(exchange),
    truncated: bodyBytesOf(exchange) > Math.min(body?.length ?? 0, shownBytes),
  }
}

interface ResponseContext {
  readonly path: string
  readonly redaction: Redaction
  readonly shownBytes: number
}

function responseJson(
  outcome: Partial<Outcome> | undefined,
  { path, redaction, shownBytes }: ResponseContext,
): Omit<JournalEntry['response'], 'piecesAtMs'> {
  const { headers, beginning, readableBytes, bytes } = responseParts(outcome)
  // Secrets in the response headers, such as a session in a cookie, are also secret in its body.
  const headersByName = pairs(headers)
  const fullRedaction = redaction.withSecretsOf({ headers: Object.entries(headersByName) })
  const shownPart = readableBytes.subarray(0, shownBytes)
  return {
    headers: pairs(fullRedaction.headers(headers)),
    ...(shownPart.length > 0 && {
      body: readable(bodyText(path, shownPart), fullRedaction, headersByName['content-type']),
    }),
    bytes,
    truncated: bytes > beginning.length || readableBytes.length > shownBytes,
  }
}

function pairs(flat: readonly string[]): Readonly<Record<string, string>> {
  // A header may be called `constructor` or even `__proto__`.
  const byName = new Map<string, string>()
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]?.toLowerCase() ?? ''
    const existing = byName.get(name)
    byName.set(name, existing === undefined ? (flat[i + 1] ?? '') : `${existing}, ${flat[i + 1]}`)
  }
  return Object.fromEntries(byName)
}

/** The text of a body, without values that are secret because of their field names. */
export const bodyText = (path: string, bytes: Buffer): string => withoutSecretFields(bytes.toString('utf8'), path)

/** A form is redacted in the same way as a query. */
export const isForm = (contentType: string | undefined) =>
  /^application\/x-www-form-urlencoded\b/i.test(contentType ?? '')

function readable(text: string, redaction: ReturnType<Redact>, contentType: string | undefined): unknown {
  const value = jsonOf(text)
  // A value that nests too deep cannot be serialized again.
  if (value !== undefined && !isTooDeep(value)) return redaction.value(value)
  return redaction.text(isForm(contentType) ? redaction.query(text) : text)
}
