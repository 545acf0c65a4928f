/** Recordings for tests: a question and an answer, whole or streamed. */
import { parseExact, stringifyExact } from '../../src/core/json.js'
import { type ReceivedRequest, requestOf } from '../../src/recordings/key.js'
import type { RecordedChunk, RecordedResponse, Recording } from '../../src/recordings/recording.js'
import type { Redaction } from '../../src/redact/index.js'

const planted = /sk-planted-\w+/g

/** Replaces planted secrets, numbered in order of appearance like the real redaction. */
export function plantedRedaction(): Redaction {
  const seen: string[] = []
  const text = (text: string) =>
    text.replace(planted, secret => {
      if (!seen.includes(secret)) seen.push(secret)
      return `[key-${seen.indexOf(secret) + 1}]`
    })
  return {
    text,
    pieces: texts => texts.map(text),
    value: value => parseExact(text(stringifyExact(value))),
    form: text,
    headers: headers => headers.map(text),
    query: text,
    suspects: () => true,
    withSecretsOf() {
      return this
    },
  }
}

/** Changes nothing. */
const noRedaction: Redaction = {
  text: text => text,
  pieces: texts => texts,
  value: value => value,
  form: text => text,
  headers: headers => headers,
  query: query => query,
  suspects: () => false,
  withSecretsOf: () => noRedaction,
}

/** A request to the chat endpoint, unless overridden. */
export const asking = (body: unknown, came: Partial<ReceivedRequest> = {}, redaction = noRedaction) =>
  requestOf(
    {
      method: 'POST',
      path: '/v1/chat/completions',
      query: '',
      contentType: 'application/json',
      body: Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      ...came,
    },
    redaction,
  )

export const question = {
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'What is the capital of France?' }],
}

/** A recording, by default of the question and an empty answer. */
export const recorded = (response: Partial<RecordedResponse> = {}, request = asking(question)): Recording => ({
  recordedAt: '2026-01-31T12:00:00.000Z',
  request,
  response: {
    status: 200,
    headers: [['content-type', 'application/json']],
    headMs: 12.3,
    chunks: [],
    endMs: 45.6,
    complete: true,
    ...response,
  },
})

const sse = [['content-type', 'text/event-stream; charset=utf-8']] as const

export const streamed = (chunks: readonly RecordedChunk[], request = asking({ ...question, stream: true })) =>
  recorded({ headers: sse, chunks }, request)

export const answered = (body: string | Buffer, request = asking(question)) =>
  recorded({ chunks: [{ atMs: 45.6, bytes: Buffer.from(body as string) }] }, request)
