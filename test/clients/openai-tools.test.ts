/** OpenAI's own helpers with rules: running tools and streaming their arguments. */
import OpenAI from 'openai'
import { zodFunction } from 'openai/helpers/zod'
import type {
  ChatCompletion,
  ChatCompletionTool,
  ParsedChatCompletionMessageToolCall,
} from 'openai/resources/chat/completions'
import { expect, test } from 'vitest'
import { z } from 'zod/v4'
import type { RuleInput } from '../../src/index.js'
import { platformWith } from '../scene.js'
import { asking } from './clients.js'

const weatherRules: RuleInput[] = [
  {
    name: 'weather',
    when: { user: 'weather', tools: ['get_weather'], toolResult: false },
    reply: { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
  },
  {
    name: 'weather result',
    when: { toolResult: { tool: 'get_weather', contains: 'rain' } },
    reply: { text: 'Take an umbrella: it is {{tool.content.celsius}} degrees.' },
  },
]

const both: RuleInput = {
  when: { toolResult: false },
  reply: {
    text: 'Let me see.',
    toolCalls: [
      { name: 'get_weather', arguments: { city: 'Oslo' } },
      { name: 'get_time', arguments: { zone: 'Europe/Oslo' } },
    ],
  },
}

/** The chat API of a client, on a platform with these rules. */
async function chatWith(rules: RuleInput[]) {
  const platform = await platformWith({ requests: 'strict', rules })
  const client = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.apiKey, maxRetries: 0 })
  return { chat: client.chat.completions }
}

const functionTool = (name: string, ...names: string[]): ChatCompletionTool => ({
  type: 'function',
  function: {
    name,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])),
      required: names,
      additionalProperties: false,
    },
    strict: true,
  },
})
const tools = [functionTool('get_weather', 'city'), functionTool('get_time', 'zone')]

const namesIn = ({ choices: [choice] }: ChatCompletion) =>
  choice?.message.tool_calls?.map(call => (call.type === 'function' ? call.function.name : call.custom.name))

/** A tool for `runTools` that records its arguments. */
const runnable = (name: string, noted: unknown[], result: unknown) => ({
  type: 'function' as const,
  function: {
    name,
    description: '',
    parameters: { type: 'object', properties: {} },
    parse: JSON.parse,
    function: async (given: object) => {
      noted.push([name, given])
      return result as object
    },
  },
})

test('runTools runs a whole conversation: a call, its result, an answer', async () => {
  const { chat } = await chatWith(weatherRules)
  const noted: unknown[] = []
  const runner = chat.runTools({
    ...asking('What is the weather?'),
    tools: [runnable('get_weather', noted, { sky: 'rain', celsius: 7 })],
  })
  expect(await runner.finalContent()).toBe('Take an umbrella: it is 7 degrees.')
  expect(noted).toEqual([['get_weather', { city: 'Oslo' }]])
  expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect(await runner.totalUsage()).toMatchObject({ total_tokens: expect.any(Number) })
})

test('runTools runs a whole conversation with streams', async () => {
  const { chat } = await chatWith(weatherRules)
  const noted: unknown[] = []
  const runner = chat.runTools({
    ...asking('What is the weather?'),
    stream: true,
    tools: [runnable('get_weather', noted, { sky: 'rain', celsius: 7 })],
  })
  const pieces: string[] = []
  runner.on('content', piece => pieces.push(piece))
  expect(await runner.finalContent()).toBe('Take an umbrella: it is 7 degrees.')
  expect(noted).toEqual([['get_weather', { city: 'Oslo' }]])
  expect(pieces.slice(0, 2)).toEqual(['Take', ' an'])
})

test('runTools answers two tool calls of one message by their ids', async () => {
  const { chat } = await chatWith([both, { when: { toolResult: { tool: 'get_time' } }, reply: { text: 'Noon.' } }])
  const noted: unknown[] = []
  const runner = chat.runTools({
    ...asking('weather and time'),
    tools: [runnable('get_weather', noted, 'rain'), runnable('get_time', noted, '12:00')],
  })
  expect(await runner.finalContent()).toBe('Noon.')
  expect(noted).toEqual([
    ['get_weather', { city: 'Oslo' }],
    ['get_time', { zone: 'Europe/Oslo' }],
  ])
  const ids = runner.messages.flatMap(message => (message.role === 'tool' ? [message.tool_call_id] : []))
  expect(new Set(ids).size).toBe(2)
})

test('the stream helper reports arguments as they arrive', async () => {
  const { chat } = await chatWith([both])
  const stream = chat.stream({ ...asking('weather and time'), tools })
  const grown: Record<string, string> = {}
  const done: unknown[] = []
  stream.on('tool_calls.function.arguments.delta', ({ name, arguments_delta }) => {
    grown[name] = (grown[name] ?? '') + arguments_delta
  })
  stream.on('tool_calls.function.arguments.done', ({ name, index, parsed_arguments }) =>
    done.push([index, name, parsed_arguments]),
  )
  const { choices } = await stream.finalChatCompletion()
  expect(choices[0]?.finish_reason).toBe('tool_calls')
  expect(grown).toEqual({ get_weather: '{"city":"Oslo"}', get_time: '{"zone":"Europe/Oslo"}' })
  expect(done).toEqual([
    [0, 'get_weather', { city: 'Oslo' }],
    [1, 'get_time', { zone: 'Europe/Oslo' }],
  ])
})

const named = { type: 'function' as const, function: { name: 'get_time' } }

test.each([
  ['no tool when tool_choice is none', { tool_choice: 'none' as const }, undefined, 'stop'],
  [
    'two tools when tool_choice is required',
    { tool_choice: 'required' as const },
    ['get_weather', 'get_time'],
    'tool_calls',
  ],
  ['the named tool and finishes with stop', { tool_choice: named }, ['get_time'], 'stop'],
])('the model calls %s', async (_what, more, names, finish) => {
  const { chat } = await chatWith([both])
  const completion = await chat.create({ ...asking('weather and time'), tools, ...more })
  expect(namesIn(completion)).toEqual(names)
  expect(completion.choices[0]?.finish_reason).toBe(finish)
  expect(completion.choices[0]?.message.content).toBe('Let me see.')
})

const argumentsOf = (call: ParsedChatCompletionMessageToolCall | undefined) =>
  call?.type === 'function' ? call.function.parsed_arguments : undefined

test('zodFunction parses a generated tool call, whole and streamed', async () => {
  const { chat } = await chatWith([])
  const parameters = z.object({
    city: z.string(),
    unit: z.enum(['celsius', 'fahrenheit']),
    days: z.number().int().min(1).max(7),
    near: z.array(z.object({ name: z.string(), km: z.number() })).nullable(),
  })
  const request = {
    ...asking('What is the weather?'),
    tools: [zodFunction({ name: 'get_weather', parameters })],
    tool_choice: 'required' as const,
  }
  const whole = (await chat.parse(request)).choices[0]?.message.tool_calls?.[0]
  const given = parameters.parse(argumentsOf(whole))
  const streamed = await chat.stream(request).finalChatCompletion()
  expect(argumentsOf(streamed.choices[0]?.message.tool_calls?.[0])).toEqual(given)
})

test('a custom tool gets its text input, whole and streamed', async () => {
  const { chat } = await chatWith([
    { reply: { toolCalls: [{ name: 'shell', type: 'custom', arguments: 'ls -l "my folder"' }] } },
  ])
  const request = { ...asking('list'), tools: [{ type: 'custom' as const, custom: { name: 'shell' } }] }
  const { choices } = await chat.create(request)
  expect(choices[0]?.message.tool_calls).toEqual([
    { id: expect.any(String), type: 'custom', custom: { name: 'shell', input: 'ls -l "my folder"' } },
  ])
  let input = ''
  for await (const chunk of await chat.create({ ...request, stream: true })) {
    // The client's types have custom calls only in whole messages.
    const calls = (chunk.choices[0]?.delta.tool_calls ?? []) as { custom?: { input?: string } }[]
    for (const { custom } of calls) input += custom?.input ?? ''
  }
  expect(input).toBe('ls -l "my folder"')
})
