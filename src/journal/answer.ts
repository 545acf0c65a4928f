/** The answer of an exchange, as far as it is kept: its headers, its bytes and its text. */
import { isStreamType } from '../chat/events.js'
import type { Exchange, Outcome } from '../core/exchange.js'
import { decompress, headerIn, noBytes, replyBytes } from '../core/http.js'
import { jsonOf } from '../core/json.js'

/** Longer bodies are shown and searched only up to this size. */
export const SHOWN_BYTES = 65_536

/** The headers and the body as they were sent, and the body as it can be read. */
export function responseParts(outcome: Partial<Outcome> | undefined) {
  const { headers, beginning, bytes } = sentParts(outcome)
  return { headers, beginning, bytes, readableBytes: decompressed(beginning, headers, bytes) }
}

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

const MOST_DECOMPRESSED_BYTES = 1_048_576

// The dashboard repeats its search with each new request, and joining takes a tenth of a millisecond.
const textsOfAnswers = new WeakMap<Exchange, string>()

/** Creates a function that checks whether the text of an answer contains `text`. That of a stream is joined from its chunks. */
export function answerTest(text: string): (exchange: Exchange) => boolean {
  const inJson = JSON.stringify(text).slice(1, -1)
  return exchange => {
    const answer = textsOfAnswers.get(exchange) ?? answerText(exchange)
    textsOfAnswers.set(exchange, answer)
    return answer.includes(text) || answer.includes(inJson)
  }
}

function answerText({ outcome }: Exchange): string {
  const { headers, readableBytes } = responseParts(outcome)
  const body = readableBytes.toString('utf8', 0, SHOWN_BYTES)
  return isStreamType(headerIn(headers, 'content-type') ?? '') ? textOfChunks(body) || body : body
}

/** The fields of chunks that models write word by word, in chat completions and similar APIs. */
const textField =
  /"(?:content|reasoning_content|reasoning|refusal|arguments|text|delta)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/gs

// Found by pattern, because parsing each chunk would take ten times as long. Escapes are only read after joining, since a
// character may be cut as well.
function textOfChunks(stream: string): string {
  const text = Array.from(stream.matchAll(textField), ([, piece]) => piece).join('')
  const read = jsonOf(`"${text}"`)
  return typeof read === 'string' ? read : text
}
