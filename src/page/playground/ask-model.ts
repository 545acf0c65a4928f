/** Requests a completion from a model, and reports the answer as it arrives. */
import { createParser } from 'eventsource-parser'
import { awaited, type ModelAnswer, withRaw } from './answer.js'
import { type AnswerContent, createGatherer, saysSomething } from './completion.js'

export const CHAT = '/v1/chat/completions'

interface Question {
  /** JSON. */
  readonly body: string
  readonly bearer: string | undefined
  readonly signal: AbortSignal
  /** Called on each change, each time with a new object. */
  readonly onChange: (answer: ModelAnswer) => void
}

/** Resolves with the answer when it has ended in any way. Never rejects. */
export async function askModel({ body, bearer, signal, onChange }: Question): Promise<ModelAnswer> {
  const beganMs = performance.now()
  let answer = awaited(body, bearer !== undefined)
  const change = (news: Partial<ModelAnswer>) => {
    answer = { ...answer, ...news }
    onChange(answer)
  }
  const over = (state: ModelAnswer['state'], trouble?: string) =>
    change({ state, trouble, totalMs: performance.now() - beganMs })

  const gatherer = createGatherer()

  /** The changes to the answer for what the model has generated so far. */
  function saying(completion: AnswerContent): Partial<ModelAnswer> {
    const isFirst = answer.firstTokenMs === undefined && saysSomething(completion)
    return { completion, ...(isFirst && { firstTokenMs: performance.now() - beganMs }) }
  }

  async function readStream(stream: ReadableStream<Uint8Array>): Promise<void> {
    let isDone = false
    let trouble: string | undefined
    const events = createParser({
      onEvent({ data }) {
        if (data === '[DONE]') isDone = true
        else trouble ??= take(data)
      },
    })
    for await (const text of texts(stream)) {
      answer = { ...answer, ...withRaw(answer, text) }
      events.feed(text)
      change({ state: 'arriving' })
    }
    trouble ??= isDone ? undefined : 'The stream ended without [DONE].'
    over(trouble === undefined ? 'whole' : 'cut', trouble)
  }

  /** Takes in one event and returns what is wrong with it, if anything. */
  function take(said: string): string | undefined {
    const json = parsed(said)
    if (json === undefined) return 'An event of the stream is not JSON.'
    const error = errorIn(json)
    if (error !== undefined) return error
    answer = { ...answer, ...saying(gatherer.chunk(json)) }
    return undefined
  }

  async function readWhole(response: Response): Promise<void> {
    let text = ''
    for await (const piece of texts(response.body)) {
      text += piece
      change(withRaw(answer, piece))
    }
    const json = parsed(text)
    if (!response.ok) return over('refused', errorIn(json) ?? (text.slice(0, 2000) || 'The response has no body.'))
    if (json === undefined) return over('cut', 'The response is not JSON.')
    change(saying(gatherer.whole(json)))
    over('whole')
  }

  try {
    const response = await fetch(CHAT, {
      method: 'POST',
      headers: headersWith(bearer),
      body,
      signal,
      cache: 'no-store',
    })
    const { status, headers } = response
    change({ status, retryAfter: headers.get('retry-after') ?? undefined })
    const isStream = response.ok && /^text\/event-stream/i.test(headers.get('content-type') ?? '')
    if (isStream && response.body) await readStream(response.body)
    else await readWhole(response)
  } catch {
    if (signal.aborted) over('stopped')
    else if (answer.status === undefined) over('refused', 'No response: the connection was closed first.')
    else over('cut', 'The connection was closed before the end of the response.')
  }
  return answer
}

function headersWith(bearer: string | undefined): Headers {
  const headers = new Headers({ 'content-type': 'application/json' })
  if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`)
  return headers
}

/** Decodes a body piece by piece. */
async function* texts(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  if (!stream) return
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const { done, value } = await reader.read()
    yield done ? decoder.decode() : decoder.decode(value, { stream: true })
    if (done) return
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The platform's `{ error }`, or OpenAI's `{ error: { message } }`. */
function errorIn(json: unknown): string | undefined {
  const { error } = (typeof json === 'object' && json !== null ? json : {}) as { readonly error?: unknown }
  if (typeof error === 'string') return error
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
  if (typeof message === 'string') return message
  return error === undefined || error === null ? undefined : JSON.stringify(error)
}
