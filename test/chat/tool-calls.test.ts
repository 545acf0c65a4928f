import { expect, test } from 'vitest'
import type { ToolCall } from '../../src/replies/index.js'
import { choicesOf, modelReplying } from './replying.js'

const weather: ToolCall = { kind: 'function', name: 'weather', arguments: '{"city": "Paris", "unit": "celsius"}' }
const time: ToolCall = { kind: 'function', name: 'time', arguments: '{}', id: 'call_of_my_own' }
const shell: ToolCall = { kind: 'custom', name: 'shell', arguments: 'ls -l\n' }

const calling = (...toolCalls: readonly ToolCall[]) => modelReplying({ choices: [{ text: null, toolCalls }] })

const made = expect.stringMatching(/^call_[A-Za-z0-9]{24}$/)

test('a message with tool calls has no content, and its finish reason is tool_calls', () => {
  expect(calling(weather, time).whole().choices).toEqual([
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: made, type: 'function', function: { name: 'weather', arguments: weather.arguments } },
          { id: 'call_of_my_own', type: 'function', function: { name: 'time', arguments: '{}' } },
        ],
        refusal: null,
        annotations: [],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ])
})

test('a stream sends each tool call in turn: first the name, then the arguments in pieces', () => {
  const deltas = calling(weather, time)
    .chunks()
    .map(({ choices: [choice] }) => [choice?.delta, choice?.finish_reason])
  const piece = (index: number, said: string) => [{ tool_calls: [{ index, function: { arguments: said } }] }, null]
  expect(deltas).toEqual([
    [{ role: 'assistant', content: null, refusal: null }, null],
    [{ tool_calls: [{ index: 0, id: made, type: 'function', function: { name: 'weather', arguments: '' } }] }, null],
    piece(0, '{"city":'),
    piece(0, ' "Paris",'),
    piece(0, ' "unit":'),
    piece(0, ' "celsius"}'),
    [{ tool_calls: [{ index: 1, id: time.id, type: 'function', function: { name: 'time', arguments: '' } }] }, null],
    piece(1, '{}'),
    [{}, 'tool_calls'],
  ])
})

test('a message can have content before its tool calls', () => {
  const { whole, chunks } = modelReplying({ choices: [{ text: 'Let me see.', toolCalls: [time] }] })
  expect(whole().choices[0]).toMatchObject({
    message: { content: 'Let me see.', tool_calls: [{ id: 'call_of_my_own' }] },
    finish_reason: 'tool_calls',
  })
  const kinds = chunks().map(({ choices: [choice] }) => Object.keys(choice?.delta ?? {}).join())
  expect(kinds).toEqual(['role,content,refusal', 'content', 'content', 'content', 'tool_calls', 'tool_calls', ''])
})

test('a custom tool gets plain text as input', () => {
  const { whole, chunks } = calling(shell)
  expect(whole().choices[0]?.message.tool_calls).toEqual([
    { id: made, type: 'custom', custom: { name: 'shell', input: 'ls -l\n' } },
  ])
  expect(chunks().flatMap(({ choices: [choice] }) => choice?.delta.tool_calls ?? [])).toEqual([
    { index: 0, id: made, type: 'custom', custom: { name: 'shell', input: '' } },
    { index: 0, custom: { input: 'ls' } },
    { index: 0, custom: { input: ' -l' } },
    { index: 0, custom: { input: '\n' } },
  ])
})

test('with parallel_tool_calls false only the first call is sent', () => {
  const { whole, chunks } = calling(weather, time)
  const request = { parallel_tool_calls: false }
  expect(choicesOf(whole(request))[0]?.calls).toEqual([{ id: made, name: 'weather', arguments: weather.arguments }])
  const indexes = chunks(request).flatMap(({ choices: [choice] }) => choice?.delta.tool_calls?.map(call => call.index))
  expect(new Set(indexes.filter(index => index !== undefined))).toEqual(new Set([0]))
})

test('a request with the deprecated functions gets a function_call', () => {
  const { whole, chunks } = calling(weather, time)
  const request = { functions: [{ name: 'weather', parameters: {} }], function_call: 'auto' }
  expect(whole(request).choices[0]).toMatchObject({
    message: { role: 'assistant', content: null, function_call: { name: 'weather', arguments: weather.arguments } },
    finish_reason: 'function_call',
  })
  expect(whole(request).choices[0]?.message).not.toHaveProperty('tool_calls')
  const deltas = chunks(request).map(({ choices: [choice] }) => choice?.delta)
  expect(deltas.slice(1, 3)).toEqual([
    { function_call: { name: 'weather', arguments: '' } },
    { function_call: { arguments: '{"city":' } },
  ])
  expect(chunks(request).at(-1)?.choices[0]?.finish_reason).toBe('function_call')
})

const tools = [{ type: 'function', function: { name: 'weather' } }]
const allowed = { mode: 'required', tools }

test.each([
  ['stop', { tools, tool_choice: tools[0] }],
  ['stop', { functions: [{ name: 'weather' }], function_call: { name: 'weather' } }],
  ['tool_calls', { tools, tool_choice: 'required' }],
  ['tool_calls', { tools, tool_choice: { type: 'allowed_tools', allowed_tools: allowed } }],
])('the finish_reason is %s for %j: stop only when the request names the tool', (finish, request) => {
  const { whole, chunks } = calling(weather)
  expect(whole(request).choices[0]?.finish_reason).toBe(finish)
  expect(chunks(request).at(-1)?.choices[0]?.finish_reason).toBe(finish)
})
