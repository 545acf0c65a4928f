/** Records once through real clients, then replays without the live platform: the clients see no difference. */
import { readdirSync } from 'node:fs'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, stepCountIs, streamText, type ToolSet, tool } from 'ai'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { folderWith } from '../command.js'
import { liveWith, saying, tape } from '../recordings/live.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { asking, failureOf } from './clients.js'

/** A platform that records the live one; `over` stops both and starts one that replays the recordings. */
async function recording(options: PlatformOptions) {
  const dir = folderWith()
  const live = await platformWith(options)
  const upstream = { baseUrl: live.url, apiKey: live.apiKey, anonKey: live.anonKey }
  const platform = await platformWith({ mode: 'record', upstream, recordings: { dir } })
  const over = async () => {
    await platform.stop()
    await live.stop()
    return platformWith({ mode: 'replay', recordings: { dir, speed: 1 } })
  }
  return { live, platform, over }
}

/** The result of `ask` with the live platform, and when replayed without it. */
async function liveAndReplayed<T>(options: PlatformOptions, ask: (platform: Scene) => Promise<T>) {
  const { platform, over } = await recording(options)
  const live = await ask(platform)
  return { live, replayed: await ask(await over()) }
}

const openaiOf = ({ url, apiKey }: Scene) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })

function modelOf({ url, apiKey }: Scene) {
  const provider = createOpenAICompatible({ name: 'standin', baseURL: `${url}/v1`, apiKey, includeUsage: true })
  return { model: provider('gpt-4o-mini'), maxRetries: 0 }
}

const words = 'It rains in 東京 😀, and that will last.'
const speaking: PlatformOptions = { rules: [{ reply: { text: words }, pace: { tokensPerSecond: 200 } }] }

/** A tool call, and an answer to its result. */
const calling: PlatformOptions = {
  rules: [
    {
      when: { user: 'weather', toolResult: false },
      reply: { text: 'Let me see.', toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
      pace: { tokensPerSecond: 200 },
    },
    { when: { toolResult: { tool: 'get_weather' } }, reply: { text: '{{tool.content.sky}} in Oslo.' } },
  ],
}

test('openai gets the same response, stream and embedding on replay, from paths that the platform does not have', async () => {
  const { dir, recording, replaying } = tape()
  const events = [
    { type: 'response.created' },
    { type: 'response.output_text.delta', delta: 'Hi' },
    { type: 'response.completed' },
  ]
  const live = await liveWith((request, response) => {
    if (request.url === '/v1/embeddings') return saying({ data: [{ embedding: [1, 2] }] })(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  })
  const ask = async (platform: Scene) => {
    const openai = openaiOf(platform)
    const stream = await openai.responses.create({ model: 'gpt-4o-mini', input: 'hello', stream: true })
    const { data } = await openai.embeddings.create({ model: 'e', input: 'hello', encoding_format: 'float' })
    const received: object[] = []
    for await (const event of stream) received.push(event)
    return { events: received, data }
  }
  const recorder = await recording({ upstream: { baseUrl: live.url } })
  const asked = await ask(recorder)
  expect(asked).toEqual({ events, data: [{ embedding: [1, 2] }] })
  await recorder.stop()
  await live.close()
  expect(readdirSync(dir, { recursive: true })).not.toEqual([])
  expect(await ask(await replaying())).toEqual(asked)
})

test('openai gets the same completion on replay, including the id', async () => {
  const { live, replayed } = await liveAndReplayed(speaking, platform =>
    openaiOf(platform).chat.completions.create({ ...asking('hello'), logprobs: true, n: 2 }),
  )
  expect(live.choices[1]?.message.content).toBe(words)
  expect(replayed).toEqual(live)
})

test('openai gets the same stream events on replay', async () => {
  const { live, replayed } = await liveAndReplayed(speaking, async platform => {
    const request = { ...asking('hello'), stream: true, stream_options: { include_usage: true } } as const
    const events: unknown[] = []
    for await (const event of await openaiOf(platform).chat.completions.create(request)) events.push(event)
    return events
  })
  expect(live.length).toBeGreaterThan(8)
  expect(replayed).toEqual(live)
})

test('runTools of openai runs the same conversation on replay', async () => {
  const { live, replayed } = await liveAndReplayed(calling, async platform => {
    const look = {
      ...{ name: 'get_weather', description: '', parameters: { type: 'object', properties: {} }, parse: JSON.parse },
      function: async () => ({ sky: 'Rain' }),
    }
    const request = { ...asking('What is the weather?'), tools: [{ type: 'function' as const, function: look }] }
    const runner = openaiOf(platform).chat.completions.runTools({ ...request, stream: true })
    await runner.done()
    return runner.messages
  })
  expect(live.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect(live.at(-1)?.content).toBe('Rain in Oslo.')
  expect(replayed).toEqual(live)
})

test('generateText of the AI SDK runs the same conversation on replay', async () => {
  const { live, replayed } = await liveAndReplayed(calling, async platform => {
    const inputSchema = jsonSchema<object>({ type: 'object', properties: {} })
    const tools = { get_weather: tool({ inputSchema, execute: async () => ({ sky: 'Rain' }) }) } as unknown as ToolSet
    const prompt = 'What is the weather?'
    const { steps } = await generateText({ ...modelOf(platform), tools, prompt, stopWhen: stepCountIs(3) })
    return steps.map(({ text, toolCalls, finishReason, usage, response: { id, timestamp } }) => ({
      ...{ text, toolCalls, finishReason, usage },
      ...{ id, timestamp },
    }))
  })
  expect(live.map(({ text }) => text)).toEqual(['Let me see.', 'Rain in Oslo.'])
  expect(replayed).toEqual(live)
})

test('streamText of the AI SDK gets the same pieces on replay', async () => {
  const { live, replayed } = await liveAndReplayed(speaking, async platform => {
    const answer = streamText({ ...modelOf(platform), prompt: 'hello' })
    const pieces: string[] = []
    for await (const piece of answer.textStream) pieces.push(piece)
    const { id, timestamp } = await answer.response
    return { pieces, id, timestamp, usage: await answer.usage, finishReason: await answer.finishReason }
  })
  expect(live.pieces.length).toBeGreaterThan(5)
  expect(live.pieces.join('')).toBe(words)
  expect(replayed).toEqual(live)
})

const FIRST_MS = 200
const GAP_MS = 60
/** Node's timers may fire this early, and times in recordings are rounded. */
const EARLY_MS = 10

test('a replayed stream has the same bytes on the wire, at the same pace', async () => {
  const text = 'one two three four five'
  const pace = { firstTokenMs: FIRST_MS, tokensPerSecond: 1000 / GAP_MS, jitter: 0 }
  const { live, replayed } = await liveAndReplayed({ rules: [{ reply: { text }, pace }] }, received)
  expect(replayed.status).toBe(200)
  expect(replayed.contentType).toBe(live.contentType)
  expect(replayed.body.equals(live.body)).toBe(true)
  // The role comes with the first word; the two events of the end come with the last one.
  const due = [0, 0, 1, 2, 3, 4, 4, 4].map(gaps => FIRST_MS + gaps * GAP_MS)
  expect(replayed.eventsAtMs).toHaveLength(due.length)
  for (const [i, at] of replayed.eventsAtMs.entries()) expect(at).toBeGreaterThan((due[i] ?? 0) - EARLY_MS)
  // The stream is not collected and sent at the end.
  expect(replayed.reads).toBeGreaterThan(1)
})

/** The bytes of a stream, and when each of its events arrived. */
async function received({ chat }: Scene) {
  const startedAt = performance.now()
  const response = await chat({ ...hello, stream: true })
  const read: Buffer[] = []
  const eventsAtMs: number[] = []
  for await (const bytes of response.body as ReadableStream<Uint8Array>) {
    read.push(Buffer.from(bytes))
    const ended = Buffer.concat(read).toString('utf8').split('\n\n').length - 1
    while (eventsAtMs.length < ended) eventsAtMs.push(performance.now() - startedAt)
  }
  const { status, headers } = response
  const contentType = headers.get('content-type')
  return { status, contentType, body: Buffer.concat(read), eventsAtMs, reads: read.length }
}

test('a replayed whole answer has the same bytes on the wire and the same delay', async () => {
  const { live, platform, over } = await recording(speaking)
  await live.failNext({ delayMs: 150 })
  const said = await (await platform.chat(hello)).text()
  const { chat } = await over()
  const startedAt = performance.now()
  expect(await (await chat(hello)).text()).toBe(said)
  expect(performance.now() - startedAt).toBeGreaterThan(150 - EARLY_MS)
})

test('a recorded stream is replayed as a whole answer, and a whole answer as a stream', async () => {
  const { platform, over } = await recording(calling)
  const weather = asking('What is the weather?')
  const { completions } = openaiOf(platform).chat
  const tools = [{ type: 'function' as const, function: { name: 'get_weather' } }]
  const streamed = await completions
    .stream({ ...weather, tools, stream_options: { include_usage: true } })
    .finalChatCompletion()
  const whole = await completions.create({ ...weather, tools, seed: 7 })

  const replayed = openaiOf(await over()).chat.completions
  const { parsed: _, ...message } = streamed.choices[0]?.message ?? {}
  const asWhole = await replayed.create({ ...weather, tools })
  expect(asWhole).toMatchObject({ id: streamed.id, object: 'chat.completion', usage: streamed.usage })
  expect(asWhole.choices[0]).toMatchObject({ message, finish_reason: 'tool_calls' })
  const asStream = await replayed.stream({ ...weather, tools, seed: 7 }).finalChatCompletion()
  expect(asStream.id).toBe(whole.id)
  expect(asStream.choices[0]).toMatchObject(whole.choices[0] ?? {})
})

test('errors of the live platform are the same on replay', async () => {
  const { live, platform, over } = await recording({ models: [{ id: 'gpt-4o-mini' }], ...speaking })
  const shown = ({ name, status, message, headers }: InstanceType<typeof OpenAI.APIError>) => ({
    ...{ name, status, message },
    retryAfter: headers?.get('retry-after'),
  })
  const unknown = { ...asking('hello'), model: 'gpt-4o-mimi' }
  const failures = async (platform: Scene) => {
    const { completions } = openaiOf(platform).chat
    const busy = shown(await failureOf(completions.create({ ...asking('busy'), stream: true })))
    return [busy, shown(await failureOf(completions.create(unknown)))]
  }
  await live.failNext({ status: 429, retryAfter: 7 })
  const recorded = await failures(platform)
  expect(recorded).toMatchObject([{ status: 429, retryAfter: '7' }, { status: 400 }])
  expect(await failures(await over())).toEqual(recorded)
})

test('an unrecorded request fails at once, and the client does not retry', async () => {
  const { platform, over } = await recording(speaking)
  await openaiOf(platform).chat.completions.create(asking('hello'))
  const { url, apiKey } = await over()
  let asked = 0
  const counting: typeof fetch = (...request) => {
    asked++
    return fetch(...request)
  }
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, fetch: counting })
  const failure = await failureOf(openai.chat.completions.create(asking('goodbye')))
  expect(failure).toMatchObject({ status: 424 })
  expect(asked).toBe(1)
})
