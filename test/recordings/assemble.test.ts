/** Recorded answers converted from streamed to whole and back, vendor by vendor. */
import { expect, test } from 'vitest'
import { assembledText, streamOf, wholeOf, withUsage } from '../../src/recordings/play.js'
import { platformWith } from '../scene.js'
import { ended, jsonOf, objectsOf, piece, saying, stream, streaming, textOf, whole } from './responses.js'

/** The assembled message of a stream with one choice and these deltas. */
const messageOf = (...deltas: readonly object[]) => jsonOf(wholeOf(saying(...deltas))).choices[0].message

const completion = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_750_000_000, model: 'gpt-4o' },
  choices: [{ ...ended, message: { role: 'assistant', content: 'Hi there!', refusal: null }, logprobs: null }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  service_tier: 'default',
  system_fingerprint: 'fp_1',
}

test('a whole answer arrives when its stream would have ended, with the headers of the stream', () => {
  const streamed = saying({ role: 'assistant', content: 'Hi' })
  const answer = wholeOf({ ...streamed, status: 201 })
  expect(answer).toMatchObject({ status: 201, headMs: 520, endMs: 0, complete: true, chunks: [{ atMs: 0 }] })
  expect(Object.fromEntries(answer?.headers ?? [])).toEqual({
    'content-type': 'application/json',
    'x-request-id': 'req-7',
  })
})

test('a stream made of a whole answer is what OpenAI would have sent', () => {
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

test('a tool call starts with its name and sends its arguments in pieces', () => {
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

test('the choices of a stream are interleaved', () => {
  const choices = ['one two', 'three four five'].map((content, index) => ({ ...ended, index, message: { content } }))
  const events = objectsOf(streamOf(whole({ ...completion, choices }), { includeUsage: false }))
  expect(events.map(({ choices: [{ index }] }) => index).join('')).toBe('010101011')
})

test('logprobs that do not spell the text are sent with the whole text', () => {
  const logprobs = { content: [{ token: 'Hello', logprob: -1, bytes: null }], refusal: null }
  const choices = [{ ...ended, message: { role: 'assistant', content: 'Hi there!' }, logprobs }]
  const events = objectsOf(streamOf(whole({ ...completion, choices }), { includeUsage: false }))
  expect(events[1].choices[0]).toMatchObject({ delta: { content: 'Hi there!' }, logprobs })
})

test('a stream of the platform itself assembles to the same completion as its whole answer', async () => {
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
  const wholeAnswer = (await (await chat(request)).json()) as object
  const { id, created, choices } = assembled
  expect(choices).toHaveLength(3)
  // As with OpenAI, only whole answers have annotations.
  const others = JSON.parse(JSON.stringify(wholeAnswer), (key, value) => (key === 'annotations' ? undefined : value))
  expect(assembled).toEqual({ ...others, id, created })
})

test('reasoning that a vendor sends first and sets to null afterwards is kept', () => {
  const message = messageOf(
    { role: 'assistant', content: null, reasoning_content: '' },
    { content: null, reasoning_content: 'Let me' },
    { content: null, reasoning_content: ' see.' },
    { content: 'Hi', reasoning_content: null },
  )
  expect(message).toEqual({ role: 'assistant', content: 'Hi', reasoning_content: 'Let me see.' })
})

test('a call keeps its id and name when later pieces repeat them empty', () => {
  const called = (id: string, name: string, args: string) => ({
    tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: args } }],
  })
  const { tool_calls } = messageOf(called('call_1', 'look', ''), called('', '', '{"a":'), called('', '', '1}'))
  expect(tool_calls).toEqual([{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }])
})

test('calls without an index are told apart by id', () => {
  const message = messageOf(
    { role: 'assistant', content: '', tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{' } }] },
    { tool_calls: [{ function: { arguments: '}' } }] },
    { tool_calls: [{ id: 'call_2', function: { name: 'listen', arguments: '[]' } }] },
  )
  expect(message).toEqual({
    ...{ role: 'assistant', content: '' },
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } },
      { id: 'call_2', type: 'function', function: { name: 'listen', arguments: '[]' } },
    ],
  })
})

test('calls and choices that arrive out of order are sorted', () => {
  const call = (index: number) => ({
    tool_calls: [{ index, id: `call_${index}`, function: { name: 'f', arguments: '' } }],
  })
  const streamed = streaming(
    piece({ index: 1, delta: { content: 'second' } }),
    piece({ index: 0, delta: call(1) }),
    piece({ index: 0, delta: call(0) }),
    piece({ ...ended, index: 0, delta: {} }, { ...ended, index: 1, delta: {} }),
  )
  const [first, second] = jsonOf(wholeOf(streamed)).choices
  expect(first.message.tool_calls.map(({ id }: { id: string }) => id)).toEqual(['call_0', 'call_1'])
  expect(second.message.content).toBe('second')
})

test('legacy function calls, citations and audio are assembled too', () => {
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

test("Azure's events without an id add filter results and nothing else to the completion", () => {
  const nameless = { id: '', object: '', created: 0, model: '' }
  const streamed = streaming(
    { ...nameless, choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
    piece({ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null, content_filter_results: {} }),
    piece({ ...ended, delta: {} }),
    {
      ...nameless,
      choices: [{ index: 0, finish_reason: null, content_filter_results: { hate: { filtered: false } } }],
    },
  )
  expect(jsonOf(wholeOf(streamed))).toEqual({
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

test('the last usage counts when every event has one, and padding is left out', () => {
  const streamed = streaming(
    { ...piece({ index: 0, delta: { content: 'a' } }), usage: { total_tokens: 1 }, obfuscation: 'xyz' },
    { ...piece({ ...ended, delta: {} }), usage: { total_tokens: 2 }, obfuscation: 'x' },
    { ...piece(), usage: null },
  )
  const { usage, obfuscation } = jsonOf(wholeOf(streamed))
  expect(usage).toEqual({ total_tokens: 2 })
  expect(obfuscation).toBeUndefined()
})

const hi = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'

test.each([
  ['an error in the middle', `${hi}data: {"error":{"message":"overloaded"}}\n\ndata: [DONE]\n\n`],
  ['an event named error', `${hi}event: error\ndata: {"message":"overloaded"}\n\ndata: [DONE]\n\n`],
  ['neither [DONE] nor a finish_reason', hi.replace('"stop"', 'null')],
  ['no [DONE] and only one of two choices finished', `${hi}${hi.replace('0', '1').replace('"stop"', 'null')}`],
  ['a finish_reason, then half an event', `${hi}data: {"choi`],
  ['half an event', `${hi}data: {"choi\n\ndata: [DONE]\n\n`],
  ['content that is not a string', `${hi}data: {"choices":[{"delta":{"content":[]}}]}\n\ndata: [DONE]\n\n`],
  ['legacy text completions', 'data: {"id":"cmpl-1","choices":[{"index":0,"text":"Hi"}]}\n\ndata: [DONE]\n\n'],
  ['nothing but [DONE]', 'data: [DONE]\n\n'],
])('a stream with %s is not assembled', (_what, body) => {
  expect(wholeOf(stream(body))).toBeUndefined()
})

test('an incomplete answer is not converted', () => {
  expect(wholeOf({ ...stream(`${hi}data: [DONE]\n\n`), complete: false })).toBeUndefined()
  expect(streamOf({ ...whole(completion), complete: false }, { includeUsage: false })).toBeUndefined()
})

test('comments, event names, multi-line data and a missing final line break do not matter', () => {
  const json = JSON.stringify(piece({ ...ended, delta: { content: 'Hi' } }), null, 1)
  const lines = json.split('\n').map(line => `data: ${line}\r\n`)
  const streamed = stream(`: ping\r\n\r\nevent: message\r\nid: 7\r\n${lines.join('')}\r\ndata:[DONE]`)
  expect(jsonOf(wholeOf(streamed)).choices[0].message.content).toBe('Hi')
})

test('an error is the answer to streamed and whole requests alike', () => {
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

test('a response that is already in the requested form is returned as is', () => {
  const json = whole(completion)
  const events = saying({ content: 'Hi' })
  expect(wholeOf(json)).toBe(json)
  expect(withUsage(json, true)).toBe(json)
  expect(streamOf(events, { includeUsage: false })).toBe(events)
})

test('a stream cannot include usage that was not recorded', () => {
  expect(streamOf(saying({ content: 'Hi' }), { includeUsage: true })).toBeUndefined()
})

test("only the stream's own usage is removed, not a vendor field or text that mentions usage", () => {
  const body = [
    'data: {"usage":null,"choices":[{"delta":{"content":",\\"usage\\":null"}}]}\r\n\r\n',
    'data: {"x_groq":{"id":"a","usage":null}, "usage" : null, "choices":[]}\n\n',
    'data: {"choices":[],"usage":{"total_tokens":3}}\n\n',
    'data: [DONE]\n\n',
  ]
  expect(textOf(withUsage(stream(body.join('')), false))).toBe(
    [
      'data: {"choices":[{"delta":{"content":",\\"usage\\":null"}}]}\n\n',
      'data: {"x_groq":{"id":"a","usage":null},"choices":[]}\n\n',
      'data: [DONE]\n\n',
    ].join(''),
  )
})

test('usage that a vendor sends along with a choice is kept, whether requested or not', () => {
  const last = { ...piece({ ...ended, delta: {} }), usage: { total_tokens: 3 } }
  const streamed = streaming(piece({ index: 0, delta: { content: 'Hi' } }), last)
  expect(withUsage(streamed, false)).toBe(streamed)
  expect(withUsage(streamed, true)).toBe(streamed)
})

test('the readable text has content, reasoning, refusals and calls', () => {
  const call = { index: 0, id: 'call_1', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }
  const streamed = streaming(
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
  expect(assembledText(streamed)).toBe(text)
  expect(assembledText(wholeOf(streamed) ?? streamed)).toBe(text)
})

test('the readable text of an incomplete stream is what arrived', () => {
  expect(assembledText({ ...stream(`${hi}data: {"choi`), complete: false })).toBe('Hi')
})

test('only chat completions have a readable text', () => {
  expect(assembledText(whole({ object: 'list', data: [] }))).toBeUndefined()
  expect(assembledText({ ...whole({ error: 'No.' }), status: 500 })).toBeUndefined()
  expect(assembledText(stream('data: {"type":"response.created"}\n\n'))).toBeUndefined()
  expect(assembledText(whole(completion))).toBe('Hi there!')
})
