/**
 * Creates completions in a worker if that takes long: for long prompts, and for answers with many choices, logprobs or
 * words.
 */
import { type ChatRequest, chatIn } from '../../completions/request.js'
import { promptTokens, type Tokenizer, tokenizerNamed } from '../../completions/tokens/index.js'
import { answerTakesTooLong, answerTooLarge } from '../../core/errors.js'
import type { Exchange } from '../../core/exchange.js'
import type { Pace } from '../../core/pace.js'
import { inWorker, nextTurn, TimeLimitError } from '../../core/work.js'
import type { Choice, Generation } from '../../replies/index.js'
import type { Form } from './frame.js'
import { createCompletions } from './plain.js'
import { mostTokens } from './trim.js'

/** Counting a prompt of this size takes up to 50 ms, if it has no word breaks. */
const HEAVY_PROMPT_BYTES = 32_768
const HEAVY_ANSWER_BYTES = 500_000
export const MOST_ANSWER_BYTES = 33_554_432
/** The number of stops times the length of the text that is searched for them. */
const HEAVY_STOPS = 10_000_000
export const MOST_WORKER_MS = 20_000

/** Whether counting the tokens of a prompt takes long. */
export const isHeavyPrompt = ({ body }: Pick<Exchange, 'body'>, { name }: Tokenizer): boolean =>
  name !== 'estimate' && body !== undefined && body.length > HEAVY_PROMPT_BYTES

/** Whether creating the answer takes long. Throws a 400 if it would be too large. */
export function isHeavyAnswer(request: ChatRequest, { choices }: Generation): boolean {
  const most = mostTokens(request)
  const sizes = choices.slice(0, request.n ?? 1).map(charactersOf)
  const characters =
    sizes.reduce((sum, size) => sum + size, 0) + ((request.n ?? 1) - sizes.length) * (sizes.at(-1) ?? 0)
  const { stop, stream, logprobs, top_logprobs: top } = request
  if (Array.isArray(stop) && stop.length * characters > HEAVY_STOPS) return true
  const tokenBytes = (stream ? EVENT_BYTES : TOKEN_CHARACTERS) + (logprobs ? LOGPROB_BYTES * (1 + (top ?? 0)) : 0)
  const bytes = Math.min(characters / TOKEN_CHARACTERS, most * (request.n ?? 1)) * tokenBytes
  if (bytes > MOST_ANSWER_BYTES) throw answerTooLarge(bytes, MOST_ANSWER_BYTES)
  return bytes > HEAVY_ANSWER_BYTES || characters > HEAVY_ANSWER_BYTES
}

const TOKEN_CHARACTERS = 4
/** The size of the framing of a token in a stream, and of a logprobs entry for it and for each alternative. */
const EVENT_BYTES = 250
const LOGPROB_BYTES = 90

const charactersOf = ({ text, refusal, reasoning, toolCalls = [] }: Choice): number =>
  [text, refusal, reasoning, ...toolCalls.map(call => call.arguments)].reduce(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  )

interface Input {
  readonly tokenizer: Tokenizer['name']
  /** The original body, which takes less time to copy than the parsed request. */
  readonly body: Uint8Array
  readonly generation: Pick<Generation, 'choices' | 'usage' | 'answeredBy'>
  /** For a stream. */
  readonly pace: Pace | undefined
}

type Output = Pick<Form, 'contentType' | 'headers' | 'body' | 'tokens'>

/** The completion, created in a worker. Rejects with a 400 if that takes too long. */
export async function heavyCompletion(
  exchange: Exchange,
  generation: Generation,
  tokenizer: Tokenizer,
  pace?: Pace,
): Promise<Form> {
  const { choices, usage, answeredBy } = generation
  // Reading such a request took a while already, and starting a worker may take as long.
  await nextTurn()
  const input = { ...bodyFor(exchange, tokenizer), generation: { choices, answeredBy, ...(usage && { usage }) }, pace }
  const form = await inWorker<Output>('completion', input satisfies Input, MOST_WORKER_MS).catch(refuseSlow)
  const { body } = form
  return body instanceof Uint8Array ? { ...form, body: Buffer.from(body.buffer, body.byteOffset, body.length) } : form
}

/** The number of tokens in a long prompt, counted in a worker. Rejects with a 400 if that takes too long. */
export const heavyPromptTokens = (exchange: Exchange, tokenizer: Tokenizer): Promise<number> =>
  inWorker<number>('promptTokens', bodyFor(exchange, tokenizer), MOST_WORKER_MS).catch(refuseSlow)

const bodyFor = ({ body = Buffer.alloc(0) }: Exchange, { name }: Tokenizer) => ({ tokenizer: name, body })

function refuseSlow(error: unknown): never {
  throw error instanceof TimeLimitError ? answerTakesTooLong(error.message) : error
}

/** Runs in the worker for heavyCompletion. */
export async function completionJob({ tokenizer, body, generation, pace }: Input): Promise<Output> {
  const request = requestIn(body)
  const { whole, streamed } = createCompletions(await tokenizerNamed(tokenizer))
  const form = pace ? streamed(request, generation, pace) : whole(request, generation)
  const { contentType, headers, tokens } = form
  return {
    ...{ contentType, headers, body: form.body },
    ...(tokens && { tokens: { prompt: tokens.prompt, completion: tokens.completion } }),
  }
}

/** Runs in the worker for heavyPromptTokens. */
export const promptTokensJob = async ({ tokenizer, body }: Pick<Input, 'tokenizer' | 'body'>): Promise<number> =>
  promptTokens(requestIn(body), await tokenizerNamed(tokenizer))

const requestIn = (body: Uint8Array) => chatIn({ body: Buffer.from(body) })
