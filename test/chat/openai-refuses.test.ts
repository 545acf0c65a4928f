import { readFileSync } from 'node:fs'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { openaiRefusal } from '../../src/chat/openai-refusals.js'
import type { ChatRequest } from '../../src/chat/request.js'
import { hello, platformWith } from '../scene.js'
import { right, wrong } from './openai-requests.js'

const user = { role: 'user', content: 'What is the weather?' }
const call = (id: string, name = 'weather') => ({ id, type: 'function', function: { name, arguments: '{}' } })
const calling = (...ids: string[]) => ({ role: 'assistant', content: null, tool_calls: ids.map(id => call(id)) })
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'Rain.' })
const talk = (...messages: object[]) => ({ messages: [user, ...messages] })

const tool = (fn: object) => ({ type: 'function', function: fn })
const offering = (...fns: object[]) => ({ tools: fns.map(tool) })
const format = (schema: object, more: object = {}) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema, ...more } },
})
const city = { type: 'object', properties: { city: { type: 'string' } } }
const closed = { ...city, required: ['city'], additionalProperties: false }
const nested = (inner: object) => ({
  ...{ type: 'object', properties: { at: inner }, required: ['at'], additionalProperties: false },
})

/** Requests that OpenAI refuses, with its error message. */
const refused: readonly (readonly [request: object, says: string])[] = [
  [talk(result('a')), "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"],
  [talk(calling('a'), result('a'), result('b')), "'tool_call_id' of 'b' not found in 'tool_calls' of previous message"],
  [talk(calling('a', 'b'), result('b')), 'The following tool_call_ids did not have response messages: a'],
  [talk(calling('a'), { role: 'tool', content: 'x' }), "Missing required parameter: 'messages[2].tool_call_id'."],
  [talk({ role: 'assistant', content: 'x', tool_calls: [] }), "Invalid 'messages[1].tool_calls': empty array."],
  [talk({ role: 'assistant', content: null }), "Invalid value for 'content': expected a string, got null."],
  [
    talk({ role: 'user', content: [{ type: 'image_url', image_url: 'https://example.com/a.png' }] }),
    "Invalid type for 'messages[1].content[0].image_url': expected an object, but got a string instead.",
  ],
  [
    talk({ role: 'user', content: [{ type: 'image_url', image_url: [] }] }),
    'expected an object, but got an array instead.',
  ],
  [
    talk({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'a.png' } }] }),
    "Invalid 'messages[1].content[0].image_url.url': Expected a valid URL.",
  ],
  [
    talk({ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'ogg' } }] }),
    "Invalid value: 'ogg' (messages[1].content[0].input_audio.format). Supported values are: 'wav' and 'mp3'.",
  ],
  [
    { verbosity: 1 },
    "Invalid type for 'verbosity': expected one of 'low', 'medium', or 'high', but got an integer instead.",
  ],
  [{ seed: 1e300 }, "Invalid 'seed': integer above maximum value."],
  [
    { safety_identifier: 'x'.repeat(65) },
    'Expected a string with maximum length 64, but got a string with length 65 instead.',
  ],
  [
    { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, ''])) },
    'Expected an object with at most 16 properties, but got an object with 17 properties instead.',
  ],
  [
    { tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'text', more: 1 } } }] },
    "Unknown parameter: 'tools[0].custom.format.more'.",
  ],
  [talk({ ...user, name: 'Ada Lovelace' }), "Invalid 'messages[1].name': string does not match pattern."],
  [talk({ role: 'user', content: [] }), "Invalid 'messages[1].content': empty array."],
  [
    talk({ role: 'user', content: [{ type: 'image', url: 'x' }] }),
    "Invalid value: 'image' (messages[1].content[0].type). Supported values are: 'text', 'image_url',",
  ],
  [{ tools: [] }, "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array"],
  [offering({ name: 'get weather' }), "Invalid 'tools[0].function.name': string does not match pattern."],
  [{ tools: [{ type: 'web_search' }] }, "Supported values are: 'function' and 'custom'."],
  [offering(...Array.from({ length: 129 }, (_, i) => ({ name: `f${i}` }))), 'maximum length 128'],
  [
    offering({ name: 'f', parameters: {} }),
    `Invalid schema for function 'f': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
  ],
  [
    offering({ name: 'f', parameters: { type: 'object', properties: { a: { type: 'array' } } } }),
    "In context=('properties', 'a'), array schema missing items.",
  ],
  [
    offering({ name: 'f', strict: true, parameters: city }),
    "In context=(), 'additionalProperties' is required to be supplied and to be false.",
  ],
  [format(city), "Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is required"],
  [
    format({ ...closed, required: undefined }),
    "'required' is required to be supplied and to be an array including every key in properties. Missing 'city'.",
  ],
  [format(nested(city)), "In context=('properties', 'at'), 'additionalProperties'"],
  [format({ ...nested({ $ref: '#/$defs/city' }), $defs: { city } }), "In context=('$defs', 'city')"],
  [format(nested({ oneOf: [closed] })), "In context=('properties', 'at'), 'oneOf' is not permitted."],
  [format({ type: 'array', items: closed }), `got 'type: "array"'.`],
  [format(closed, { name: 'my answer' }), "Invalid 'response_format.json_schema.name'"],
  [{ response_format: { type: 'json_object' } }, "'messages' must contain the word 'json' in some form"],
  [{ stop: ['a', 'b', 'c', 'd', 'e'] }, "Invalid 'stop': array too long. Expected an array with maximum length 4"],
  [{ max_tokens: 0 }, "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead."],
  [{ max_tokens: 5, max_completion_tokens: 5 }, "Setting 'max_tokens' and 'max_completion_tokens' at the same time"],
  [{ stream_options: { include_usage: true } }, "'stream_options' parameter is only allowed when 'stream' is enabled"],
  [{ tool_choice: 'auto' }, "'tool_choice' is only allowed when 'tools' are specified."],
  [{ parallel_tool_calls: true }, "'parallel_tool_calls' is only allowed when 'tools' are specified."],
  [{ function_call: 'auto' }, "'function_call' is only allowed when 'functions' are specified."],
  [{ top_k: 40 }, 'Unrecognized request argument supplied: top_k'],
]

const refusalOf = (request: object) => openaiRefusal({ ...hello, ...request } as ChatRequest)

test.each(refused)('%j: OpenAI says %s', (request, says) => {
  expect(refusalOf(request)).toContain(says)
})

test('a reasoning model accepts max_completion_tokens but not max_tokens', () => {
  expect(refusalOf({ model: 'o3-mini', max_tokens: 5 })).toContain("'max_tokens' is not supported with this model")
  expect(refusalOf({ model: 'gpt-5', max_completion_tokens: 5 })).toBeUndefined()
  expect(refusalOf({ model: 'gpt-5.1-chat-latest', max_tokens: 5 })).toContain('Use')
  expect(refusalOf({ model: 'gpt-5-chat-latest', max_tokens: 5 })).toBeUndefined()
})

test.each([
  {},
  talk(calling('a', 'b'), result('b'), result('a'), { role: 'assistant', content: 'It rains.' }, user),
  talk(calling('a'), result('a'), calling('b'), result('b')),
  talk({ ...user, name: 'ada' }, { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }),
  { ...offering({ name: 'get_weather-2', parameters: city }, { name: 'now' }), tool_choice: 'auto' },
  { ...offering({ name: 'f', strict: true, parameters: nested(closed) }), parallel_tool_calls: false },
  { ...offering({ name: 'f', parameters: { ...city, oneOf: [] } }) },
  format(
    nested({
      anyOf: [{ type: 'null' }, { type: 'array', items: closed }, { ...closed, type: ['object', 'null'] }],
    }),
  ),
  format(city, { strict: false }),
  { response_format: { type: 'json_object' }, messages: [{ role: 'system', content: 'Answer in JSON.' }, user] },
  { stream: true, stream_options: { include_usage: true }, stop: ['a', 'b', 'c', 'd'], max_tokens: 1 },
])('OpenAI accepts %j', request => {
  expect(refusalOf(request)).toBeUndefined()
})

test("every field of OpenAI's own client is known", () => {
  const types = readFileSync('node_modules/openai/resources/chat/completions/completions.d.ts', 'utf8')
  const [, params = ''] = /interface ChatCompletionCreateParamsBase \{(.*?)\n\}/s.exec(types) ?? []
  const fields = [...params.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name]) => String(name))
  expect(fields.length).toBeGreaterThan(30)
  expect(refusalOf({ ...Object.fromEntries(fields.map(name => [name, null])), ...hello })).not.toContain('Unrecognized')
})

test('a deep or wide schema or many messages are checked without failure', () => {
  let deep: object = closed
  for (let i = 0; i < 100_000; i++) deep = nested(deep)
  const wide = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [i, closed])),
  }
  const many = talk(...Array.from({ length: 50_000 }, (_, i) => [calling(`${i}`), result(`${i}`)]).flat())
  for (const request of [format(deep), offering({ name: 'f', parameters: wide }), many]) {
    expect(refusalOf(request)).toBeUndefined()
  }
})

const orphan = { ...hello, ...talk(result('a')) }
const says =
  "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."

test("warn answers the request, and the journal has OpenAI's error", async () => {
  const { chat, ask, journal } = await platformWith({ rules: [{ reply: { text: 'Well.' } }] })
  const answer = await chat({ ...orphan, max_tokens: 9 })
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'Well.' } }] })
  await chat(hello)
  expect((await journal.find()).map(({ openaiRefuses }) => openaiRefuses)).toEqual([says, null])
  const { data } = (await (await ask('/__standin/journal?brief=true')).json()) as { data: object[] }
  expect(data[0]).toMatchObject({ openaiRefuses: says })
})

test('a reply with max_tokens 0 is empty and ends with length', async () => {
  const { chat } = await platformWith({ rules: [{ reply: { text: 'Well.' } }] })
  const { choices } = (await (await chat({ ...hello, max_tokens: 0 })).json()) as OpenAI.ChatCompletion
  expect(choices).toMatchObject([{ message: { content: '' }, finish_reason: 'length' }])
})

test("strict refuses with OpenAI's message in the platform's format, before a rule counts an answer", async () => {
  const rules = [{ times: 1, reply: { text: 'Once.' } }]
  const { chat, url, apiKey, journal } = await platformWith({ requests: 'strict', rules })
  const response = await chat(orphan)
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({ error: says })
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  const bad = openai.chat.completions.create({ model: hello.model, messages: [{ role: 'user', content: [] }] })
  await expect(bad).rejects.toThrow(/400 .*Invalid 'messages\[0\]\.content': empty array/)
  const good = await openai.chat.completions.create({ model: hello.model, messages: [{ role: 'user', content: 'x' }] })
  expect(good.choices[0]?.message.content).toBe('Once.')
  expect(await journal.find()).toMatchObject([
    { status: 400, error: says, openaiRefuses: null },
    { status: 400 },
    { status: 200 },
  ])
})

test("strict refuses what OpenAI's description refuses, and nothing else", async () => {
  const { chat } = await platformWith({ requests: 'strict' })
  const statuses = async (all: readonly object[]) =>
    Promise.all(all.map(async fields => ({ fields, status: (await chat({ ...hello, ...fields })).status })))
  expect((await statuses(right)).filter(({ status }) => status !== 200)).toEqual([])
  expect((await statuses(wrong)).filter(({ status }) => status !== 400)).toEqual([])
  expect([right.length, wrong.length].every(count => count > 150)).toBe(true)
})
