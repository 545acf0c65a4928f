import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startPlatform } from '../../src/index.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { eventsOf, hello, platformWith, type Scene, textOfChunks } from '../scene.js'

const asking = (content: unknown) => ({ ...hello, messages: [{ role: 'user', content }] })

/** The model's reply to a request. */
async function textOf(chat: Scene['chat'], request: object): Promise<string> {
  const { choices } = (await (await chat(request)).json()) as { choices: [{ message: { content: string } }] }
  return choices[0].message.content
}

test('the reply of a matching rule becomes the completion', async () => {
  const { chat } = await platformWith({ rules: [{ when: { user: 'hello' }, reply: { text: 'Hi there!' } }] })
  const response = await chat(hello)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toEqual({
    id: expect.stringMatching(/^chatcmpl-\w+$/),
    object: 'chat.completion',
    created: expect.closeTo(Date.now() / 1000, -1),
    model: 'gpt-4o-mini',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hi there!', refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: expect.objectContaining({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }),
    system_fingerprint: 'fp_standin',
  })
})

test('the service tier is named if it was asked for, in the completion and in each chunk', async () => {
  const { chat } = await platformWith()
  for (const [asked, answered] of [
    ['auto', 'default'],
    ['flex', 'flex'],
    [null, undefined],
    [undefined, undefined],
  ] as const) {
    const request = { ...hello, ...(asked !== undefined && { service_tier: asked }) }
    expect(((await (await chat(request)).json()) as { service_tier?: string }).service_tier).toBe(answered)
    const { chunks } = eventsOf(await (await chat({ ...request, stream: true })).text())
    expect(chunks.map(chunk => (chunk as { service_tier?: string }).service_tier)).toEqual(chunks.map(() => answered))
    expect(JSON.stringify(chunks)).not.toContain('annotations')
  }
})

test('every response has its own x-request-id, by which the journal finds the exchange', async () => {
  const { chat, ask, url } = await platformWith()
  const answers = [await chat(hello), await chat({ ...hello, stream: true }), await ask('/v1/models', { bearer: null })]
  const ids = answers.map(({ headers }) => headers.get('x-request-id'))
  expect(new Set(ids).size).toBe(3)
  for (const [i, id] of ids.entries()) {
    expect(id).toMatch(/^req_[A-Za-z0-9]{24}$/)
    await answers[i]?.text()
    const entry = await (await fetch(`${url}/__standin/journal/${id}`)).json()
    expect(entry).toMatchObject({ id: String(i + 1), response: { headers: { 'x-request-id': id } } })
  }
  const { headers } = await ask('/auth/v1/health', { bearer: null })
  expect(headers.has('x-request-id')).toBe(false)
})

test('a stream sends the role, the text, the finish reason and [DONE] as separate events', async () => {
  const { chat } = await platformWith({ rules: [{ reply: { text: 'Hi there!' } }] })
  const response = await chat({ ...hello, stream: true })
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('no-cache')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  const { chunks, done } = eventsOf(await response.text())
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: chunks[0]?.id,
    object: 'chat.completion.chunk',
    created: expect.closeTo(Date.now() / 1000, -1),
    model: 'gpt-4o-mini',
    system_fingerprint: 'fp_standin',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  })
  expect(chunks).toEqual([
    chunk({ role: 'assistant', content: '', refusal: null }),
    chunk({ content: 'Hi' }),
    chunk({ content: ' there!' }),
    chunk({}, 'stop'),
  ])
  expect(done).toBe(true)
})

test.each([[undefined], [{ include_usage: false }]])(
  'no event of a stream has a usage with the stream options %j',
  async stream_options => {
    const { chat } = await platformWith()
    const { chunks } = eventsOf(await (await chat({ ...hello, stream: true, stream_options })).text())
    expect(chunks.length).toBeGreaterThan(2)
    expect(chunks.filter(chunk => 'usage' in chunk || chunk.choices.length === 0)).toEqual([])
  },
)

test('concurrent streams of the same text keep their own id, model and usage', async () => {
  const { chat } = await platformWith({ rules: [{ reply: { text: 'Hi there, 他们!' } }] })
  // Models alternate after three requests.
  const asked = Array.from({ length: 24 }, (_, i) => ({
    model: i % 6 < 3 ? 'gpt-4o-mini' : 'gpt-4o',
    messages: [{ role: 'user', content: 'hello' }],
    stream: true,
    stream_options: { include_usage: i % 12 < 6 },
  }))
  const streams = await Promise.all(asked.map(async request => eventsOf(await (await chat(request)).text())))
  for (const [i, { chunks, done }] of streams.entries()) {
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set([asked[i]?.model]))
    expect(chunks.some(({ usage }) => usage)).toBe(asked[i]?.stream_options.include_usage)
    expect(textOfChunks(chunks)).toBe('Hi there, 他们!')
    expect(done).toBe(true)
  }
  expect(new Set(streams.map(({ chunks }) => chunks[0]?.id)).size).toBe(24)
})

test('the last user message is answered', async () => {
  const { chat } = await platformWith({
    rules: [
      { when: { user: 'first' }, reply: { text: 'To the first.' } },
      { when: { user: 'second' }, reply: { text: 'To the second.' } },
    ],
  })
  const messages = [
    { role: 'system', content: 'first of all, be brief' },
    { role: 'user', content: 'first' },
    { role: 'assistant', content: 'To the first.' },
    { role: 'user', content: 'second' },
    { role: 'assistant', content: null },
  ]
  expect(await textOf(chat, { ...hello, messages })).toBe('To the second.')
})

test('a message in parts matches like one in plain text', async () => {
  const { chat } = await platformWith({ rules: [{ when: { user: 'what is this' }, reply: { text: 'A cat.' } }] })
  const parts = [
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    { type: 'text', text: 'what is this' },
  ]
  expect(await textOf(chat, asking(parts))).toBe('A cat.')
})

test('everything that OpenAI clients send is accepted', async () => {
  const { chat } = await platformWith()
  const call = { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{}' } }
  const response = await chat({
    model: 'gpt-4o-mini',
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
      { role: 'user', name: 'ada', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
      { role: 'assistant', content: null, refusal: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'noon' },
      { role: 'assistant', function_call: { name: 'now', arguments: '{}' } },
      { role: 'function', name: 'now', content: null },
      { role: 'user', content: '' },
    ],
    temperature: 0,
    top_p: 1,
    n: 1,
    stop: ['\n', 'END'],
    max_tokens: 100,
    max_completion_tokens: 100,
    frequency_penalty: -2,
    presence_penalty: 2,
    seed: -7,
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { 50256: -100 },
    tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object' } } }],
    tool_choice: { type: 'function', function: { name: 'now' } },
    parallel_tool_calls: false,
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } },
    user: 'ada',
    metadata: { from: 'a test' },
    store: false,
    reasoning_effort: 'low',
    modalities: ['text'],
    prediction: { type: 'content', content: 'x' },
    service_tier: 'auto',
    a_field_of_the_future: { nested: [1, null] },
  })
  expect(await response.json()).toMatchObject({ object: 'chat.completion' })
  expect(response.status).toBe(200)
})

test('null means "not set" for every optional field', async () => {
  const { chat } = await platformWith()
  const optional =
    'temperature stream stream_options top_p n stop max_tokens max_completion_tokens frequency_penalty presence_penalty ' +
    'seed logprobs top_logprobs logit_bias tools tool_choice parallel_tool_calls response_format user metadata store'
  const nulls = Object.fromEntries(optional.split(' ').map(name => [name, null]))
  expect(await textOf(chat, { ...hello, ...nulls })).toBe(await textOf(chat, hello))
})

const questions = Array.from({ length: 12 }, (_, i) => asking(`question ${i}`))

test('the same request gets the same reply in any order, at the same time, and on another platform', async () => {
  const one = await platformWith({ seed: 7 })
  const inOrder: string[] = []
  for (const question of questions) inOrder.push(await textOf(one.chat, question))
  expect(new Set(inOrder).size).toBe(questions.length)

  const other = await platformWith({ seed: 7 })
  const backwards: string[] = []
  for (const question of questions.toReversed()) backwards.unshift(await textOf(other.chat, question))
  expect(backwards).toEqual(inOrder)

  expect(await Promise.all(questions.map(question => textOf(other.chat, question)))).toEqual(inOrder)
})

test('a different seed gives different replies', async () => {
  const [one, other] = [await platformWith({ seed: 1 }), await platformWith({ seed: 2 })]
  for (const question of questions) {
    expect(await textOf(other.chat, question)).not.toBe(await textOf(one.chat, question))
  }
})

test.each([
  ['model', { model: 'gpt-4o' }],
  ['temperature', { temperature: 0.5 }],
  ['seed', { seed: 5 }],
  ['conversation', asking('hello?')],
])('a different %s gets a different reply', async (_what, change) => {
  const { chat } = await platformWith()
  expect(await textOf(chat, { ...hello, ...change })).not.toBe(await textOf(chat, hello))
})

/** Any sequence of UTF-16 code units, including lone surrogates. */
const codeUnits = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(unit => String.fromCharCode(unit)) })

const hardTexts = [
  '',
  ' ',
  'data: [DONE]\n\n',
  'event: error\r\n\r\ndata: x\n\n',
  '"quoted" \\ and \u0000 \u2028\u2029',
  '👩‍👩‍👧‍👦🏳️‍🌈 👍🏽',
  '\ud83d alone and \ude00 alone',
  '\ufeffmarked',
  'x'.repeat(5000),
]

test('any text comes back unchanged in a whole reply and in the chunks of a stream', async () => {
  const texts = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 60 }), fc.string({ unit: 'grapheme' }), codeUnits)
  const paces = fc.constantFrom(0, 100_000)
  await fc.assert(
    fc.asyncProperty(texts, paces, async (text, tokensPerSecond) => {
      const { url, apiKey, stop } = await startPlatform({ rules: [{ reply: { text }, pace: { tokensPerSecond } }] })
      const chat: Scene['chat'] = body =>
        fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      try {
        expect(await textOf(chat, hello)).toBe(text)
        const { chunks, done } = eventsOf(await (await chat({ ...hello, stream: true })).text())
        expect(textOfChunks(chunks)).toBe(text)
        expect(done).toBe(true)
      } finally {
        await stop()
      }
    }),
    {
      numRuns: runs(80),
      examples: hardTexts.flatMap(text => [[text, 0] as [string, number], [text, 100_000] as [string, number]]),
    },
  )
})
