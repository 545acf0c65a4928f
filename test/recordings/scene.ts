/** Recordings for tests: a question and an answer, whole or streamed. */
import { type ReceivedRequest, requestOf } from '../../src/recordings/key.js'
import type { RecordedChunk, RecordedResponse, Recording } from '../../src/recordings/recording.js'
import { createRedact, type Redaction } from '../../src/redact/index.js'
import { noRules } from '../redact/secrets.js'

/** Replaces planted secrets. */
export const plantedRedaction = (): Redaction =>
  createRedact({ ...noRules, patterns: [{ name: 'key', pattern: /sk-planted-\w+/ }] })()

const noRedaction = createRedact(noRules)()

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
  test: '',
  place: 1,
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
