/** What comes of a recorded answer when it is asked for in the other form, vendor by vendor. */
import { expect, test } from 'vitest'
import { assembledText, streamOf, wholeOf, withUsage } from '../../src/recordings/convert.js'
import { platformWith } from '../scene.js'
import { ended, jsonOf, objectsOf, piece, saying, stream, streaming, textOf, whole } from './responses.js'

/** What the one choice of a stream with these deltas says as a whole. */
const messageOf = (...deltas: readonly object[]) => jsonOf(wholeOf(saying(...deltas))).choices[0].message

const completion = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_750_000_000, model: 'gpt-4o' },
  choices: [{ ...ended, message: { role: 'assistant', content: 'Hi there!', refusal: null }, logprobs: null }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  service_tier: 'default',
  system_fingerprint: 'fp_1',
}

test('a whole is there when its stream has ended, with the headers of that', () => {
  const streamed = saying({ role: 'assistant', content: 'Hi' })
  const answer = wholeOf({ ...streamed, status: 201 })
  expect(answer).toMatchObject({ status: 201, headMs: 520, endMs: 0, complete: true, chunks: [{ atMs: 0 }] })
  expect(Object.fromEntries(answer?.headers ?? [])).toEqual({
    'content-type': 'application/json',
    'x-request-id': 'req-7',
  })
})

test('a stream of a whole is as OpenAI would have sent it', () => {
  const answer = streamOf(whole(completion), { includeUsage: true })
  expect(answer?.headers).toContainEqual(['content-type', 'text/event-stream; charset=utf-8'])
  expect(answer).toMatchObject({ status: 200, headMs: 120, endMs: 0 })
  expect(new Set(answer?.chunks.map(({ atMs }) => atMs))).toEqual(new Set([0]))
  const around = {
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_750_000_000, model: 'gpt-4o' },
    ...{ service_tier: 'default', system_fingerprint: 'fp_1' },
  }
  const event = (delta: object, finish_reason: string | null = null) => ({
    ...around,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    usage: null,
  })
  expect(objectsOf(answer)).toEqual([
    event({ role: 'assistant', content: '', refusal: null }),
    event({ content: 'Hi' }),
    event({ content: ' there!' }),
    event({}, 'stop'),
    { ...around, choices: [], usage: completion.usage },
  ])
})

test('a call of a tool is told first by its name, then what it is called with in pieces', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city": "Oslo"}' } }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  const streamed = streamOf(whole({ ...completion, choices: [{ ...ended, message }] }), { includeUsage: false })
  expect(objectsOf(streamed).map(({ choices: [{ delta }] }) => delta)).toEqual([
    { role: 'assistant', content: null },
    { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: ' "Oslo"}' } }] },
    {},
  ])
})

test('the choices of a stream take turns', () => {
  const choices = ['one two', 'three four five'].map((content, index) => ({ ...ended, index, message: { content } }))
  const events = objectsOf(streamOf(whole({ ...completion, choices }), { includeUsage: false }))
  expect(events.map(({ choices: [{ index }] }) => index).join('')).toBe('010101011')
})

test('each token is told with the text that it is a part of', () => {
  const token = (text: string, bytes = [...Buffer.from(text)]) => ({ token: text, logprob: -0.5, bytes })
  // The letter of a smile has four bytes, and here three tokens.
  const tokens = [
    token('Hi'),
    token(' \\xf0', [32, 0xf0]),
    token('\\x9f\\x98', [0x9f, 0x98]),
    token('\\x80', [0x80]),
    token('!'),
  ]
  const message = { role: 'assistant', content: 'Hi 😀!' }
  const choices = [{ ...ended, message, logprobs: { content: tokens, refusal: null } }]
  const events = objectsOf(streamOf(whole({ ...completion, choices }), { includeUsage: false }))
  const told = events.slice(1, -1).map(({ choices: [{ delta, logprobs }] }) => [delta.content, logprobs])
  expect(told).toEqual([
    ['Hi', { content: [tokens[0]], refusal: null }],
    [' 😀', { content: tokens.slice(1, 4), refusal: null }],
    ['!', { content: [tokens[4]], refusal: null }],
  ])
})

test('tokens that the text is not made of stay with all of it', () => {
  const logprobs = { content: [{ token: 'Hello', logprob: -1, bytes: null }], refusal: null }
  const choices = [{ ...ended, message: { role: 'assistant', content: 'Hi there!' }, logprobs }]
  const events = objectsOf(streamOf(whole({ ...completion, choices }), { includeUsage: false }))
  expect(events[1].choices[0]).toMatchObject({ delta: { content: 'Hi there!' }, logprobs })
})

test('what the platform itself says whole and as a stream is the same once it is put together', async () => {
  const { chat } = await platformWith({
    rules: [
      {
        reply: {
          choices: [
            { text: 'It rains in 東京 😀.', reasoning: 'Let me think of that.' },
            { toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } }] },
            { refusal: 'That I may not say.' },
          ],
        },
      },
    ],
  })
  const request = {
    ...{ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }], n: 3, logprobs: true, top_logprobs: 2 },
    tools: [{ type: 'function', function: { name: 'get_weather' } }],
  }
  const asked = await chat({ ...request, stream: true, stream_options: { include_usage: true } })
  const assembled = jsonOf(wholeOf(stream(await asked.text())))
  const said = (await (await chat(request)).json()) as object
  const { id, created, choices } = assembled
  expect(choices).toHaveLength(3)
  expect(assembled).toEqual({ ...said, id, created })
})

test('thoughts that a vendor tells before and then calls null are kept', () => {
  const message = messageOf(
    { role: 'assistant', content: null, reasoning_content: '' },
    { content: null, reasoning_content: 'Let me' },
    { content: null, reasoning_content: ' see.' },
    { content: 'Hi', reasoning_content: null },
  )
  expect(message).toEqual({ role: 'assistant', content: 'Hi', reasoning_content: 'Let me see.' })
})

test('a call whose keys are repeated empty with every piece keeps its id and its name', () => {
  const called = (id: string, name: string, said: string) => ({
    tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: said } }],
  })
  const { tool_calls } = messageOf(called('call_1', 'look', ''), called('', '', '{"a":'), called('', '', '1}'))
  expect(tool_calls).toEqual([{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }])
})

test('calls that are not numbered are told apart by their ids', () => {
  const message = messageOf(
    { role: 'assistant', content: '', tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{' } }] },
    { tool_calls: [{ function: { arguments: '}' } }] },
    { tool_calls: [{ id: 'call_2', function: { name: 'listen', arguments: '[]' } }] },
  )
  expect(message).toEqual({
    ...{ role: 'assistant', content: null },
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } },
      { id: 'call_2', type: 'function', function: { name: 'listen', arguments: '[]' } },
    ],
  })
})

test('calls and choices that come out of order are put in order', () => {
  const call = (index: number) => ({
    tool_calls: [{ index, id: `call_${index}`, function: { name: 'f', arguments: '' } }],
  })
  const said = streaming(
    piece({ index: 1, delta: { content: 'second' } }),
    piece({ index: 0, delta: call(1) }),
    piece({ index: 0, delta: call(0) }),
    piece({ ...ended, index: 0, delta: {} }, { ...ended, index: 1, delta: {} }),
  )
  const [first, second] = jsonOf(wholeOf(said)).choices
  expect(first.message.tool_calls.map(({ id }: { id: string }) => id)).toEqual(['call_0', 'call_1'])
  expect(second.message.content).toBe('second')
})

test('the functions from before there were tools, citations and sound are put together too', () => {
  const message = messageOf(
    { role: 'assistant', content: null, function_call: { name: 'look', arguments: '' } },
    { function_call: { arguments: '{}' }, annotations: [{ type: 'url_citation', url: 'a' }] },
    { annotations: [{ type: 'url_citation', url: 'b' }], audio: { id: 'audio_1', data: 'AAAA', transcript: 'Hel' } },
    { audio: { data: 'BBBB', transcript: 'lo' } },
    { audio: { expires_at: 7 } },
  )
  expect(message).toEqual({
    ...{ role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
    annotations: ['a', 'b'].map(url => ({ type: 'url_citation', url })),
    audio: { id: 'audio_1', data: 'AAAABBBB', transcript: 'Hello', expires_at: 7 },
  })
})

test("Azure's events without an id tell what was filtered, and nothing about the completion", () => {
  const nameless = { id: '', object: '', created: 0, model: '' }
  const said = streaming(
    { ...nameless, choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
    piece({ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null, content_filter_results: {} }),
    piece({ ...ended, delta: {} }),
    {
      ...nameless,
      choices: [{ index: 0, finish_reason: null, content_filter_results: { hate: { filtered: false } } }],
    },
  )
  expect(jsonOf(wholeOf(said))).toEqual({
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_750_000_000, model: 'gpt-4o' },
    choices: [
      {
        ...{ ...ended, message: { role: 'assistant', content: 'Hi' } },
        content_filter_results: { hate: { filtered: false } },
      },
    ],
    prompt_filter_results: [{ prompt_index: 0 }],
  })
})

test('of usage that is told with every event the last one counts, and padding is left out', () => {
  const said = streaming(
    { ...piece({ index: 0, delta: { content: 'a' } }), usage: { total_tokens: 1 }, obfuscation: 'xyz' },
    { ...piece({ ...ended, delta: {} }), usage: { total_tokens: 2 }, obfuscation: 'x' },
    { ...piece(), usage: null },
  )
  const { usage, obfuscation } = jsonOf(wholeOf(said))
  expect(usage).toEqual({ total_tokens: 2 })
  expect(obfuscation).toBeUndefined()
})

const hi = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'

test.each([
  ['an error in its midst', `${hi}data: {"error":{"message":"overloaded"}}\n\ndata: [DONE]\n\n`],
  ['an event that is called error', `${hi}event: error\ndata: {"message":"overloaded"}\n\ndata: [DONE]\n\n`],
  ['no [DONE]', hi],
  ['half of an event', `${hi}data: {"choi\n\ndata: [DONE]\n\n`],
  ['content that is no text', `${hi}data: {"choices":[{"delta":{"content":[]}}]}\n\ndata: [DONE]\n\n`],
  ['no completion', 'data: {"id":"cmpl-1","choices":[{"index":0,"text":"Hi"}]}\n\ndata: [DONE]\n\n'],
  ['nothing but [DONE]', 'data: [DONE]\n\n'],
])('a stream with %s is not put together', (_what, body) => {
  expect(wholeOf(stream(body))).toBeUndefined()
})

test('an answer that broke off is not told in the other form', () => {
  expect(wholeOf({ ...stream(`${hi}data: [DONE]\n\n`), complete: false })).toBeUndefined()
  expect(streamOf({ ...whole(completion), complete: false }, { includeUsage: false })).toBeUndefined()
})

test('comments, names of events, data in several lines and a missing last line end do not matter', () => {
  const json = JSON.stringify(piece({ ...ended, delta: { content: 'Hi' } }), null, 1)
  const lines = json.split('\n').map(line => `data: ${line}\r\n`)
  const said = stream(`: ping\r\n\r\nevent: message\r\nid: 7\r\n${lines.join('')}\r\ndata:[DONE]`)
  expect(jsonOf(wholeOf(said)).choices[0].message.content).toBe('Hi')
})

test('an error is the answer for either form', () => {
  const json = { ...whole({ error: 'Too many requests.' }), status: 429 }
  const event = { ...stream('data: {"error":"Too many requests."}\n\n'), status: 429 }
  for (const refused of [json, event]) {
    expect(wholeOf(refused)).toBe(refused)
    expect(streamOf(refused, { includeUsage: true })).toBe(refused)
    expect(withUsage(refused, true)).toBe(refused)
  }
})

test.each([[{ error: 'No.' }], [{ ...completion, choices: [] }], [[completion]], ['Hi']])(
  'no stream is made of %j',
  body => {
    expect(streamOf(whole(body), { includeUsage: false })).toBeUndefined()
  },
)

test('what is in the form already stays as it is', () => {
  const json = whole(completion)
  const events = saying({ content: 'Hi' })
  expect(wholeOf(json)).toBe(json)
  expect(withUsage(json, true)).toBe(json)
  expect(streamOf(events, { includeUsage: false })).toBe(events)
})

test('usage that was not recorded cannot be told', () => {
  expect(streamOf(saying({ content: 'Hi' }), { includeUsage: true })).toBeUndefined()
})

test('only the usage of the stream is left out: not that of a vendor, not that of the text', () => {
  const body = [
    'data: {"usage":null,"choices":[{"delta":{"content":",\\"usage\\":null"}}]}\r\n\r\n',
    'data: {"x_groq":{"id":"a","usage":null}, "usage" : null, "choices":[]}\n\n',
    'data: {"choices":[],"usage":{"total_tokens":3}}\n\n',
    'data: [DONE]\n\n',
  ]
  expect(textOf(withUsage(stream(body.join('')), false))).toBe(
    [
      'data: {"choices":[{"delta":{"content":",\\"usage\\":null"}}]}\r\n\r\n',
      'data: {"x_groq":{"id":"a","usage":null}, "choices":[]}\n\n',
      'data: [DONE]\n\n',
    ].join(''),
  )
})

test('usage that a vendor tells beside a choice, asked or not, is told', () => {
  const last = { ...piece({ ...ended, delta: {} }), usage: { total_tokens: 3 } }
  const said = streaming(piece({ index: 0, delta: { content: 'Hi' } }), last)
  expect(withUsage(said, false)).toBe(said)
  expect(withUsage(said, true)).toBe(said)
})

test('people read what was said, thought, refused and called', () => {
  const call = { index: 0, id: 'call_1', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }
  const said = streaming(
    piece({ index: 0, delta: { reasoning_content: 'Where is that?' } }),
    piece({ index: 0, delta: { content: 'Let me see.', tool_calls: [call] } }),
    piece({ index: 1, delta: { refusal: 'No.', function_call: { name: 'look', arguments: '{}' } } }),
  )
  const text = [
    '[choice 0]',
    '[reasoning] Where is that?',
    'Let me see.',
    'get_weather({"city":"Oslo"})',
    '',
    '[choice 1]',
    '[refusal] No.',
    'look({})',
  ].join('\n')
  expect(assembledText(said)).toBe(text)
  expect(assembledText(wholeOf(said) ?? said)).toBe(text)
})

test('people read what there is of a stream that broke off', () => {
  expect(assembledText({ ...stream(`${hi}data: {"choi`), complete: false })).toBe('Hi')
})

test('there is nothing to read in what is no chat completion', () => {
  expect(assembledText(whole({ object: 'list', data: [] }))).toBeUndefined()
  expect(assembledText({ ...whole({ error: 'No.' }), status: 500 })).toBeUndefined()
  expect(assembledText(stream('data: {"type":"response.created"}\n\n'))).toBeUndefined()
  expect(assembledText(whole(completion))).toBe('Hi there!')
})
