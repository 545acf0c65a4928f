/**
 * The formats of a chat completion: one JSON object, or the events of a stream. They are OpenAI's, since the document
 * does not show them.
 */
import { hash } from 'node:crypto'
import { createIds } from '../core/clock.js'
import { isPaced, type Pace, unpaced } from '../core/pace.js'
import type { PacedBody, Reply } from '../core/reply.js'
import { memoized } from '../core/work.js'
import { stepsOf } from './chunks.js'
import type { Completion, CompletionChoice, CompletionMessage, Logprobs, TokenLogprob } from './completion.js'
import type { Generation, ToolCall } from './generation.js'
import type { VendorChoice } from './reader.js'
import { type ChatRequest, callsFunctions } from './request.js'
import type { Tokenizer } from './tokens/index.js'
import { requireModestAnswer, TokenCount, type TrimmedChoice, trimChoices } from './trim.js'

/** The part of a reply that depends on its form. */
export type CompletionForm = Pick<Reply, 'contentType' | 'body' | 'headers' | 'tokens'>

/** A stream in parts, without a pace yet. */
type Events = Pick<PacedBody, 'head' | 'before' | 'pieces' | 'after' | 'tail'>

/** OpenAI's name for the back end that made the answer. Here there is only one. */
const FINGERPRINT = 'fp_standin'

/**
 * The content type and headers of every stream. Some clients, such as Python's requests, read text without a charset as
 * Latin-1. Proxies must neither cache nor buffer it.
 */
const streamForm = {
  contentType: 'text/event-stream; charset=utf-8',
  headers: ['cache-control', 'no-cache', 'x-accel-buffering', 'no'],
} as const

const nextId = createIds('chatcmpl-', 12)
const nextCallId = createIds('call_', 16)

/** At most this many texts are kept in pieces, each of at most this many characters. */
const MOST_TEXTS = 500
const MOST_CHARACTERS = 10_000

/** The pieces of a text as JSON. */
type EscapedPieces = (text: string) => readonly string[]

/** Creates completions. `tokenizer` counts their tokens. */
export function createCompletions(tokenizer: Tokenizer) {
  const cut: EscapedPieces = text => tokenizer.pieces(text).map(piece => JSON.stringify(piece))
  const shared = memoized(cut, MOST_TEXTS)
  const escapedPieces: EscapedPieces = text => (text.length > MOST_CHARACTERS ? cut(text) : shared(text))

  /** The completion as one JSON object. */
  function whole(request: ChatRequest, generation: Generation): CompletionForm {
    const { completion, tokens } = complete(request, generation, true)
    return { contentType: 'application/json', body: JSON.stringify(completion), tokens }
  }

  /** The completion as server-sent events, at the speed of `pace`. */
  function streamed(request: ChatRequest, generation: Generation, pace: Pace): CompletionForm {
    const { completion, tokens } = complete(request, generation, request.stream_options?.include_usage === true)
    const events = streamEvents(completion, tokenizer, escapedPieces)
    if (!isPaced(pace)) return { ...streamForm, body: { ...events, pace: unpaced }, tokens }
    // A model generates its choices at the same time, so that each has the full speed.
    const sharedPace = { ...pace, tokensPerSecond: pace.tokensPerSecond * completion.choices.length }
    const body = { ...events, pace: sharedPace, ...(pace.jitter > 0 && { seed: rhythmSeed(request) }) }
    return { ...streamForm, body, tokens }
  }

  /** Omits the usage if it is not sent, because counting a long prompt takes time. */
  function complete(request: ChatRequest, generation: Generation, hasUsage: boolean) {
    requireModestAnswer(request, generation)
    const trimmed = trimChoices(generation, request, tokenizer)
    const tokens = new TokenCount(request, trimmed, generation.usage, tokenizer)
    // OpenAI names the tier that answered if the request has one. `auto` is that of the project, by default `default`.
    const { service_tier: tier } = request
    const completion: Completion = {
      id: nextId(),
      object: 'chat.completion',
      created: Math.floor(Date.now() / 1000),
      model: request.model,
      choices: trimmed.map((choice, index) => ({
        index,
        message: assistantMessage(choice, request),
        logprobs: request.logprobs ? logprobs(choice, tokenizer) : null,
        finish_reason: choice.finishReason,
      })),
      ...(hasUsage && { usage: tokens.usage }),
      ...(typeof tier === 'string' && { service_tier: tier === 'auto' ? 'default' : tier }),
      system_fingerprint: FINGERPRINT,
    }
    return { completion, tokens }
  }

  return { whole, streamed }
}

/** The same request gets the same seed, so that its answer has the same rhythm each time. */
function rhythmSeed({ model, messages, seed }: ChatRequest): number {
  return Number.parseInt(hash('sha256', JSON.stringify([model, messages, seed]), 'hex').slice(0, 8), 16)
}

const assistantMessage = (
  { text, reasoning, calls, refusal }: TrimmedChoice,
  request: ChatRequest,
): CompletionMessage => ({
  role: 'assistant',
  content: text,
  ...(reasoning !== undefined && { reasoning_content: reasoning }),
  ...(calls.length > 0 && callFields(calls, callsFunctions(request))),
  refusal,
  // Chunks of a stream have none.
  ...(!request.stream && { annotations: [] }),
})

function callFields(calls: readonly ToolCall[], asFunctions: boolean): Partial<CompletionMessage> {
  const [first] = calls
  if (first && asFunctions) return { function_call: { name: first.name, arguments: first.arguments } }
  return {
    tool_calls: calls.map(({ id = nextCallId(), kind, name, arguments: said }) =>
      kind === 'custom'
        ? { id, type: 'custom', custom: { name, input: said } }
        : { id, type: 'function', function: { name, arguments: said } },
    ),
  }
}

/** The events of the same completion: the choices alternate, and end one after the other. */
function streamEvents(
  { id, created, model, choices, usage, service_tier: tier }: Completion,
  { pieces: cut }: Tokenizer,
  escapedPieces: EscapedPieces,
): Events {
  const opening = `{"id":"${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},${tier ? `"service_tier":${JSON.stringify(tier)},` : ''}`
  const before = `data: ${opening}"system_fingerprint":"${FINGERPRINT}","choices":[`
  // With include_usage every chunk has the key, and it is null in all but the last (OpenAI's reference,
  // "stream_options").
  const after = usage === undefined ? ']}\n\n' : '],"usage":null}\n\n'
  const total = usage === undefined ? '' : `${before}],"usage":${JSON.stringify(usage)}}\n\n`
  const only = choices.length === 1 ? choices[0] : undefined
  if (only && hasTextAlone(only)) return textEvents(only, { before, after, total }, escapedPieces)
  // It has the form of any vendor's completion, except that its lists are readonly.
  const tracks = choices.map(choice => stepsOf(choice as VendorChoice, cut))
  const rounds = Math.max(...tracks.map(({ length }) => length))
  const written = (from: number, to: number): readonly string[] => {
    const events: string[] = []
    for (let turn = from; turn < to; turn++) {
      for (const track of tracks) if (turn < track.length) events.push(JSON.stringify(track[turn]))
    }
    return events
  }
  const framed = (events: readonly string[]) => events.map(event => before + event + after).join('')
  return {
    // OpenAI sends no logprobs with the role.
    head: framed(tracks.map(([first]) => JSON.stringify({ ...first, logprobs: null }))),
    before,
    pieces: written(1, rounds - 1),
    after,
    tail: `${framed(written(rounds - 1, rounds))}${total}data: [DONE]\n\n`,
  }
}

/** Whether a choice is nothing but text, as most are. */
const hasTextAlone = ({ message, logprobs }: CompletionChoice) =>
  logprobs === null &&
  message.content !== null &&
  message.refusal === null &&
  message.reasoning_content === undefined &&
  message.tool_calls === undefined &&
  message.function_call === undefined

/** The events of a single text, of which only the pieces differ: they are shared by all answers with this text. */
function textEvents(
  { message: { content }, finish_reason }: CompletionChoice,
  { before, after, total }: { readonly before: string; readonly after: string; readonly total: string },
  escapedPieces: EscapedPieces,
): Events {
  const opening = '{"index":0,"delta":{'
  const end = '},"logprobs":null,"finish_reason":null}'
  return {
    head: `${before}${opening}"role":"assistant","content":"","refusal":null${end}${after}`,
    before: `${before}${opening}"content":`,
    pieces: escapedPieces(content ?? ''),
    after: end + after,
    tail: `${before}${opening}},"logprobs":null,"finish_reason":"${finish_reason}"}${after}${total}data: [DONE]\n\n`,
  }
}

/** For text only, since OpenAI has none for tool calls. */
function logprobs({ text, refusal }: TrimmedChoice, { pieces }: Tokenizer): Logprobs | null {
  if (text === null && refusal === null) return null
  return {
    content: text === null ? null : logprobsOf(pieces(text)),
    refusal: refusal === null ? null : logprobsOf(pieces(refusal)),
  }
}

/** The logprobs of consecutive tokens. No alternatives are made up: the list may be shorter than requested. */
function logprobsOf(tokens: readonly string[]): readonly TokenLogprob[] {
  return tokens.map((token, at) => {
    // More than half, so that nothing else is likelier.
    const chance = 0.99 - 0.48 * (randomFor(token, at) / 2 ** 32) ** 2
    const logprob = Number(Math.log(chance).toFixed(8))
    return { token, logprob, bytes: [...Buffer.from(token)], top_logprobs: [] }
  })
}

/**
 * A number from 0 to 2^32 - 1 that is always the same for the same token and position (FNV-1a, with the finalizer of
 * Murmur3).
 */
function randomFor(token: string, at: number): number {
  let mixed = 0x811c9dc5 ^ at
  for (let i = 0; i < token.length; i++) mixed = Math.imul(mixed ^ token.charCodeAt(i), 0x01000193)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
