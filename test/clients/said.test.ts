import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, streamText, type ToolSet, tool } from 'ai'
import OpenAI from 'openai'
import type { RunnableToolFunctionWithoutParse } from 'openai/lib/RunnableFunction'
import type { ChatCompletion } from 'openai/resources/chat/completions'
import OpenAI4 from 'openai-v4'
import OpenAI5 from 'openai-v5'
import { expect, test } from 'vitest'
import { unpaced } from '../../src/core/pace.js'
import type { Generation } from '../../src/replies/index.js'
import { serverReplying } from '../platform-api/chat/replying.js'
import { hello } from '../scene.js'

const request = { ...hello, messages: [{ role: 'user' as const, content: 'hello' }] }
const tools = ['weather', 'time'].map(name => ({ type: 'function' as const, function: { name, parameters: {} } }))

const calls: Partial<Generation> = {
  choices: [
    {
      text: 'Let me see.',
      toolCalls: [
        { kind: 'function', name: 'weather', arguments: '{"city": "Paris", "unit": "celsius"}' },
        { kind: 'function', name: 'time', arguments: '{"zone": "Europe/Paris"}', id: 'call_time' },
      ],
    },
  ],
}

// The older majors differ from the newest only in types that no test here uses; version 4 has its streams under `beta`.
const majors: [major: string, streamsOf: (baseURL: string) => OpenAI['chat']['completions']][] = [
  ['openai 6', baseURL => new OpenAI({ baseURL, apiKey: 'x' }).chat.completions],
  ['openai 5', baseURL => (new OpenAI5({ baseURL, apiKey: 'x' }) as unknown as OpenAI).chat.completions],
  ['openai 4', baseURL => (new OpenAI4({ baseURL, apiKey: 'x' }) as unknown as { beta: OpenAI }).beta.chat.completions],
]

const callsIn = ({ choices: [choice] }: ChatCompletion) =>
  choice?.message.tool_calls?.map(call =>
    call.type === 'function' ? [call.id, call.function.name, call.function.arguments] : [],
  )

test.each(majors)('the stream helper of %s assembles tool calls', async (_major, streamsOf) => {
  const stream = streamsOf(await serverReplying(calls)).stream({ ...request, tools })
  const done: unknown[] = []
  stream.on('tool_calls.function.arguments.done', ({ name, arguments: said }) => done.push([name, said]))
  const completion = await stream.finalChatCompletion()
  expect(callsIn(completion)).toEqual([
    [expect.stringMatching(/^call_\w{24}$/), 'weather', '{"city": "Paris", "unit": "celsius"}'],
    ['call_time', 'time', '{"zone": "Europe/Paris"}'],
  ])
  expect(completion.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Let me see.' } })
  expect(done).toEqual([
    ['weather', '{"city": "Paris", "unit": "celsius"}'],
    ['time', '{"zone": "Europe/Paris"}'],
  ])
})

test.each(majors)('the stream helper of %s assembles choices and their logprobs', async (_major, streamsOf) => {
  const said = { choices: [{ text: 'One and two.' }, { text: 'Three.' }] }
  const stream = streamsOf(await serverReplying(said)).stream({ ...request, n: 2, logprobs: true, top_logprobs: 2 })
  const { choices } = await stream.finalChatCompletion()
  expect(choices.map(({ message, finish_reason }) => [message.content, finish_reason])).toEqual([
    ['One and two.', 'stop'],
    ['Three.', 'stop'],
  ])
  for (const { logprobs, message } of choices) {
    expect(logprobs?.content?.map(({ token }) => token).join('')).toBe(message.content)
  }
})

test.each(majors)('the stream helper of %s assembles a refusal', async (_major, streamsOf) => {
  const said = { choices: [{ text: null, refusal: 'I will not say that.' }] }
  const stream = streamsOf(await serverReplying(said)).stream(request)
  expect((await stream.finalChatCompletion()).choices[0]?.message).toMatchObject({
    content: null,
    refusal: 'I will not say that.',
  })
})

test.each(majors)('the stream helper of %s assembles a function call', async (_major, streamsOf) => {
  const stream = streamsOf(await serverReplying(calls)).stream({ ...request, functions: [{ name: 'weather' }] })
  expect((await stream.finalChatCompletion()).choices[0]).toMatchObject({
    message: { function_call: { name: 'weather', arguments: '{"city": "Paris", "unit": "celsius"}' } },
    finish_reason: 'function_call',
  })
})

test('paced tool calls and choices arrive intact, whatever characters they contain', async () => {
  const toolCalls = [{ kind: 'function', name: 'post', arguments: '{"text": "他们 👍🏽 é"}' }] as const
  const pace = { ...unpaced, firstTokenMs: 1, tokensPerSecond: 10_000 }
  const baseURL = await serverReplying({ choices: [{ text: 'Ja, natürlich 👍', toolCalls }], pace })
  const stream = new OpenAI({ baseURL, apiKey: 'x' }).chat.completions.stream({ ...request, tools, n: 2 })
  const completion = await stream.finalChatCompletion()
  expect(completion.choices.map(({ message }) => message.content)).toEqual(['Ja, natürlich 👍', 'Ja, natürlich 👍'])
  expect(callsIn(completion)).toEqual([[expect.any(String), 'post', '{"text": "他们 👍🏽 é"}']])
})

test('openai runs tools and sends their results back to the model', async () => {
  const client = new OpenAI({ baseURL: await serverReplying(calls), apiKey: 'x' })
  const asked: unknown[] = []
  const noting = (name: string): RunnableToolFunctionWithoutParse => {
    const note = (said: string) => `${asked.push([name, said])} asked`
    return { type: 'function', function: { name, description: '', parameters: {}, function: note } }
  }
  const runner = client.chat.completions.runTools(
    { ...request, tools: [noting('weather'), noting('time')] },
    { maxChatCompletions: 2 },
  )
  await runner.done()
  expect(asked.slice(0, 2)).toEqual([
    ['weather', '{"city": "Paris", "unit": "celsius"}'],
    ['time', '{"zone": "Europe/Paris"}'],
  ])
  // The second answer is to messages that include calls and results.
  expect(runner.allChatCompletions()).toHaveLength(2)
})

/** A request with a model of the AI SDK that generates this. */
async function aiModel(said: Partial<Generation>) {
  const provider = createOpenAICompatible({ name: 'standin', baseURL: await serverReplying(said), includeUsage: true })
  return { model: provider(hello.model), prompt: 'hello', maxRetries: 0 }
}

const thinking: Partial<Generation> = {
  choices: [{ text: 'Four.', reasoning: 'Two and two.' }],
  usage: { promptTokens: 100, cachedTokens: 80 },
}
const cost = {
  inputTokenDetails: { cacheReadTokens: 80, noCacheTokens: 20 },
  outputTokens: 5,
  outputTokenDetails: { reasoningTokens: 3, textTokens: 2 },
}

test('the AI SDK reads reasoning and its token count', async () => {
  const { text, reasoningText, usage } = await generateText(await aiModel(thinking))
  expect({ text, reasoningText }).toEqual({ text: 'Four.', reasoningText: 'Two and two.' })
  expect(usage).toMatchObject(cost)
})

test('the AI SDK streams reasoning before text', async () => {
  const { fullStream, usage } = streamText(await aiModel(thinking))
  const parts: string[] = []
  for await (const part of fullStream) {
    if (part.type === 'reasoning-delta' || part.type === 'text-delta') parts.push(`${part.type} ${part.text}`)
  }
  expect(parts).toEqual(['reasoning-delta Two', 'reasoning-delta  and', 'reasoning-delta  two.', 'text-delta Four.'])
  expect(await usage).toMatchObject(cost)
})

const aiTool = tool({ inputSchema: jsonSchema<Record<string, string>>({ type: 'object' }) })
// The types of the AI SDK do not work with exactOptionalPropertyTypes.
const aiTools = { weather: aiTool, time: aiTool } as unknown as ToolSet
const aiCalls = [
  {
    toolCallId: expect.stringMatching(/^call_\w{24}$/),
    toolName: 'weather',
    input: { city: 'Paris', unit: 'celsius' },
  },
  { toolCallId: 'call_time', toolName: 'time', input: { zone: 'Europe/Paris' } },
]

test('the AI SDK reads tool calls, whole and streamed', async () => {
  const whole = await generateText({ ...(await aiModel(calls)), tools: aiTools })
  expect(whole.toolCalls).toMatchObject(aiCalls)
  expect(whole.finishReason).toBe('tool-calls')
  const streamed = streamText({ ...(await aiModel(calls)), tools: aiTools })
  expect(await streamed.toolCalls).toMatchObject(aiCalls)
  expect(await streamed.finishReason).toBe('tool-calls')
})
