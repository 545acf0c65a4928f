/** What a drafted rule says: the text and the calls of an answer, its rhythm, or its failure. */
import * as v from 'valibot'
import { open } from '../check/check.js'
import type { ChatRequest } from '../completions/request.js'
import { notForARule } from '../core/errors.js'
import { callEntries, callsIn } from './drafted-calls.js'
import { dataOf, eventsIn, jsonIn } from './drafted-events.js'
import { plain } from './drafted-text.js'
import type { ReplyForm } from './reply-form.js'

/** An answer as the journal tells it. */
export interface Answered {
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly truncated: boolean
  readonly piecesAtMs: readonly number[]
}

interface Told {
  readonly status: number | null
  readonly complete: boolean
  readonly error: string | null
  readonly firstByteMs: number | null
  readonly response: Answered
}

export interface DraftedReply {
  readonly says: object
  /** The tools that it calls. */
  readonly calls: readonly string[]
  readonly pace?: { readonly firstTokenMs: number; readonly tokensPerSecond: number }
  readonly remarks: readonly string[]
}

const maybeText = v.nullish(v.string())
const message = open({
  content: maybeText,
  refusal: maybeText,
  reasoning_content: maybeText,
  ...callEntries,
})
const choice = open({
  index: v.optional(v.number()),
  message: v.nullish(message),
  delta: v.nullish(message),
  finish_reason: maybeText,
})
const completion = open({ choices: v.array(choice) })

type Piece = v.InferOutput<typeof choice>
type Message = v.InferOutput<typeof message>

/** Throws a PlatformError that says why where nothing can come of it. */
export function replyOf(told: Told, request: ChatRequest): DraftedReply {
  const { status, response } = told
  const broke = told.complete ? [] : ['The answer broke off; the draft has what was said until then.']
  if (status !== null && status >= 400) return { says: { fault: faultOf(told) }, calls: [], remarks: [] }
  const isStream = /^text\/event-stream\b/i.test(response.headers['content-type'] ?? '')
  const events = isStream ? eventsIn(String(response.body ?? '')).flatMap(event => jsonIn(dataOf(event))) : []
  const found = (isStream ? events : [response.body]).flatMap(value => {
    const read = v.safeParse(completion, value)
    return read.success ? read.output.choices : []
  })
  if (found.length === 0) throw notForARule(whyNothing(response))
  const tracks = tracksOf(found)
  const cut = response.truncated ? ['The journal has only the beginning of the answer.'] : []
  const said = tracks.map(track => saidIn(track))
  const [first] = said
  return {
    says: said.length === 1 && first ? first.form : { choices: said.map(({ form }) => form) },
    calls: said.flatMap(({ calls }) => calls),
    ...(isStream && paceOf(told, found.length)),
    remarks: [...(response.truncated ? cut : broke), ...remarksOn(request)],
  }
}

const whyNothing = ({ truncated }: Answered) =>
  truncated ? 'the journal has only the beginning of its answer' : 'its answer is no chat completion'

const remarksOn = ({ n }: ChatRequest) =>
  (n ?? 1) > 1 ? [`The request wanted ${n} choices; a request for fewer gets the first ones.`] : []

function faultOf({ status, error, response }: Told): NonNullable<ReplyForm['fault']> {
  const wait = Number(response.headers['retry-after'] ?? Number.NaN)
  const message = error ?? messageIn(response.body)
  return {
    status: Math.min(status ?? 500, 599),
    ...(message && { message }),
    ...(Number.isInteger(wait) && wait >= 0 && { retryAfter: wait }),
  }
}

const failure = v.union([open({ error: v.string() }), open({ error: open({ message: v.string() }) })])

function messageIn(body: unknown): string | undefined {
  const read = v.safeParse(failure, body)
  if (!read.success) return undefined
  const { error } = read.output
  return typeof error === 'string' ? error : error.message
}

/** The pieces of each choice, in the order of the choices. */
function tracksOf(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const tracks = new Map<number, Piece[]>()
  for (const piece of pieces) {
    const index = piece.index ?? 0
    tracks.set(index, [...(tracks.get(index) ?? []), piece])
  }
  return [...tracks].sort(([a], [b]) => a - b).map(([, track]) => track)
}

const grown = (texts: readonly (string | null | undefined)[]) => texts.join('')

function saidIn(track: readonly Piece[]) {
  const parts = track.flatMap<Message>(({ message, delta }) => message ?? delta ?? [])
  const text = grown(parts.map(({ content }) => content))
  const refusal = grown(parts.map(({ refusal }) => refusal))
  const reasoning = grown(parts.map(({ reasoning_content: thought }) => thought))
  const calls = callsIn(parts)
  const finish = track.findLast(({ finish_reason: reason }) => reason)?.finish_reason
  const isSilent = calls.length > 0 || refusal !== ''
  const form = {
    ...(reasoning !== '' && { reasoning: plain(reasoning) }),
    ...((text !== '' || !isSilent) && { text: plain(text) }),
    ...(refusal !== '' && { refusal: plain(refusal) }),
    ...(calls.length > 0 && { toolCalls: calls }),
    ...((finish === 'length' || finish === 'content_filter') && { finishReason: finish }),
  }
  return { form, calls: calls.map(({ name }) => name) }
}

/** Quicker than this is as fast as possible. */
const NO_TIME_MS = 20

function paceOf({ firstByteMs, response: { piecesAtMs } }: Told, events: number) {
  const [first = 0] = piecesAtMs
  const spanMs = (piecesAtMs.at(-1) ?? 0) - first
  if (piecesAtMs.length < 2 || spanMs < NO_TIME_MS) return {}
  const perSecond = ((Math.max(events, piecesAtMs.length) - 1) * 1000) / spanMs
  const tokensPerSecond = Math.max(1, Math.round(perSecond))
  return { pace: { firstTokenMs: Math.round((firstByteMs ?? 0) + first), tokensPerSecond } }
}
