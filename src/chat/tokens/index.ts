/** Counts the tokens of a text and of a prompt, including images, tools and schemas. The only entry point of this part. */
import { isObject } from '../../core/json.js'
import { type ChatMessage, type ChatRequest, textOf } from '../request.js'
import type { Encoding, Tokenizer } from './encoded.js'

export type { Encoding, Tokenizer } from './encoded.js'

/** Loads the tokenizer of an encoding, whose table has some megabytes. */
export const loadTokenizer = async (encoding: Encoding): Promise<Tokenizer> =>
  (await import('./encoded.js')).loadTokenizer(encoding)

const loaded = new Map<Tokenizer['name'], Promise<Tokenizer>>()

/** Returns the tokenizer with this name. The tables are large, so they are loaded on first use, and only once. */
export async function tokenizerNamed(name: Tokenizer['name']): Promise<Tokenizer> {
  if (name === 'estimate') return estimated
  const tokenizer = loaded.get(name) ?? loadTokenizer(name)
  loaded.set(name, tokenizer)
  return tokenizer
}
const CHARACTERS = 4

/** OpenAI's rule of thumb for English, four characters per token: fast, and about 12 % off. */
export const estimated: Tokenizer = {
  name: 'estimate',
  count: text => Math.ceil(text.length / CHARACTERS),
  cut(text, most) {
    const end = Math.max(most, 0) * CHARACTERS
    if (end >= text.length) return text
    // Half a surrogate pair is not a character.
    return text.slice(0, splitsPair(text, end) ? end - 1 : end)
  },
  // Words with the space before them, long ones in parts, similar to real tokens.
  pieces: text => text.match(/\s*\S{1,12}|\s+$/gu) ?? [],
}

/** Whether a surrogate pair would be split at `at`. */
const splitsPair = (text: string, at: number) => (text.codePointAt(at - 1) ?? 0) > 0xffff

// Each message has a few tokens around it (four in OpenAI's cookbook) and one for its name. The answer begins with
// three.
const MESSAGE_TOKENS = 4
const NAME_TOKENS = 1
const ANSWER_TOKENS = 3

/** The number of tokens that the model reads before it answers. */
export function promptTokens(request: ChatRequest, tokenizer: Tokenizer): number {
  let sum = ANSWER_TOKENS
  for (const message of request.messages) sum += tokensOfMessage(message, tokenizer)
  const { tools, functions, response_format: format } = request
  if (tools) sum += tokensOfTools(tools.map(partOfTool), tokenizer)
  if (Array.isArray(functions)) sum += tokensOfTools(functions, tokenizer)
  for (const schema of format ? [format.json_schema, format.schema] : []) {
    if (isObject(schema)) sum += tokenizer.count(JSON.stringify(schema))
  }
  return sum
}

function tokensOfMessage(message: ChatMessage, tokenizer: Tokenizer): number {
  let sum = MESSAGE_TOKENS + tokenizer.count(textOf(message))
  if (typeof message.name === 'string') sum += NAME_TOKENS + tokenizer.count(message.name)
  if (Array.isArray(message.content)) for (const part of message.content) sum += tokensOfPart(part)
  const { tool_calls: calls, function_call: call } = message
  for (const text of Array.isArray(calls) ? calls.flatMap(textsOfToolCall) : []) sum += tokenizer.count(text)
  if (call) for (const text of textsOfCall(call)) sum += tokenizer.count(text)
  return sum
}

const textsOfToolCall = (call: unknown) => (isObject(call) ? textsOfCall(call.function ?? call.custom) : [])

/** The name and the input of a call. The `input` of OpenAI's custom tools is used unchanged. */
function textsOfCall(call: unknown): readonly string[] {
  if (!isObject(call)) return []
  return [call.name, call.arguments, call.input].filter(text => typeof text === 'string')
}

type Part = Exclude<ChatMessage['content'], string | null | undefined>[number]

// The tokens that OpenAI's vision models use for an image in low detail, and for one of 1024 x 1024 pixels in high
// detail.
const LOW_DETAIL = 85
const HIGH_DETAIL = 765

// Ten tokens a second: sixteen bits per sample at 24 kHz, as OpenAI's own clients record, or an MP3 with 128 kbit/s.
const BYTES_PER_TOKEN = { wav: 4800, compressed: 1600 }

/** The tokens of a part in addition to its text. */
function tokensOfPart({ type, image_url: image, input_audio: audio }: Part): number {
  if (type === 'image_url') return isObject(image) && image.detail === 'high' ? HIGH_DETAIL : LOW_DETAIL
  if (type !== 'input_audio' || !isObject(audio) || typeof audio.data !== 'string') return 0
  const bytes = (audio.data.length * 3) / 4
  return Math.ceil(bytes / BYTES_PER_TOKEN[audio.format === 'wav' ? 'wav' : 'compressed'])
}

/** The part of a tool that the model sees. OpenAI's custom tools use another key for it. */
const partOfTool = ({ function: callable, custom }: Readonly<Record<string, unknown>>) => callable ?? custom

// OpenAI's cookbook, "How to count tokens with tiktoken", section 7 (num_tokens_for_tools): the tokens around a
// function, its properties and the values of an enum.
const FUNCTION_TOKENS = { o200k_base: 7, estimate: 7, cl100k_base: 10 }
const PROPERTIES_TOKENS = 3
const PROPERTY_TOKENS = 3
const ENUM_TOKENS = -3
const VALUE_TOKENS = 3
const TOOLS_TOKENS = 12

function tokensOfTools(tools: readonly unknown[], tokenizer: Tokenizer): number {
  const objects = tools.filter(isObject)
  if (objects.length === 0) return 0
  return objects.reduce((sum, tool) => sum + tokensOfTool(tool, tokenizer), TOOLS_TOKENS)
}

function tokensOfTool({ name, description, parameters, format }: Fields, tokenizer: Tokenizer): number {
  let sum = FUNCTION_TOKENS[tokenizer.name] + tokenizer.count(line(name, description))
  // A custom tool has a grammar instead of parameters.
  if (isObject(format)) sum += tokenizer.count(JSON.stringify(format))
  for (const schema of schemasIn(parameters)) sum += tokensOfSchema(schema, tokenizer)
  return sum
}

type Fields = Readonly<Record<string, unknown>>

/** The cookbook counts one level; nested levels cost the same. */
function tokensOfSchema({ properties, enum: values }: Fields, tokenizer: Tokenizer): number {
  let sum = 0
  for (const [name, property] of isObject(properties) ? Object.entries(properties) : []) {
    const { type, description } = isObject(property) ? property : {}
    sum += (sum === 0 ? PROPERTIES_TOKENS : 0) + PROPERTY_TOKENS + tokenizer.count(line(name, type, description))
  }
  if (!Array.isArray(values)) return sum
  const texts = values.map(value => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')))
  return texts.reduce((sum, text) => sum + VALUE_TOKENS + tokenizer.count(text), sum + ENUM_TOKENS)
}

/** A schema and the schemas in it. Without recursion, since clients may nest them deeply. */
function* schemasIn(parameters: unknown): Generator<Fields> {
  const waiting = [parameters]
  while (waiting.length > 0) {
    const schema = waiting.pop()
    if (!isObject(schema)) continue
    yield schema
    const { properties, $defs, definitions, items, anyOf, oneOf, allOf, prefixItems } = schema
    for (const inside of [properties, $defs, definitions, anyOf, oneOf, allOf, prefixItems]) {
      // An object by names, or a list.
      if (typeof inside === 'object' && inside !== null) for (const one of Object.values(inside)) waiting.push(one)
    }
    waiting.push(items)
  }
}

/** Joins the parts of a line that exist; a description loses its full stop. */
const line = (...parts: readonly unknown[]) =>
  parts
    .filter(part => typeof part === 'string' || Array.isArray(part))
    .map(part => String(part).replace(/\.$/, ''))
    .join(':')
