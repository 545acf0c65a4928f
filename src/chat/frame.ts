/** Everything around the text of a completion: its id, time and model, and the framing of events. */
import { hash } from 'node:crypto'
import { createIds } from '../core/clock.js'
import { answerTooLarge } from '../core/errors.js'
import type { Pace } from '../core/pace.js'
import type { PacedBody, Reply } from '../core/reply.js'
import type { CompletionUsage } from './completion.js'
import type { Choice, Generation, UsageInput } from './generation.js'
import { type ChatRequest, mostTokens } from './request.js'
import { promptTokens, type Tokenizer } from './tokens/index.js'
import type { TrimmedChoice } from './trim.js'

/** The part of a reply that depends on its form. */
export type Form = Pick<Reply, 'contentType' | 'body' | 'headers' | 'tokens'>

/** The beginning of a completion. */
export interface Opening {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
}

/** A stream in parts, without a pace yet. */
export type Events = Pick<PacedBody, 'head' | 'before' | 'pieces' | 'after' | 'tail'>

/** OpenAI's name for the back end that made the answer. Here there is only one. */
export const FINGERPRINT = 'fp_standin'

// Proxies must neither cache nor buffer a stream.
const streamHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no'] as const

/**
 * The content type and headers of every stream. Some clients, such as Python's requests, read text without a charset as
 * Latin-1.
 */
export const streamForm = { contentType: 'text/event-stream; charset=utf-8', headers: streamHeaders } as const

const nextId = createIds('chatcmpl-', 12)

export const openingOf = ({ model }: ChatRequest): Opening => ({
  id: nextId(),
  created: Math.floor(Date.now() / 1000),
  model,
})

/** The beginning of every object of a completion. */
export const start = ({ id, created, model }: Opening, object: string) =>
  `{"id":"${id}","object":"${object}","created":${created},"model":${JSON.stringify(model)},`

/**
 * The text before and after the choice of each event, and the end of the stream. `usage` is JSON, if it was requested.
 */
export function frame(opening: Opening, usage: string | undefined) {
  const before = `data: ${start(opening, 'chat.completion.chunk')}"system_fingerprint":"${FINGERPRINT}","choices":[`
  // With include_usage every chunk has the key, and it is null in all but the last (OpenAI's reference,
  // "stream_options").
  const after = usage === undefined ? ']}\n\n' : '],"usage":null}\n\n'
  const total = usage === undefined ? '' : `${before}],"usage":${usage}}\n\n`
  return { before, after, end: `${total}data: [DONE]\n\n` }
}

/** Returns the events with `pace`. */
export function withPace(events: Events, pace: Pace, request: ChatRequest): PacedBody {
  return { ...events, pace, ...(pace.jitter > 0 && { seed: seedOf(request) }) }
}

/** The same request gets the same seed, so that its answer has the same rhythm each time. */
function seedOf({ model, messages, seed }: ChatRequest): number {
  return Number.parseInt(hash('sha256', JSON.stringify([model, messages, seed]), 'hex').slice(0, 8), 16)
}

/** The whole stream as text, without a pace. */
export function streamText({ head, before, pieces, after, tail }: Events): string {
  const middle = pieces.length === 0 ? '' : before + pieces.join(after + before) + after
  return head + middle + tail
}

/**
 * Token counts that are computed on first use, so that a stream without usage does not wait for a long prompt to be
 * counted. A class, since each answer has one, and an object literal with getters takes ten times as long to create.
 */
export class TokenCount {
  private promptCount: number | undefined

  constructor(
    private readonly request: ChatRequest,
    private readonly usage: UsageInput | undefined,
    private readonly tokenizer: Tokenizer,
    private readonly answer: { readonly tokens: number },
  ) {}

  get prompt(): number {
    this.promptCount ??= this.usage?.promptTokens ?? promptTokens(this.request, this.tokenizer)
    return this.promptCount
  }

  get completion(): number {
    return this.answer.tokens
  }
}

/** The tokens of all choices, including reasoning, even if only its number of tokens is given. */
export function completionTokens(choices: readonly TrimmedChoice[], named: UsageInput = {}): number {
  const answer = choices.reduce((sum, { tokens }) => sum + tokens.answer, 0)
  return named.completionTokens ?? answer + reasoningTokens(choices, named)
}

function reasoningTokens(choices: readonly TrimmedChoice[], { reasoningTokens }: UsageInput): number {
  return reasoningTokens ?? choices.reduce((sum, { tokens }) => sum + tokens.reasoning, 0)
}

const detailsOf = (cached_tokens: number, reasoning_tokens: number) => ({
  prompt_tokens_details: { cached_tokens, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
})

/** The usage of a completion. */
export function usageOf(
  { prompt, completion }: TokenCount,
  choices: readonly TrimmedChoice[],
  named: UsageInput = {},
): CompletionUsage {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...detailsOf(named.cachedTokens ?? 0, reasoningTokens(choices, named)),
  }
}

export const MOST_ANSWER_BYTES = 33_554_432

const TOKEN_CHARACTERS = 4
/** The size of the framing of a token in a stream, and of its entry in logprobs. */
const EVENT_BYTES = 250
const LOGPROB_BYTES = 90

/** Throws a 400 if the answer would be too large. */
export function requireModestAnswer(request: ChatRequest, { choices }: Generation): void {
  const count = request.n ?? 1
  let characters = 0
  for (let i = 0; i < count; i++) characters += charactersOf(choices[Math.min(i, choices.length - 1)])
  const tokens = Math.min(characters / TOKEN_CHARACTERS, mostTokens(request) * count)
  const tokenBytes = (request.stream ? EVENT_BYTES : TOKEN_CHARACTERS) + (request.logprobs ? LOGPROB_BYTES : 0)
  const bytes = tokens * tokenBytes
  if (bytes > MOST_ANSWER_BYTES) throw answerTooLarge(bytes, MOST_ANSWER_BYTES)
}

function charactersOf({ text, refusal, reasoning, toolCalls = [] }: Partial<Choice> = {}): number {
  let sum = (text?.length ?? 0) + (refusal?.length ?? 0) + (reasoning?.length ?? 0)
  for (const call of toolCalls) sum += call.arguments.length
  return sum
}
