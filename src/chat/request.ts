/** Parses a chat completion request. Fields are OpenAI's, and are checked only as far as the platform needs them. */
import * as v from 'valibot'
import { check } from '../check/check.js'
import { arrayOf, integer, maybe, numberBetween, open, text, where, word } from '../check/forms.js'
import { emptyBody, invalidRequest } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { jsonBody } from '../core/json.js'
import { isOrdinary } from './ordinary.js'
import { callable, callsWhatIsOffered, functionCall, responseFormat, tool, toolChoice } from './tools.js'

const flag = v.boolean('true or false')
const anyPart = open({ type: text, text: v.optional(v.unknown()) })

/** Text, an image, audio, a file or any other type. Only text is read. */
const part = v.pipe(
  anyPart,
  where<v.InferOutput<typeof anyPart>>(
    'text',
    'a string',
    ({ type, text }) => type !== 'text' || typeof text === 'string',
  ),
)

export const roles = ['system', 'user', 'assistant', 'tool', 'developer', 'function'] as const

const called = open({ name: maybe(text), arguments: maybe(text) })

/** A call that the model made in an earlier turn, as the client repeats it. Checked as loosely as models do. */
const toolCall = open({
  id: maybe(text),
  type: maybe(text),
  function: maybe(called),
  custom: maybe(open({ name: maybe(text), input: maybe(text) })),
})

const contentForm = 'a string or an array of parts'
const anyMessage = open({
  role: word(roles),
  content: maybe(v.union([text, arrayOf(part, 'parts')], contentForm)),
  name: maybe(text),
  tool_calls: maybe(arrayOf(toolCall, 'tool calls')),
  tool_call_id: maybe(text),
  function_call: maybe(called),
})

/** OpenAI's clients send null or no content with an assistant's tool calls and a function's result. */
const rolesWithoutContent = new Set<string>(['assistant', 'function'])

const message = v.pipe(
  anyMessage,
  where<v.InferOutput<typeof anyMessage>>(
    'content',
    contentForm,
    ({ role, content }) => (content !== null && content !== undefined) || rolesWithoutContent.has(role),
  ),
)

const anyRequest = open({
  model: v.pipe(text, v.nonEmpty('the id of a model')),
  messages: v.pipe(arrayOf(message, 'messages'), v.nonEmpty('an array with at least one message')),
  temperature: maybe(numberBetween(0, 2)),
  stream: maybe(flag),
  stream_options: maybe(open({ include_usage: maybe(flag) })),
  top_p: maybe(numberBetween(0, 1)),
  n: maybe(integer(1, 128)),
  stop: maybe(v.union([text, arrayOf(text, 'strings')], 'a string or an array of strings')),
  // OpenAI refuses 0, and the platform's document shows no bounds, so the option `requests` decides.
  max_tokens: maybe(integer(0)),
  max_completion_tokens: maybe(integer(0)),
  frequency_penalty: maybe(numberBetween(-2, 2)),
  presence_penalty: maybe(numberBetween(-2, 2)),
  seed: maybe(v.pipe(v.number('a whole number'), v.integer('a whole number'))),
  logprobs: maybe(flag),
  top_logprobs: maybe(integer(0, 20)),
  logit_bias: maybe(open({})),
  tools: maybe(arrayOf(tool, 'tools')),
  tool_choice: maybe(toolChoice),
  parallel_tool_calls: maybe(flag),
  functions: maybe(arrayOf(callable, 'functions')),
  function_call: maybe(functionCall),
  response_format: maybe(responseFormat),
  user: maybe(text),
  metadata: maybe(open({})),
  store: maybe(flag),
})

/** The fields of a request that are checked. */
export const chatFields: readonly string[] = Object.keys(anyRequest.entries)

/** A valid request. */
export type ChatRequest = v.InferOutput<typeof anyRequest>

export const chatRequest = v.pipe(
  anyRequest,
  where<ChatRequest>(
    'top_logprobs',
    'is only allowed if logprobs is true.',
    ({ logprobs, top_logprobs }) => logprobs === true || (top_logprobs ?? null) === null,
  ),
  callsWhatIsOffered<ChatRequest>(),
)

export type ChatMessage = ChatRequest['messages'][number]

/** The text of a message: its text parts, one per line. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content
  return content?.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n') ?? ''
}

/** Returns the chat request of an exchange. Throws a 400 that names the first mistake in its body. */
export function chatIn(exchange: Pick<Exchange, 'body' | 'chat'>): ChatRequest {
  const { body, chat } = exchange
  if (chat !== undefined) return chat as ChatRequest
  if (!body || body.length === 0) throw emptyBody()
  const value = jsonBody(body)
  if (isOrdinary(value)) {
    exchange.chat = value as ChatRequest
    return value as ChatRequest
  }
  if (Array.isArray(value)) throw invalidRequest('The request body must be an object, not an array.')
  const checked = check(chatRequest, value, { firstOnly: true, whole: 'The request body' })
  if (!('value' in checked))
    throw invalidRequest(checked.mistakes[0]?.sentence ?? 'The request body is not a chat completion request.')
  exchange.chat = checked.value
  return checked.value
}

/** Whether a request uses the older functions instead of tools. */
export const callsFunctions = ({ functions, tools }: ChatRequest) => Array.isArray(functions) && !tools?.length

/** The maximum length of the answer. */
export const mostTokens = ({ max_tokens, max_completion_tokens }: ChatRequest) =>
  Math.min(max_tokens ?? Number.POSITIVE_INFINITY, max_completion_tokens ?? Number.POSITIVE_INFINITY)
