/** Counts the tokens of a prompt: the messages, and what is sent along with them. */
import { type ChatMessage, type ChatRequest, textOf } from '../core/chat.js'
import type { Tokenizer } from './tokenizer.js'

// A few tokens frame each message (OpenAI's cookbook counts four) and one its name; three begin the answer.
const OF_MESSAGE = 4
const OF_NAME = 1
const OF_ANSWER = 3

/** How many tokens the model reads before it answers. */
export function promptTokens(request: ChatRequest, tokenizer: Tokenizer): number {
  let sum = OF_ANSWER
  for (const message of request.messages) sum += tokensOfMessage(message, tokenizer)
  const { tools, functions, response_format: format } = request
  if (tools) sum += countJson(tools, () => tools.map(describedTool), tokenizer)
  if (Array.isArray(functions)) sum += countJson(functions, () => functions.map(described), tokenizer)
  if (isObject(format?.json_schema)) {
    const { json_schema: schema } = format
    sum += countJson(schema, () => schema, tokenizer)
  }
  return sum
}

function tokensOfMessage(message: ChatMessage, tokenizer: Tokenizer): number {
  let sum = OF_MESSAGE + tokenizer.count(textOf(message))
  if (typeof message.name === 'string') sum += OF_NAME + tokenizer.count(message.name)
  if (Array.isArray(message.content)) for (const part of message.content) sum += tokensOfPart(part)
  const { tool_calls: calls, function_call: call } = message
  for (const text of Array.isArray(calls) ? calls.flatMap(textsOfToolCall) : []) sum += tokenizer.count(text)
  for (const text of textsOfCall(call)) sum += tokenizer.count(text)
  return sum
}

const textsOfToolCall = (call: unknown) => (isObject(call) ? textsOfCall(call.function ?? call.custom) : [])

/** Who is called, and with what; OpenAI's custom tools take their `input` as it is. */
function textsOfCall(call: unknown): readonly string[] {
  if (!isObject(call)) return []
  return [call.name, call.arguments, call.input].filter(text => typeof text === 'string')
}

type Part = Exclude<ChatMessage['content'], string | null | undefined>[number]

// What OpenAI's vision models take for an image of low detail, and for one of 1024 x 1024 pixels in high detail.
const LOW_DETAIL = 85
const HIGH_DETAIL = 765

/** What a part costs beside its text. */
function tokensOfPart({ type, image_url: image, input_audio: audio }: Part): number {
  switch (type) {
    case 'image_url':
      return isObject(image) && image.detail === 'high' ? HIGH_DETAIL : LOW_DETAIL
    case 'input_audio':
      return tokensOfAudio(audio)
    default:
      return 0
  }
}

const TOKENS_A_SECOND = 10
// Sixteen bits a sample at 24 kHz, as OpenAI's own clients record; an MP3 of 128 kbit/s.
const BYTES_A_SECOND = { wav: 48_000, compressed: 16_000 }

/** By its length in time, guessed from its size. */
function tokensOfAudio(audio: unknown): number {
  if (!isObject(audio) || typeof audio.data !== 'string') return 0
  const bytes = (audio.data.length * 3) / 4
  return Math.ceil((bytes / BYTES_A_SECOND[audio.format === 'wav' ? 'wav' : 'compressed']) * TOKENS_A_SECOND)
}

/** Written once for each request, which may be counted more than once. */
const written = new WeakMap<object, string>()

function countJson(key: object, value: () => unknown, tokenizer: Tokenizer): number {
  const text = written.get(key) ?? JSON.stringify(value())
  written.set(key, text)
  return tokenizer.count(text)
}

/** What a model is told of a tool; OpenAI's custom tools have theirs under another name. */
const describedTool = ({ function: own, custom }: Readonly<Record<string, unknown>>) => described(own ?? custom)

function described(tool: unknown): unknown {
  if (!isObject(tool)) return tool
  const { name, description, parameters, format } = tool
  return { name, description, parameters, format }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
