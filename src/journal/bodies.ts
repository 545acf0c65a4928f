/** The request and the answer of an exchange, as far as they are kept: readable, and without secrets. */
import { isStreamType } from '../chat/events.js'
import type { Exchange, Outcome } from '../core/exchange.js'
import { decompress, headerIn, noBytes, replyBytes } from '../core/http.js'
import { isTooDeep, jsonOf } from '../core/json.js'
import type { Redaction } from '../redact/index.js'
import { bodyBytesOf } from './facts.js'

/** Longer bodies are shown and searched only up to this size. */
export const SHOWN_BYTES = 65_536

const MOST_DECOMPRESSED_BYTES = 1_048_576

export function requestParts(exchange: Exchange, redaction: Redaction, shownBytes: number) {
  const { method, path, query, headers, body } = exchange
  const flat = Object.entries(headers).flatMap(([name, value]) => [name, String(value)])
  return {
    method,
    path: redaction.text(path),
    query: redaction.query(query),
    headers: pairs(redaction.headers(flat)),
    ...readable(
      body ?? noBytes,
      { exchange, redaction, shownBytes },
      headers['content-type'],
      exchange.bodyCutFromBytes === undefined,
    ),
    bytes: bodyBytesOf(exchange),
    truncated: bodyBytesOf(exchange) > Math.min(body?.length ?? 0, shownBytes),
  }
}

interface Context {
  readonly exchange: Pick<Exchange, 'path'>
  readonly redaction: Redaction
  readonly shownBytes: number
}

export function responseParts(outcome: Partial<Outcome> | undefined, { exchange, redaction, shownBytes }: Context) {
  const { headers, beginning, bytes } = sentParts(outcome)
  const readableBytes = decompressed(beginning, headers, bytes)
  // Secrets in the response headers, such as a session in a cookie, are also secret in its body.
  const headersByName = pairs(headers)
  const fullRedaction = redaction.withSecretsOf({ headers: Object.entries(headersByName) })
  const contentType = headersByName['content-type']
  return {
    headers: pairs(fullRedaction.headers(headers)),
    ...readable(
      readableBytes,
      { exchange, redaction: fullRedaction, shownBytes },
      contentType,
      bytes <= beginning.length,
    ),
    bytes,
    truncated: bytes > beginning.length || readableBytes.length > shownBytes,
  }
}

/** The headers and the body as they were sent. */
function sentParts({ answer, requestId, sentBytes }: Partial<Outcome> = {}) {
  if (!answer) return { headers: [], beginning: noBytes, bytes: 0 }
  if (answer.kind === 'upstream') {
    return { headers: answer.headers, beginning: Buffer.concat(answer.beginning), bytes: answer.bytes }
  }
  const body = replyBytes(answer).subarray(0, sentBytes)
  const contentType = answer.contentType === '' ? [] : ['content-type', answer.contentType]
  const id = requestId === undefined ? [] : ['x-request-id', requestId]
  return { headers: [...contentType, ...id, ...(answer.headers ?? [])], beginning: body, bytes: body.length }
}

/** A compressed body is readable only if it is complete. */
function decompressed(beginning: Buffer, headers: readonly string[], bytes: number): Buffer {
  const encoding = headerIn(headers, 'content-encoding')
  if (encoding === undefined || beginning.length === 0 || beginning.length < bytes) return beginning
  try {
    return decompress(beginning, encoding, MOST_DECOMPRESSED_BYTES)
  } catch {
    return beginning
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

/** What is redacted beyond what is shown, since half a secret is not recognized. */
const MARGIN_BYTES = 16_384

/** The body of a message, as JSON if it is that, and cut if it is long; none if it is empty. */
function readable(
  bytes: Buffer,
  { exchange: { path }, redaction, shownBytes }: Context,
  contentType: string | undefined,
  isWhole: boolean,
) {
  if (bytes.length === 0 || shownBytes === 0) return {}
  const [, picture] = /^(image\/(?:png|jpeg|gif|webp))\b/i.exec(contentType ?? '') ?? []
  if (picture && bytes.length <= shownBytes) return { body: `data:${picture};base64,${bytes.toString('base64')}` }
  const end = Math.min(shownBytes, isWhole ? bytes.length : Math.max(0, bytes.length - MARGIN_BYTES))
  const parts = [bytes.subarray(0, end), bytes.subarray(end, end + MARGIN_BYTES)].map(bytes => ({ bytes }))
  const [{ bytes: shown } = { bytes: noBytes }] = redaction.chunks(parts, path, contentType)
  const value = isWhole && bytes.length <= shownBytes ? jsonOf(shown) : undefined
  // A value that nests too deep cannot be serialized again.
  return { body: value === undefined || isTooDeep(value) ? shown.toString('utf8') : value }
}

/** The fields of chunks that models write word by word, in chat completions and similar APIs. */
const textField =
  /"(?:content|reasoning_content|reasoning|refusal|arguments|text|delta)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/gs

/** Creates a function that checks whether the text of an answer contains `text`. That of a stream is joined from its chunks. */
export function answerTest(text: string): (exchange: Exchange) => boolean {
  const inJson = JSON.stringify(text).slice(1, -1)
  return exchange => {
    const answer = answerText(exchange)
    return answer.includes(text) || answer.includes(inJson)
  }
}

function answerText({ outcome }: Exchange): string {
  const { headers, beginning, bytes } = sentParts(outcome)
  const body = decompressed(beginning, headers, bytes).toString('utf8', 0, SHOWN_BYTES)
  if (!isStreamType(headerIn(headers, 'content-type') ?? '')) return body
  // Escapes are only read after joining, since a character may be cut as well.
  const text = Array.from(body.matchAll(textField), ([, piece]) => piece).join('')
  const read = jsonOf(`"${text}"`)
  return (typeof read === 'string' ? read : text) || body
}
