/** Recordings in a folder, and a small live platform that may have changed since. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import https from 'node:https'
import { onTestFinished } from 'vitest'
import { recordingText } from '../../src/recordings/file-text.js'
import { ignoreFrom } from '../../src/recordings/ignore.js'
import { keysOf } from '../../src/recordings/key.js'
import { fileOf } from '../../src/recordings/names.js'
import type { RecordedRequest, Recording } from '../../src/recordings/recording.js'

/** An answer of the live platform. */
export interface LiveReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Objects are JSON. */
  readonly body?: string | object | Buffer
  /** Chunks that are sent before the body, all at once. */
  readonly chunks?: readonly string[]
  /** Whether it breaks off: after the body, or before anything was sent. */
  readonly cut?: boolean | 'at once'
}

/** A request that the live platform received. */
export interface LiveRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly atMs: number
}

export interface Live {
  readonly url: string
  readonly asked: readonly LiveRequest[]
  /** The largest number of requests at the same time. */
  readonly mostAtOnce: number
}

/** Starts a live platform that answers with `answer`, over TLS if it has a certificate. */
export async function liveThat(
  answer: (asked: LiveRequest) => LiveReply | Promise<LiveReply>,
  certificate?: { readonly key: string; readonly cert: string },
): Promise<Live> {
  const asked: LiveRequest[] = []
  let atOnce = 0
  let mostAtOnce = 0
  const listener: RequestListener = async (request, response) => {
    mostAtOnce = Math.max(mostAtOnce, ++atOnce)
    const pieces = await request.toArray()
    const { method, url, headers } = request
    const one = { ...{ method, url, headers }, body: Buffer.concat(pieces).toString(), atMs: performance.now() }
    asked.push(one)
    const { status = 200, headers: more, body = '', chunks = [], cut = false } = await answer(one)
    // Before the client can see the end of the answer.
    atOnce--
    if (cut === 'at once') return void response.destroy()
    response.writeHead(status, { 'content-type': 'application/json', ...more })
    const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    for (const chunk of chunks) response.write(chunk)
    if (cut) response.write(bytes, () => response.destroy())
    else response.end(bytes)
  }
  const server = certificate ? https.createServer(certificate, listener) : createServer(listener)
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as { port: number }
  return {
    url: `http${certificate ? 's' : ''}://127.0.0.1:${port}`,
    asked,
    get mostAtOnce() {
      return mostAtOnce
    },
  }
}

const chatPath = '/v1/chat/completions'

/** A request as it is recorded: by default one for a chat completion with this prompt. */
export const chatRequest = (prompt: string, more: Partial<RecordedRequest> = {}): RecordedRequest => ({
  method: 'POST',
  path: chatPath,
  query: '',
  body: { kind: 'json', value: { messages: [{ content: prompt, role: 'user' }], model: 'gpt-4o-mini' } },
  ...more,
})

/** A request without a body. */
export const getRequest = (path: string, query = ''): RecordedRequest => ({
  ...{ method: 'GET', path, query },
  body: { kind: 'none' },
})

/** The file of a recording: its name in the folder of recordings, and its text. */
export function recorded(request: RecordedRequest, { status = 200, headers = {}, body = '', cut = false }: LiveReply) {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const recording: Recording = {
    recordedAt: '2026-11-01T12:00:00.000Z',
    test: '',
    place: 1,
    request,
    response: {
      status,
      headers: Object.entries({ 'content-type': 'application/json', ...headers }),
      headMs: 10,
      chunks: [{ atMs: 1, bytes: Buffer.from(text) }],
      endMs: 2,
      complete: !cut,
    },
  }
  const { conversation } = keysOf(request, ignoreFrom([]))
  const name = fileOf(request, conversation, '')
  return { name, path: `fixtures/recordings/${name}`, text: recordingText(recording) }
}

/** Files of a project with these recordings and this live platform. */
export const project = (
  live: { readonly url: string },
  recordings: readonly ReturnType<typeof recorded>[],
  more = '',
) => ({
  'platform.config.yaml': `upstream:
  baseUrl: ${live.url}
  apiKey: sk-live-for-drift-0123456789abcdef
  anonKey: live-anon-key-for-drift
${more}`,
  ...Object.fromEntries(recordings.map(({ path, text }) => [path, text])),
})

/** A chat completion with this text. */
export const completion = (content: string, more: object = {}) => ({
  id: `chatcmpl-${content.length}`,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop', ...more }],
})

/** The same as a stream. */
export function streamOf(words: readonly string[], end = 'data: [DONE]\n\n'): LiveReply {
  const frame = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  return {
    headers: { 'content-type': 'text/event-stream' },
    body: [
      frame({ role: 'assistant', content: '' }),
      ...words.map(content => frame({ content })),
      frame({}, 'stop'),
      end,
    ].join(''),
  }
}

/** The prompt of a request, empty if it has no body. */
export const promptIn = ({ body }: LiveRequest): string => (body === '' ? '' : JSON.parse(body).messages[0].content)
