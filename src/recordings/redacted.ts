/** Takes what is secret out of a recorded answer; every other byte stays what it is and in the chunk where it was. */
import { isUtf8 } from 'node:buffer'
import type { Redaction } from '../core/redact.js'
import { isStream, type RecordedChunk, type RecordedResponse } from './recording.js'
import { type Edit, edited } from './redacted/edits.js'
import { type Body, editOf } from './redacted/passage.js'
import { type Passage, passagesOfStream, passagesOfWhole, withoutTokens } from './redacted/passages.js'

export function redactedResponse(response: RecordedResponse, redaction: Redaction): RecordedResponse {
  const { chunks } = response
  const body = bodyIn(chunks)
  const isSuspicious = redaction.suspects(body.isUtf8 ? body.bytes.toString() : body.latin1)
  // Whoever streams may forget to say so.
  const isEvents = isStream(response) || /^data:/m.test(body.latin1)
  const passages = isEvents ? passagesOfStream(body, isSuspicious) : isSuspicious ? passagesOfWhole(body) : []
  const edits = passages.flatMap(passage => editsOf(passage, redaction))
  // Where there is a secret, the logprobs spell it token by token.
  const spelt = edits.length > 0 ? withoutTokens(body, isEvents) : []
  return {
    ...response,
    headers: redactedHeaders(response.headers, redaction),
    chunks: edited(chunks, [
      ...edits.filter(edit => !spelt.some(({ start, end }) => start <= edit.start && edit.end <= end)),
      ...spelt,
    ]),
  }
}

function redactedHeaders(headers: RecordedResponse['headers'], redaction: Redaction): RecordedResponse['headers'] {
  const open = redaction.headers(headers.flat())
  return headers.map(([name], i) => [name, open[2 * i + 1] ?? ''])
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

function editsOf(passage: Passage, redaction: Redaction): readonly Edit[] {
  const open = redaction.pieces(passage.map(({ text }) => text))
  return passage.flatMap((piece, i) => editOf(piece, open[i] ?? ''))
}
