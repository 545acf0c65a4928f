/** What a chat completion request is: the fields of OpenAI's clients, checked where the platform cares. */
import * as v from 'valibot'
import { number, open, where, word } from './check.js'

// Every optional field may also be null: OpenAI's own clients send null for "not set".
const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)
const text = v.string('text')
const flag = v.boolean('true or false')
const count = (least: number) => {
  const meaning = `a whole number from ${least}`
  return v.pipe(v.number(meaning), v.integer(meaning), v.minValue(least, meaning))
}
const listOf = <S extends v.GenericSchema>(item: S, of: string) => v.array(item, `an array of ${of}`)

const anyPart = open({ type: text, text: v.optional(v.unknown()) })

/** Text, an image, audio, a file or whatever a client library will send next; text is the one part that is read. */
const part = v.pipe(
  anyPart,
  where<v.InferOutput<typeof anyPart>>('text', 'text', ({ type, text }) => type !== 'text' || typeof text === 'string'),
)

export const roles = ['system', 'user', 'assistant', 'tool', 'developer', 'function'] as const

const words = 'text or an array of parts'
const anyMessage = open({
  role: word(roles),
  content: maybe(v.union([text, listOf(part, 'parts')], words)),
  name: maybe(text),
})

/** OpenAI's clients send null, or nothing, as the content of an assistant's tool calls and of a function's result. */
const mayBeNull = new Set<string>(['assistant', 'function'])

const message = v.pipe(
  anyMessage,
  where<v.InferOutput<typeof anyMessage>>(
    'content',
    words,
    ({ role, content }) => (content !== null && content !== undefined) || mayBeNull.has(role),
  ),
)

const tool = open({ type: text })

export const chatRequest = open({
  model: v.pipe(text, v.nonEmpty('the id of a model')),
  messages: v.pipe(listOf(message, 'messages'), v.nonEmpty('an array with at least one message')),
  temperature: maybe(number(0, 2)),
  stream: maybe(flag),
  stream_options: maybe(open({ include_usage: maybe(flag) })),
  top_p: maybe(number(0, 1)),
  n: maybe(count(1)),
  stop: maybe(v.union([text, listOf(text, 'texts')], 'text or an array of texts')),
  max_tokens: maybe(count(1)),
  max_completion_tokens: maybe(count(1)),
  frequency_penalty: maybe(number(-2, 2)),
  presence_penalty: maybe(number(-2, 2)),
  seed: maybe(v.pipe(v.number('a whole number'), v.integer('a whole number'))),
  logprobs: maybe(flag),
  top_logprobs: maybe(count(0)),
  logit_bias: maybe(open({})),
  tools: maybe(listOf(tool, 'tools')),
  tool_choice: maybe(v.union([text, tool], 'text or an object')),
  parallel_tool_calls: maybe(flag),
  response_format: maybe(open({ type: text })),
  user: maybe(text),
  metadata: maybe(open({})),
  store: maybe(flag),
})

/** A request that has passed the check. */
export type ChatRequest = v.InferOutput<typeof chatRequest>
export type ChatMessage = ChatRequest['messages'][number]

/** The text of a message; the texts of its parts stand on lines of their own, other parts have none. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content
  return content?.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n') ?? ''
}
