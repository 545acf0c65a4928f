/** Sends a chat request, and reports the answer as it arrives. */
import { createParser } from 'eventsource-parser'
import { errorIn, parsed, textsOf } from '../widgets/json.js'
import { type AnswerContent, createGatherer, hasContent } from './completion.js'
import { type ModelAnswer, pendingAnswer, withRaw } from './turns.js'

export const CHAT = '/v1/chat/completions'

interface ChatRequest {
  readonly body: string
  readonly bearer: string | undefined
  readonly signal: AbortSignal
  /** Called with a new object after each change. */
  readonly onChange: (answer: ModelAnswer) => void
}

/** Resolves with the answer once it has ended, in whatever way. Never rejects. */
export async function askModel({ body, bearer, signal, onChange }: ChatRequest): Promise<ModelAnswer> {
  const arriving = createArriving(pendingAnswer(body, bearer !== undefined), onChange)
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
    else if (arriving.answer().status === undefined)
      over('refused', 'The connection was closed before a response arrived.')
    else over('cut', 'The connection was closed before the end of the response.')
  }
  return arriving.answer()
}

type Arriving = ReturnType<typeof createArriving>

function createArriving(first: ModelAnswer, onChange: ChatRequest['onChange']) {
  const beganMs = performance.now()
  let answer = first
  const change = (changes: Partial<ModelAnswer>) => {
    answer = { ...answer, ...changes }
    onChange(answer)
  }
  return {
    answer: () => answer,
    change,
    over: (state: ModelAnswer['state'], problem?: string) =>
      change({ state, problem, totalMs: performance.now() - beganMs }),
    /** The changes to the answer for what the model has generated so far. */
    changesFor(completion: AnswerContent): Partial<ModelAnswer> {
      const isFirst = answer.firstTokenMs === undefined && hasContent(completion)
      return { completion, ...(isFirst && { firstTokenMs: performance.now() - beganMs }) }
    },
  }
}

async function readStream(stream: ReadableStream<Uint8Array>, arriving: Arriving): Promise<void> {
  const { answer, change, over, changesFor } = arriving
  const gatherer = createGatherer()
  let isDone = false
  let problem: string | undefined
  const events = createParser({
    onEvent({ data }) {
      const json = parsed(data)
      if (data === '[DONE]') isDone = true
      else if (json === undefined) problem ??= 'A stream event is not valid JSON.'
      else if (errorIn(json) !== undefined) problem ??= errorIn(json)
      else change(changesFor(gatherer.chunk(json)))
    },
  })
  for await (const text of textsOf(stream)) {
    change({ state: 'arriving', ...withRaw(answer(), text) })
    events.feed(text)
  }
  problem ??= isDone ? undefined : 'The stream ended without [DONE].'
  over(problem === undefined ? 'whole' : 'cut', problem)
}

async function readWhole(response: Response, { answer, change, over, changesFor }: Arriving): Promise<void> {
  let text = ''
  if (response.body)
    for await (const piece of textsOf(response.body)) {
      text += piece
      change(withRaw(answer(), piece))
    }
  const json = parsed(text)
  if (!response.ok) return over('refused', errorIn(json) ?? (text.slice(0, 2000) || 'The response has no body.'))
  if (json === undefined) return over('cut', 'The response is not valid JSON.')
  change(changesFor(createGatherer().whole(json)))
  over('whole')
}
