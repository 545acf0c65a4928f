import http from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { eventsOf, platformWith } from '../scene.js'

const tools = [
  { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } },
  { type: 'function', function: { name: 'get_time', parameters: { type: 'object' } } },
] as const
const request = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Rome?' }], tools: [...tools] }
const expected = [
  { name: 'get_weather', arguments: '{"city":"Rome","unit":"celsius"}' },
  { name: 'get_time', arguments: '{"zone":"Europe/Rome"}' },
]
const rules = [
  {
    reply: {
      toolCalls: expected.map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) })),
    },
  },
]

interface Call {
  readonly index: number
  readonly id?: string
  readonly function: { readonly name?: string; readonly arguments: string }
}

/** The fragments of tool calls in the order of the stream. */
const fragmentsIn = (text: string) =>
  eventsOf(text).chunks.flatMap(
    ({ choices }) => (choices[0]?.delta as { tool_calls?: readonly Call[] } | undefined)?.tool_calls ?? [],
  )

function expectMixed(text: string): void {
  const fragments = fragmentsIn(text)
  expect(fragments.slice(0, 4).map(({ index }) => index)).toEqual([0, 1, 0, 1])
  expect(fragments.filter(({ id }) => id).map(({ index }) => index)).toEqual([0, 1])
  expect(fragments.filter(call => call.function.name).map(call => call.function.name)).toEqual([
    'get_weather',
    'get_time',
  ])
}

/** The calls that OpenAI's client puts together. */
async function callsWith({ url, apiKey }: { url: string; apiKey: string }, fault: string, more: object = {}) {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, defaultHeaders: { 'x-standin-fault': fault } })
  const { choices } = await openai.chat.completions.stream({ ...request, ...more }).finalChatCompletion()
  return choices[0]?.message.tool_calls?.map(call => call.type === 'function' && call.function)
}

test('fragments of parallel calls are mixed, and a client that goes by the index puts them together', async () => {
  const platform = await platformWith({ rules, pace: { tokensPerSecond: 1000 } })
  const headers = { 'x-standin-fault': 'interleave' }
  expectMixed(await (await platform.chat({ ...request, stream: true }, { headers })).text())
  expect(await callsWith(platform, 'interleave')).toMatchObject(expected)
})

test('the magic word calls two tools and mixes their fragments', async () => {
  const { chat } = await platformWith()
  const messages = [{ role: 'user', content: 'standin:interleave' }]
  expectMixed(await (await chat({ ...request, messages, stream: true })).text())
  expect((await chat({ model: request.model, messages })).status).toBe(400)
})

test('a live stream whose calls come whole, with their finish_reason, is mixed as well', async () => {
  const calls = expected.map((called, index) => ({ index, id: `call_${index}`, type: 'function', function: called }))
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const server = http.createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${chunk({ role: 'assistant', tool_calls: calls }, 'tool_calls')}data: [DONE]\n\n`)
  })
  await new Promise<void>(listening => void server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const platform = await platformWith({ mode: 'proxy', upstream: { baseUrl, apiKey: 'sk-live' } })
  const headers = { 'x-standin-fault': 'interleave' }
  const text = await (await platform.chat({ ...request, stream: true }, { headers })).text()
  expectMixed(text)
  expect(eventsOf(text).chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([
    ...Array(6).fill(null),
    'tool_calls',
  ])
  expect(await callsWith(platform, 'interleave')).toMatchObject(expected)
})

test('a stream without parallel calls is sent as it is, and the journal says that the fault had no effect', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'just a text' } }] })
  const headers = { 'x-standin-fault': 'interleave' }
  expect(await (await platform.chat({ ...request, stream: true }, { headers })).text()).toContain('text')
  await platform.idle()
  expect((await platform.journal.last())?.fault).toMatchObject({ happened: false, isSpoilt: false })
})
