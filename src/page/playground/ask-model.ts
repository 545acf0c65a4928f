/** Requests a completion from a model, and reports the answer as it arrives. */
import { createParser } from 'eventsource-parser'
import { isObject, parsed } from '../widgets/json.js'
import { type AnswerContent, createGatherer, saysSomething } from './completion.js'
import { awaited, type ModelAnswer, withRaw } from './turns.js'

export const CHAT = '/v1/chat/completions'

interface Question {
  readonly body: string
  readonly bearer: string | undefined
  readonly signal: AbortSignal
  /** Called on each change, each time with a new object. */
  readonly onChange: (answer: ModelAnswer) => void
}

/** Resolves with the answer when it has ended in any way. Never rejects. */
export async function askModel({ body, bearer, signal, onChange }: Question): Promise<ModelAnswer> {
  const arriving = createArriving(awaited(body, bearer !== undefined), onChange)
  const { change, over } = arriving
  try {
    const headers = {
      'content-type': 'application/json',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    }
    const response = await fetch(CHAT, { method: 'POST', headers, body, signal, cache: 'no-store' })
    change({ status: response.status, retryAfter: response.headers.get('retry-after') ?? undefined })
    const isStream = response.ok && /^text\/event-stream/i.test(response.headers.get('content-type') ?? '')
    if (isStream && response.body) await readStream(response.body, arriving)
    else await readWhole(response, arriving)
  } catch {
    if (signal.aborted) over('stopped')
    else if (arriving.answer().status === undefined) over('refused', 'No response: the connection was closed first.')
    else over('cut', 'The connection was closed before the end of the response.')
  }
  return arriving.answer()
}

type Arriving = ReturnType<typeof createArriving>

function createArriving(first: ModelAnswer, onChange: Question['onChange']) {
  const beganMs = performance.now()
  let answer = first
  const change = (news: Partial<ModelAnswer>) => {
    answer = { ...answer, ...news }
    onChange(answer)
  }
  return {
    answer: () => answer,
    change,
    over: (state: ModelAnswer['state'], trouble?: string) =>
      change({ state, trouble, totalMs: performance.now() - beganMs }),
    /** The changes to the answer for what the model has generated so far. */
    saying(completion: AnswerContent): Partial<ModelAnswer> {
      const isFirst = answer.firstTokenMs === undefined && saysSomething(completion)
      return { completion, ...(isFirst && { firstTokenMs: performance.now() - beganMs }) }
    },
  }
}

async function readStream(stream: ReadableStream<Uint8Array>, arriving: Arriving): Promise<void> {
  const { answer, change, over, saying } = arriving
  const gatherer = createGatherer()
  let isDone = false
  let trouble: string | undefined
  const events = createParser({
    onEvent({ data }) {
      const json = parsed(data)
      if (data === '[DONE]') isDone = true
      else if (json === undefined) trouble ??= 'An event of the stream is not JSON.'
      else if (errorIn(json) !== undefined) trouble ??= errorIn(json)
      else change(saying(gatherer.chunk(json)))
    },
  })
  for await (const text of texts(stream)) {
    change({ state: 'arriving', ...withRaw(answer(), text) })
    events.feed(text)
  }
  trouble ??= isDone ? undefined : 'The stream ended without [DONE].'
  over(trouble === undefined ? 'whole' : 'cut', trouble)
}

async function readWhole(response: Response, { answer, change, over, saying }: Arriving): Promise<void> {
  let text = ''
  for await (const piece of texts(response.body)) {
    text += piece
    change(withRaw(answer(), piece))
  }
  const json = parsed(text)
  if (!response.ok) return over('refused', errorIn(json) ?? (text.slice(0, 2000) || 'The response has no body.'))
  if (json === undefined) return over('cut', 'The response is not JSON.')
  change(saying(createGatherer().whole(json)))
  over('whole')
}

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

/** The platform's `{ error }`, or OpenAI's `{ error: { message } }`. */
function errorIn(json: unknown): string | undefined {
  const { error } = isObject(json) ? json : {}
  if (typeof error === 'string') return error
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
  if (typeof message === 'string') return message
  return error === undefined || error === null ? undefined : JSON.stringify(error)
}
