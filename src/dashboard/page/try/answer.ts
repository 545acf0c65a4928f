/** Sends a chat request, and shows the answer as it arrives. */
import { createParser } from 'eventsource-parser'
import { chunkIn, completionIn, contentOf, createSum, type VendorCompletion } from '../../../chat/reader.js'
import { control } from '../api.js'
import { errorIn, parsed, textsOf } from '../widgets/json.js'
import { announce } from '../widgets/shared.js'

const CHAT = '/v1/chat/completions'

/** A message as it is sent. */
export type TriedMessage = Readonly<Record<string, unknown>>

export interface TriedAnswer {
  readonly state:
    | 'waiting'
    | 'arriving'
    | 'whole'
    /** By the user. */
    | 'stopped'
    /** By the server, before the end. */
    | 'cut'
    | 'refused'
  readonly status?: number
  readonly problem?: string
  /** The header's value: seconds or a date. */
  readonly retryAfter?: string
  readonly model?: string
  readonly finishReason?: string
  readonly tokens?: string
  /** From the request to the first generated text. */
  readonly firstTokenMs?: number
  readonly totalMs?: number
  /** The exchange in the journal, and what answered. */
  readonly by?: { readonly id: string; readonly source: string | null; readonly hint: string | null }
}

export const isOver = ({ state }: TriedAnswer) => state !== 'waiting' && state !== 'arriving'

interface Asking {
  readonly body: string
  /** Without a session, the request is sent without a credential, and gets a 401. */
  readonly bearer: () => Promise<string | undefined>
  readonly signal: AbortSignal
  readonly show: (message: TriedMessage, answer: TriedAnswer) => void
}

/** Resolves once the answer has ended, in whatever way. Never rejects. */
export async function answerTo({ body, bearer, signal, show }: Asking): Promise<void> {
  const arriving = createArriving(show)
  const { set, answer } = arriving
  let requestId: string | null = null
  try {
    const key = await bearer().catch(() => undefined)
    const headers = { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) }
    const response = await fetch(CHAT, { method: 'POST', headers, body, signal, cache: 'no-store' })
    requestId = response.headers.get('x-request-id')
    const retryAfter = response.headers.get('retry-after')
    set({ status: response.status, ...(retryAfter !== null && { retryAfter }) })
    const isStream = response.ok && /^text\/event-stream/i.test(response.headers.get('content-type') ?? '')
    await (isStream ? readStream : readWhole)(response, arriving)
  } catch {
    if (signal.aborted) arriving.end('stopped')
    else if (answer().status === undefined)
      arriving.end('refused', 'The connection was closed before a response arrived.')
    else arriving.end('cut', 'The connection was closed before the end of the response.')
  }
  const by = requestId === null ? undefined : await exchangeOf(requestId)
  if (by) set({ by })
}

type Arriving = ReturnType<typeof createArriving>

function createArriving(show: Asking['show']) {
  const beganMs = performance.now()
  let message: TriedMessage = { role: 'assistant', content: null }
  let answer: TriedAnswer = { state: 'waiting' }
  let frame: number | undefined
  const showNow = () => {
    if (frame !== undefined) cancelAnimationFrame(frame)
    frame = undefined
    show(message, answer)
  }
  const set = (changes: Partial<TriedAnswer>) => {
    answer = { ...answer, ...changes }
    showNow()
  }
  return {
    answer: () => answer,
    set,
    take({ model, choices: [choice], usage }: VendorCompletion) {
      if (choice) message = choice.message
      const { text, refusal, reasoning, calls } = contentOf(choice?.message ?? {})
      const isFirst = answer.firstTokenMs === undefined && (text || refusal || reasoning || calls.length > 0)
      answer = {
        ...answer,
        ...(typeof model === 'string' && { model }),
        ...(choice?.finish_reason && { finishReason: choice.finish_reason }),
        ...(usage && { tokens: `${usage.prompt_tokens} + ${usage.completion_tokens}` }),
        ...(isFirst && { firstTokenMs: performance.now() - beganMs }),
      }
      // Once per frame, since a model may send thousands of chunks a second.
      frame ??= requestAnimationFrame(showNow)
    },
    end(state: TriedAnswer['state'], problem?: string) {
      set({ state, ...(problem !== undefined && { problem }), totalMs: performance.now() - beganMs })
      announce(announcementOf(message, answer))
    },
  }
}

async function readStream({ body }: Response, { set, take, end }: Arriving): Promise<void> {
  const sum = createSum()
  let isDone = false
  let problem: string | undefined
  const events = createParser({
    onEvent({ data }) {
      const json = parsed(data)
      const chunk = chunkIn(json)
      if (data === '[DONE]') isDone = true
      else if (json === undefined) problem ??= 'A stream event is not valid JSON.'
      else if (errorIn(json) !== undefined) problem ??= errorIn(json)
      else if (chunk) {
        sum.add(chunk)
        take(sum.completion())
      }
    },
  })
  set({ state: 'arriving' })
  if (body) for await (const text of textsOf(body)) events.feed(text)
  problem ??= isDone ? undefined : 'The stream ended without [DONE].'
  end(problem === undefined ? 'whole' : 'cut', problem)
}

async function readWhole(response: Response, { take, end }: Arriving): Promise<void> {
  const text = await response.text()
  const json = parsed(text)
  if (!response.ok) return end('refused', errorIn(json) ?? (text.slice(0, 2000) || 'The response has no body.'))
  const completion = completionIn(json)
  if (!completion) return end('cut', 'The response is not a chat completion.')
  take(completion)
  end('whole')
}

/** How many characters of an answer screen readers get. */
const READ_OUT = 300

function announcementOf(message: TriedMessage, { state }: TriedAnswer): string {
  // Errors are announced by their own alert.
  if (state === 'refused') return ''
  const { text, refusal, calls } = contentOf(message)
  return `Answer: ${(text || refusal).slice(0, READ_OUT)} ${calls.map(({ name }) => `The model calls ${name}.`).join(' ')}`
}

const WAIT_MS = 250

/** Finds the exchange of an answer. Undefined if the control API is closed to the page, or the live platform's id was passed on. */
async function exchangeOf(requestId: string): Promise<TriedAnswer['by']> {
  // The journal adds an exchange when it has ended, which may be a moment after the page has read the last byte.
  for (let round = 0; round < 3; round++) {
    const found = await control('GET /journal/{id}', { id: requestId }).catch(() => undefined)
    if (found) return { id: found.id, source: found.source, hint: found.hint }
    await new Promise(resolve => setTimeout(resolve, WAIT_MS))
  }
  return undefined
}
