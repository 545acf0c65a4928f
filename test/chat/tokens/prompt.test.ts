import { expect, test } from 'vitest'
import { type ChatRequest, chatRequest } from '../../../src/chat/request.js'
import { estimated, loadTokenizer, promptTokens } from '../../../src/chat/tokens/index.js'
import { check } from '../../../src/check/check.js'

/** A validated request. */
function asked(fields: object): ChatRequest {
  const checked = check(chatRequest, { model: 'gpt-4o-mini', ...fields })
  if ('mistakes' in checked) throw new Error(checked.mistakes[0]?.sentence)
  return checked.value
}

const user = (content: unknown) => ({ role: 'user', content })
const count = (...messages: object[]) => promptTokens(asked({ messages }), estimated)
const hello = count(user('hello'))

test('a message costs four tokens besides its text, and the start of the answer three', () => {
  expect(hello).toBe(3 + 4 + 2)
  expect(count(user('hello'), { role: 'assistant', content: 'Hi there!' })).toBe(hello + 4 + 3)
  expect(count(user([{ type: 'text', text: 'hello' }]))).toBe(hello)
  expect(count(user('hello'), { role: 'assistant', content: null })).toBe(hello + 4)
})

test('a name costs its tokens plus one', () => {
  expect(count({ ...user('hello'), name: 'ada' })).toBe(hello + 2)
})

test.each([
  [
    'a tool',
    { tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'now', arguments: '{"zone":"UTC"}' } }] },
  ],
  [
    'a custom tool',
    { tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'now', input: '{"zone":"UTC"}' } }] },
  ],
  ['a deprecated function', { function_call: { name: 'now', arguments: '{"zone":"UTC"}' } }],
])('a call of %s costs its name and its arguments', (_what, call) => {
  expect(count(user('hello'), { role: 'assistant', content: null, ...call })).toBe(hello + 4 + 1 + 4)
})

test('the cost of an image depends on its detail, not on its size', () => {
  const image = (detail?: string) => ({ type: 'image_url', image_url: { url: `data:,${'A'.repeat(9000)}`, detail } })
  const text = { type: 'text', text: 'hello' }
  expect(count(user([text, image()]))).toBe(hello + 85)
  expect(count(user([text, image('low')]))).toBe(hello + 85)
  expect(count(user([text, image('high'), image('auto')]))).toBe(hello + 765 + 85)
})

test('the cost of audio depends on its duration', () => {
  // Three seconds: base64 is a third longer than the bytes.
  const data = 'A'.repeat(3 * 48_000 * (4 / 3))
  const audio = (format: string) => ({ type: 'input_audio', input_audio: { data, format } })
  expect(count(user([{ type: 'text', text: 'hello' }, audio('wav')]))).toBe(hello + 30)
  expect(count(user([{ type: 'text', text: 'hello' }, audio('mp3')]))).toBe(hello + 90)
})

// The example of OpenAI's cookbook, "How to count tokens with tiktoken", section 7, and the tokens that its function and the API count.
const weather = {
  name: 'get_current_weather',
  description: 'Get the current weather in a given location',
  parameters: {
    type: 'object',
    properties: {
      location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
      unit: { type: 'string', description: 'The unit of temperature to return', enum: ['celsius', 'fahrenheit'] },
    },
    required: ['location'],
  },
}
const question = [
  { role: 'system', content: 'You are a helpful assistant that can answer to questions about the weather.' },
  { role: 'user', content: "What's the weather like in San Francisco?" },
]

test.each([
  ['cl100k_base', 105],
  ['o200k_base', 101],
] as const)('%s counts the example in the cookbook as the cookbook does', async (encoding, tokens) => {
  const tokenizer = await loadTokenizer(encoding)
  const counted = (fields: object) => promptTokens(asked({ messages: question, ...fields }), tokenizer)
  expect(counted({ tools: [{ type: 'function', function: weather }] })).toBe(tokens)
  expect(counted({ functions: [weather] })).toBe(tokens)
})

test('nested parameters of a tool cost as much as those at the top', () => {
  const tokens = (parameters: object) =>
    promptTokens(asked({ messages: [user('hello')], functions: [{ name: 'f', parameters }] }), estimated)
  const bare = tokens({ type: 'object', properties: {} })
  expect(bare).toBe(hello + 12 + 7 + 1)
  const one = { type: 'object', properties: { a: { type: 'string' } } }
  // "a:string" is two tokens, as is "b:array".
  expect(tokens(one)).toBe(bare + 3 + 3 + 2)
  expect(tokens({ type: 'object', properties: { b: { type: 'array', items: one } } })).toBe(bare + 2 * (3 + 3 + 2))
  expect(tokens({ anyOf: [one, one] })).toBe(bare + 2 * (3 + 3 + 2))
  expect(tokens({ properties: { a: { type: ['string', 'null'], enum: ['yes', null, 42] } } })).toBe(
    bare + 3 + 3 + 4 - 3 + 3 * (3 + 1),
  )
  let deep: object = one
  for (let i = 0; i < 100_000; i++) deep = { items: deep }
  expect(tokens(deep)).toBe(bare + 3 + 3 + 2)
})

test('a response_format costs the tokens of its JSON', () => {
  const tokens = (response_format: object) =>
    promptTokens(asked({ messages: [user('hello')], response_format, tools: null, functions: null }), estimated)
  const schema = { type: 'object' }
  const named = { name: 'answer', schema }
  expect(tokens({ type: 'json_schema', json_schema: named })).toBe(hello + estimated.count(JSON.stringify(named)))
  expect(tokens({ type: 'json_object', schema })).toBe(hello + estimated.count(JSON.stringify(schema)))
  expect(tokens({ type: 'json_object' })).toBe(hello)
})
