/** LangChain's chat model and agents with rules. */
import { type AIMessageChunk, HumanMessage, SystemMessage, type ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai'
import { expect, test } from 'vitest'
import { z } from 'zod/v4'
import type { PlatformOptions, RuleInput } from '../../src/index.js'
import { platformWith } from '../scene.js'

/** LangChain's model, on its own platform. */
async function modelOf(options: PlatformOptions, fields: ChatOpenAIFields = {}) {
  const { url, apiKey } = await platformWith({ requests: 'strict', ...options })
  return new ChatOpenAI({
    model: 'gpt-4o-mini',
    apiKey,
    configuration: { baseURL: `${url}/v1` },
    maxRetries: 0,
    ...fields,
  })
}

const rules: RuleInput[] = [
  {
    when: { user: 'weather', tools: ['get_weather'], toolResult: false },
    reply: { toolCalls: ['Oslo', 'Rome'].map(city => ({ name: 'get_weather', arguments: { city } })) },
  },
  { when: { toolResult: { tool: 'get_weather', contains: 'rain' } }, reply: { text: 'Take an umbrella.' } },
  { when: { user: 'hello' }, reply: { text: 'Hi there!' } },
]

/** A tool, and the calls it got. */
function noting() {
  const asked: string[] = []
  const weather = tool(
    ({ city }) => {
      asked.push(city)
      return `${city}: rain`
    },
    { name: 'get_weather', description: 'Tells the weather of a city', schema: z.object({ city: z.string() }) },
  )
  return { asked, weather }
}

test('invoke gets a whole reply with usage and finish reason', async () => {
  const model = await modelOf({ rules })
  const message = await model.invoke([new SystemMessage('Be brief.'), new HumanMessage('hello')])
  expect(message.content).toBe('Hi there!')
  expect(message.usage_metadata).toMatchObject({ output_tokens: 3 })
  expect(message.response_metadata).toMatchObject({ finish_reason: 'stop', model_name: 'gpt-4o-mini' })
})

test('stream gets the reply in pieces, with usage and finish reason', async () => {
  const model = await modelOf({ rules })
  let sum: AIMessageChunk | undefined
  const pieces: unknown[] = []
  for await (const chunk of await model.stream('hello')) {
    if (chunk.content) pieces.push(chunk.content)
    sum = sum ? sum.concat(chunk) : chunk
  }
  expect(pieces).toEqual(['Hi', ' there!'])
  expect(sum?.usage_metadata).toMatchObject({ output_tokens: 3 })
  expect(sum?.response_metadata).toMatchObject({ finish_reason: 'stop' })
})

test('settings that LangChain sends are accepted', async () => {
  const fields = {
    ...{ temperature: 0, topP: 0.9, maxTokens: 50, n: 2, stop: ['END'], logprobs: true, topLogprobs: 2, user: 'ada' },
    ...{ presencePenalty: 0.1, frequencyPenalty: 0.1, logitBias: { 50256: -100 }, promptCacheKey: 'a' },
    modelKwargs: { seed: 3, metadata: { unit: 'celsius' } },
  }
  const model = await modelOf({ rules }, fields)
  const { generations } = await model.generate([[new HumanMessage('hello')]])
  expect(generations[0]?.map(({ text }) => text)).toEqual(['Hi there!', 'Hi there!'])
})

test('bound tools are called, and their results are answered', async () => {
  const { asked, weather } = noting()
  const model = (await modelOf({ rules })).bindTools([weather])
  const question = new HumanMessage('What is the weather?')
  const called = await model.invoke([question])
  expect(called.tool_calls).toMatchObject([{ args: { city: 'Oslo' } }, { args: { city: 'Rome' } }])
  expect(called.response_metadata).toMatchObject({ finish_reason: 'tool_calls' })
  const results: ToolMessage[] = []
  for (const call of called.tool_calls ?? []) results.push(await weather.invoke(call))
  expect(asked).toEqual(['Oslo', 'Rome'])
  expect((await model.invoke([question, called, ...results])).content).toBe('Take an umbrella.')
})

test('streamed tool calls add up', async () => {
  const { weather } = noting()
  const model = (await modelOf({ rules })).bindTools([weather])
  let sum: AIMessageChunk | undefined
  for await (const chunk of await model.stream('What is the weather?')) sum = sum ? sum.concat(chunk) : chunk
  expect(sum?.tool_calls).toMatchObject([
    { name: 'get_weather', args: { city: 'Oslo' }, id: expect.stringMatching(/^call_/) },
    { name: 'get_weather', args: { city: 'Rome' }, id: expect.stringMatching(/^call_/) },
  ])
})

test.each([
  ['any', {}, 2],
  ['get_weather', {}, 2],
  ['any', { parallel_tool_calls: false }, 1],
  ['none', {}, 0],
])('tool_choice %s with %o makes %i calls', async (tool_choice, more, count) => {
  const { weather } = noting()
  const model = (await modelOf({ rules })).bindTools([weather], { tool_choice, strict: true, ...more })
  expect((await model.invoke('What is the weather?')).tool_calls).toHaveLength(count)
})

const person = z.object({
  name: z.string().describe('The full name'),
  age: z.number().int().min(1).max(101),
  pets: z.array(z.object({ kind: z.enum(['cat', 'dog']), name: z.string() })).min(1),
  email: z.string().nullable(),
})

/** In jsonMode the schema is known only from the prompt. */
const example = { name: 'Bo', age: 30, pets: [{ kind: 'cat|dog', name: 'Mia' }], email: 'bo@example.com' }

test.each(['jsonSchema', 'functionCalling', 'jsonMode'] as const)(
  'withStructuredOutput by %s reads a generated answer',
  async method => {
    const model = (await modelOf({})).withStructuredOutput(person, { method, name: 'person' })
    const parsed = await model.invoke(`Who is Ada? Answer as JSON: ${JSON.stringify(example)}`)
    expect(person.parse(parsed)).toEqual(parsed)
  },
)

test('withStructuredOutput reads the JSON of a rule, whole and streamed', async () => {
  const json = { name: 'Ada {{user}}', age: 36, pets: [{ kind: 'cat', name: 'Mia' }], email: null }
  const model = (
    await modelOf({ rules: [{ when: { responseFormat: { name: 'person' } }, reply: { json } }] })
  ).withStructuredOutput(person, { method: 'jsonSchema', name: 'person' })
  const ada = { ...json, name: 'Ada Lovelace' }
  expect(await model.invoke('Lovelace')).toEqual(ada)
  let last: unknown
  for await (const partial of await model.stream('Lovelace')) last = partial
  expect(last).toEqual(ada)
})

test('an agent calls tools and gives a final answer', async () => {
  const { asked, weather } = noting()
  const agent = createReactAgent({ llm: await modelOf({ rules }), tools: [weather], prompt: 'Be helpful.' })
  const { messages } = await agent.invoke({ messages: [new HumanMessage('What is the weather?')] })
  expect(messages.map(message => message.getType())).toEqual(['human', 'ai', 'tool', 'tool', 'ai'])
  expect(messages.at(-1)?.content).toBe('Take an umbrella.')
  expect(asked.toSorted()).toEqual(['Oslo', 'Rome'])
})

test('an agent with a responseFormat returns a structured response', async () => {
  const { weather } = noting()
  const agent = createReactAgent({ llm: await modelOf({ rules }), tools: [weather], responseFormat: person })
  const { structuredResponse } = await agent.invoke({ messages: [new HumanMessage('What is the weather?')] })
  expect(person.parse(structuredResponse)).toEqual(structuredResponse)
})

test('streamEvents of an agent reports tokens as the model streams', async () => {
  const { weather } = noting()
  const agent = createReactAgent({ llm: await modelOf({ rules }), tools: [weather] })
  const seen: string[] = []
  const pieces: string[] = []
  const question = { messages: [new HumanMessage('What is the weather?')] }
  for await (const { event, data } of agent.streamEvents(question, { version: 'v2' })) {
    if (/^on_(chat_model|tool)_(start|end)$/.test(event)) seen.push(event)
    if (event === 'on_chat_model_stream' && data.chunk.content) pieces.push(data.chunk.content)
  }
  expect(pieces).toEqual(['Take', ' an', ' umbrella.'])
  expect(seen.filter(event => event === 'on_chat_model_end')).toHaveLength(2)
  expect(seen.filter(event => event === 'on_tool_end')).toHaveLength(2)
})

test('LangChain retries after a 429, and reports an unknown model', async () => {
  const slowDown = { fault: { status: 429, message: 'slow down', retryAfter: 0 } }
  const patient = await modelOf({ rules: [{ replies: [slowDown, { text: 'At last.' }] }] }, { maxRetries: 2 })
  expect((await patient.invoke('hi')).content).toBe('At last.')
  const wrong = await modelOf({}, { model: 'gpt-4o-mimi' })
  const error = await wrong.invoke('hi').catch(error => error)
  expect(error).toMatchObject({ status: 400 })
  expect(error.message).toContain('\\"gpt-4o-mini\\"?')
})

test('a stream of LangChain can be aborted', async () => {
  const model = await modelOf({ rules: [{ reply: { text: 'one two three' }, pace: { tokensPerSecond: 0.001 } }] })
  const stop = new AbortController()
  const read = async () => {
    for await (const { content } of await model.stream('count', { signal: stop.signal })) if (content) stop.abort()
  }
  const error = await read().catch(error => error)
  expect(error).toBeInstanceOf(Error)
  expect(error.message).toMatch(/abort/i)
})
