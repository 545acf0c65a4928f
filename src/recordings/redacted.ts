/** Removes the secrets from a recorded answer. Every other byte stays unchanged and in its chunk. */
import { isUtf8 } from 'node:buffer'
import type { Redaction } from '../redact/index.js'
import {
  type Body,
  byStart,
  type Edit,
  edited,
  editOf,
  passagesOfStream,
  passagesOfWhole,
  type TextPassage,
  withoutTokens,
} from './passages.js'
import { isStream, type RecordedChunk, type RecordedResponse } from './recording.js'

/**
 * `requestRedaction` is the redaction of the request. Secrets that the answer introduces, such as a new cookie, are also removed
 * from its body.
 */
export function redactedResponse(response: RecordedResponse, requestRedaction: Redaction): RecordedResponse {
  const { chunks, headers } = response
  const redaction = requestRedaction.withSecretsOf({ headers })
  const body = bodyIn(chunks)
  const isSuspicious = redaction.suspects(body.isUtf8 ? body.bytes.toString() : body.latin1)
  // Not every stream has the right content type, and line-delimited JSON has several.
  const isEvents = isStream(response) || /^data:/m.test(body.latin1) || /^\s*\{[^\n]*\}\r?\n\{/.test(body.latin1)
  const passages = isEvents ? passagesOfStream(body, isSuspicious) : isSuspicious ? passagesOfWhole(body) : []
  const edits = passages.flatMap(passage => editsOf(passage, redaction))
  // If the text contains a secret, the logprobs contain it token by token.
  const tokenEdits = edits.length > 0 ? withoutTokens(body, isEvents) : []
  return {
    ...response,
    headers: redactedHeaders(headers, redaction),
    chunks: edited(chunks, withoutCovered(edits, tokenEdits)),
  }
}

/** All `wider` edits, and the `edits` that do not lie within one. `wider` is sorted and does not overlap. */
function withoutCovered(edits: readonly Edit[], wider: readonly Edit[]): readonly Edit[] {
  const result = [...wider]
  let next = 0
  for (const edit of edits.toSorted(byStart)) {
    while ((wider[next]?.end ?? Number.POSITIVE_INFINITY) < edit.end) next++
    if ((wider[next]?.start ?? Number.POSITIVE_INFINITY) > edit.start) result.push(edit)
  }
  return result
}

function redactedHeaders(headers: RecordedResponse['headers'], redaction: Redaction): RecordedResponse['headers'] {
  const redacted = redaction.headers(headers.flat())
  return headers.map(([name], i) => [name, redacted[2 * i + 1] ?? ''])
}

function bodyIn(chunks: readonly RecordedChunk[]): Body {
  const bytes = Buffer.concat(chunks.map(chunk => chunk.bytes))
  let end = 0
  const borders = chunks.map(chunk => {
    end += chunk.bytes.length
    return end
  })
  return { bytes, latin1: bytes.toString('latin1'), isUtf8: isUtf8(bytes), borders }
}

function editsOf(passage: TextPassage, redaction: Redaction): readonly Edit[] {
  const redacted = redaction.pieces(passage.map(({ text }) => text))
  return passage.flatMap((piece, i) => editOf(piece, redacted[i] ?? ''))
}
