import { expect, test } from 'vitest'
import { type ChatRequest, chatRequest } from '../../src/core/chat.js'
import { check } from '../../src/core/check.js'
import { estimated, promptTokens } from '../../src/tokenizer/index.js'

/** A checked request. */
function asked(fields: object): ChatRequest {
  const checked = check(chatRequest, { model: 'gpt-4o-mini', ...fields })
  if ('mistakes' in checked) throw new Error(checked.mistakes[0]?.sentence)
  return checked.value
}

const user = (content: unknown) => ({ role: 'user', content })
const count = (...messages: object[]) => promptTokens(asked({ messages }), estimated)
const hello = count(user('hello'))

test('a message has four tokens around its text, and three begin the answer', () => {
  expect(hello).toBe(3 + 4 + 2)
  expect(count(user('hello'), { role: 'assistant', content: 'Hi there!' })).toBe(hello + 4 + 3)
  expect(count(user([{ type: 'text', text: 'hello' }]))).toBe(hello)
  expect(count(user('hello'), { role: 'assistant', content: null })).toBe(hello + 4)
})

test('a name costs its tokens and one more', () => {
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
  ['a function, as it was once', { function_call: { name: 'now', arguments: '{"zone":"UTC"}' } }],
])('a call of %s costs its name and its arguments', (_what, call) => {
  expect(count(user('hello'), { role: 'assistant', content: null, ...call })).toBe(hello + 4 + 1 + 4)
})

test('calls that are none cost nothing, and break nothing', () => {
  for (const tool_calls of [null, [], [{}, { function: null }, { function: { name: null } }]]) {
    expect(count(user('hello'), { role: 'assistant', content: null, tool_calls })).toBe(hello + 4)
  }
})

test('an image costs by its detail, not by its size', () => {
  const image = (detail?: string) => ({ type: 'image_url', image_url: { url: `data:,${'A'.repeat(9000)}`, detail } })
  const text = { type: 'text', text: 'hello' }
  expect(count(user([text, image()]))).toBe(hello + 85)
  expect(count(user([text, image('low')]))).toBe(hello + 85)
  expect(count(user([text, image('high'), image('auto')]))).toBe(hello + 765 + 85)
})

test('audio costs by its length in time', () => {
  // Three seconds: base64 is a third longer than its bytes.
  const data = 'A'.repeat(3 * 48_000 * (4 / 3))
  const audio = (format: string) => ({ type: 'input_audio', input_audio: { data, format } })
  expect(count(user([{ type: 'text', text: 'hello' }, audio('wav')]))).toBe(hello + 30)
  expect(count(user([{ type: 'text', text: 'hello' }, audio('mp3')]))).toBe(hello + 90)
})

test('tools that are offered cost what the model is told of them', () => {
  const told = { name: 'now', description: 'The time.', parameters: { type: 'object', properties: {} } }
  const tokens = (fields: object) => promptTokens(asked({ messages: [user('hello')], ...fields }), estimated)
  const ofTools = estimated.count(JSON.stringify([told]))
  expect(tokens({ tools: [{ type: 'function', function: { ...told, strict: true } }] })).toBe(hello + ofTools)
  expect(tokens({ functions: [told] })).toBe(hello + ofTools)
  const schema = { name: 'answer', schema: { type: 'object' } }
  expect(tokens({ response_format: { type: 'json_schema', json_schema: schema } })).toBe(
    hello + estimated.count(JSON.stringify(schema)),
  )
  expect(tokens({ response_format: { type: 'json_object' }, tools: null, functions: null })).toBe(hello)
})

test('tools are written as JSON once, however often a request is counted', () => {
  let written = 0
  const parameters = { toJSON: () => `${written++}` }
  const tool = { type: 'function', function: { name: 'now', parameters } }
  const request = { ...asked({ messages: [user('hello')] }), tools: [tool] }
  const counts = [1, 2, 3].map(() => promptTokens(request, estimated))
  expect(new Set(counts).size).toBe(1)
  expect(written).toBe(1)
})
