import { expect, test } from 'vitest'
import { conversationOf } from '../../src/dashboard/page/playground/opened.js'
import {
  bodyWith,
  firstSettings,
  type PlaygroundSettings,
  problemIn,
} from '../../src/dashboard/page/playground/settings.js'
import { messagesOf } from '../../src/dashboard/page/playground/turns.js'
import { mustBe, notValid } from '../sentences.js'

const set = (changes: Partial<PlaygroundSettings>) => ({ ...firstSettings, ...changes })
const tool = (name: string) => ({ type: 'function', function: { name } })

test.each([
  ['{}', 'Tool 1 has no name.'],
  [JSON.stringify([tool('a'), { type: 'function' }]), 'Tool 2 has no name.'],
  [JSON.stringify([tool('a'), tool('a')]), 'Two tools are called "a".'],
  ['7', 'Tool 1 has no name.'],
  ['null', 'Tool 1 has no name.'],
])('tools that are %s are not sent: %s', (tools, sentence) => {
  expect(problemIn(set({ tools }), 'tools')).toContain(sentence)
  expect(bodyWith(set({ tools }), 'm', [])).toEqual({
    wrong: { name: 'tools', sentence: expect.stringContaining(sentence) },
  })
})

test.each([
  ['[\n  1,\n]', 'Line 3, column 1: Value expected.'],
  ["{ 'a': 1 }", 'Line 1, column 3: Invalid symbol.'],
  ['{ "a": 1 // one\n}', 'Line 1, column 10: Invalid comment token.'],
  ['{ "a": [1, 2', 'Line 1, column 13: Close bracket expected.'],
  ['['.repeat(200_000), `${notValid('JSON')}.`],
])('%.30j is not sent: %s', (tools, sentence) => {
  expect(problemIn(set({ tools }), 'tools')).toBe(sentence)
})

test('a single tool needs no list, and the choice of a tool that no longer exists is not sent', () => {
  const settings = set({ tools: JSON.stringify(tool('a')), toolChoice: 'b', stream: false })
  expect(bodyWith(settings, 'm', [])).toEqual({ body: { model: 'm', messages: [], tools: [tool('a')], stream: false } })
})

test('a valid response format is sent as it is', () => {
  const responseFormat = JSON.stringify({ type: 'json_object' })
  expect(bodyWith(set({ responseFormat }), 'm', [])).toMatchObject({
    body: { response_format: { type: 'json_object' } },
  })
  expect(problemIn(set({ responseFormat: '[]' }), 'responseFormat')).toBe(mustBe('This', 'a JSON object'))
})

test.each(['warm', '1,5', 'NaN', 'Infinity', '--1'])('%s is not accepted as a number', temperature => {
  expect(problemIn(set({ temperature }), 'temperature')).toBe('Enter a number, or leave it empty.')
})

/** The request that is sent when nothing was changed. */
function sentAgain(body: object): unknown {
  const opened = conversationOf(body)
  if (!opened) return undefined
  const { settings, system, turns, draft } = opened
  const all = draft === '' ? turns : [...turns, { kind: 'user', id: 1, text: draft } as const]
  const put = bodyWith(settings, settings.model, messagesOf(system, all))
  return 'body' in put ? put.body : put
}

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }

test.each([
  ['a single message', { messages: [{ role: 'user', content: 'hello' }], stream: false }],
  [
    'everything the settings offer',
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ],
      ...{ temperature: 0.5, max_tokens: 10, seed: 7, stream: true, stream_options: { include_usage: true } },
      ...{ tools: [tool('a')], tool_choice: { type: 'function', function: { name: 'a' } } },
      response_format: { type: 'json_object' },
    },
  ],
  [
    'an image, a tool call with its result, and the answer to it',
    {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'what is this?' }, image] },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'a cat' },
        { role: 'assistant', content: 'It is a cat.' },
        { role: 'user', content: 'sure?' },
      ],
      stream: false,
    },
  ],
  ['an image as the last message', { messages: [{ role: 'user', content: [image] }], stream: false }],
  [
    'parameters without a form field',
    { messages: [{ role: 'user', content: 'x' }], top_p: 0.1, stop: ['END'], max_completion_tokens: 5, stream: false },
  ],
])('an opened request is sent again unchanged: %s', (_name, body) => {
  expect(sentAgain({ model: 'm', ...body })).toEqual({ model: 'm', ...body })
})

test('the last message of an opened request is ready to edit, and a body that is not a request opens nothing', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'hello' },
  ]
  expect(conversationOf({ messages })).toMatchObject({ system: 'Be brief.', turns: [], draft: 'hello' })
  expect([conversationOf('text'), conversationOf(null), conversationOf({ model: 'm' })]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
