import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { eventsOf, hello, platformWith } from '../scene.js'
import { didYouMean } from '../sentences.js'
import { encoded, secretToken } from '../signing.js'

const models = 'gpt-4o-mini, gpt-4o, llama-3.3-70b-instruct, mistral-small-latest or qwen2.5-72b-instruct'
const roles = 'system, user, assistant, tool, developer, function'

/** A valid request except for its only message. */
const saying = (message: unknown) => ({ ...hello, messages: [message] })
/** A valid request except for these fields. */
const but = (fields: object) => ({ ...hello, ...fields })

test.each<[body: unknown, sentence: string]>([
  [null, 'The request body must be an object, not null.'],
  [[], 'The request body must be an object, not an array.'],

  [but({ model: 5 }), 'model must be a string, not 5.'],
  [but({ model: '' }), 'model must be the id of a model, not "".'],
  [but({ model: 'gpt-4o-mimi' }), `model must be ${models}, not "gpt-4o-mimi".${didYouMean('gpt-4o-mini')}`],
  [but({ model: 'x'.repeat(101) }), `model must be ${models}, not "${'x'.repeat(100)}…".`],

  [but({ messages: null }), 'messages must be an array of messages, not null.'],
  [but({ messages: [] }), 'messages must be an array with at least one message, not an empty array.'],
  [saying('hello'), 'messages[0] must be an object, not "hello".'],
  [
    but({ messages: [...hello.messages, { role: 'robot', content: 'x' }] }),
    `messages[1].role must be one of ${roles}, not "robot".`,
  ],

  [saying({ role: 'user' }), 'messages[0].content is missing. It must be a string or an array of parts.'],
  [saying({ role: 'user', content: null }), 'messages[0].content must be a string or an array of parts, not null.'],
  [saying({ role: 'user', content: ['x'] }), 'messages[0].content[0] must be an object, not "x".'],
  [
    saying({ role: 'user', content: [{ type: 'text' }] }),
    'messages[0].content[0].text is missing. It must be a string.',
  ],
  [saying({ role: 'user', content: 'x', name: 5 }), 'messages[0].name must be a string, not 5.'],

  [but({ temperature: 'hot' }), 'temperature must be a number from 0 to 2, not "hot".'],
  [but({ temperature: 2.01 }), 'temperature must be a number from 0 to 2, not 2.01.'],
  [but({ temperature: 'x'.repeat(80) }), `temperature must be a number from 0 to 2, not "${'x'.repeat(59)}….`],

  [but({ stream: 'true' }), 'stream must be true or false, not "true".'],
  [but({ stream_options: true }), 'stream_options must be an object, not true.'],
  [but({ stream_options: { include_usage: 'yes' } }), 'stream_options.include_usage must be true or false, not "yes".'],
  [but({ n: 129 }), 'n must be a whole number from 1 to 128, not 129.'],
  [but({ stop: ['a', 5] }), 'stop[1] must be a string, not 5.'],
  [but({ max_tokens: 0.5 }), 'max_tokens must be a whole number from 0, not 0.5.'],
  [but({ seed: 1.5 }), 'seed must be a whole number, not 1.5.'],
  [but({ logprobs: true, top_logprobs: 21 }), 'top_logprobs must be a whole number from 0 to 20, not 21.'],
  [but({ top_logprobs: 2 }), 'top_logprobs is only allowed if logprobs is true.'],
  [
    saying({ role: 'assistant', tool_calls: {} }),
    'messages[0].tool_calls must be an array of tool calls, not an object.',
  ],
  [
    saying({ role: 'assistant', tool_calls: [{ function: { arguments: {} } }] }),
    'messages[0].tool_calls[0].function.arguments must be a string, not an object.',
  ],
  [but({ logit_bias: [1] }), 'logit_bias must be an object, not an array.'],
  [but({ tools: ['now'] }), 'tools[0] must be an object, not "now".'],
  [but({ tool_choice: 5 }), 'tool_choice must be a string or an object, not 5.'],
  [but({ response_format: 'json' }), 'response_format must be an object, not "json".'],
])('%j is refused', async (body, sentence) => {
  const { chat } = await platformWith()
  const response = await chat(body as object)
  expect(response.status).toBe(400)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toEqual({ error: sentence })
})

test.each([
  [{ messages: hello.messages }, 'model'],
  [{ model: hello.model }, 'messages'],
  [saying({}), 'messages[0].role'],
  [saying({ role: 'user', content: [{}] }), 'messages[0].content[0].type'],
  [but({ tools: [{}] }), 'tools[0].type'],
])('%j is refused with the name of the missing field', async (body, field) => {
  const { chat } = await platformWith()
  const response = await chat(body)
  expect(response.status).toBe(400)
  const answer = (await response.json()) as { error: string }
  expect(Object.keys(answer)).toEqual(['error'])
  expect(answer.error.startsWith(`${field} is missing.`)).toBe(true)
})

test.each([['more than the largest number', '1e999']])('a temperature of %s is refused', async (_what, temperature) => {
  const { ask } = await platformWith()
  const body = JSON.stringify({ ...hello, temperature: 'T' }).replace('"T"', temperature)
  const response = await ask('/v1/chat/completions', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({
    error: expect.stringMatching(/^temperature must be a number from 0 to 2, not -?Infinity\.$/),
  })
})

test('a request cannot pollute the prototype of all objects', async () => {
  const { ask, chat } = await platformWith()
  const rest = JSON.stringify(hello).slice(1)
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    const body = `{"${name}":{"polluted":true,"prototype":{"polluted":true}},${rest}`
    const response = await ask('/v1/chat/completions', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect(response.status).toBe(200)
  }
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  const inherited = await ask('/v1/chat/completions', {
    method: 'POST',
    body: `{"__proto__":${JSON.stringify(hello)}}`,
    headers: { 'content-type': 'application/json' },
  })
  expect(inherited.status).toBe(400)
  expect((await chat(hello)).status).toBe(200)
})

/** Expects a completion or stream with 200, or a 400 with just an error sentence. */
async function expectAnswer(response: Response): Promise<void> {
  const text = await response.text()
  const kind = `${response.status} ${response.headers.get('content-type')}`
  switch (kind) {
    case '200 text/event-stream; charset=utf-8':
      expect(eventsOf(text).done).toBe(true)
      break
    case '200 application/json':
      expect(JSON.parse(text)).toMatchObject({ object: 'chat.completion' })
      break
    default:
      expect(kind).toBe('400 application/json')
      expect(JSON.parse(text)).toEqual({ error: expect.stringMatching(/^\S.*[.?]$/s) })
  }
}

const anything = fc.jsonValue({ maxDepth: 4 })
const orAnything = (...likely: fc.Arbitrary<unknown>[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.oneof(...likely) }, anything)

const likelyPart = fc.record(
  { type: orAnything(fc.constantFrom('text', 'image_url')), text: orAnything(fc.string({ unit: anyCharacter })) },
  { requiredKeys: [] },
)
const likelyMessage = fc.record(
  {
    role: orAnything(fc.constantFrom(...roles.split(', '))),
    content: orAnything(
      fc.string({ unit: anyCharacter }),
      fc.constant(null),
      fc.array(orAnything(likelyPart), { maxLength: 3 }),
    ),
    name: orAnything(fc.string()),
  },
  { requiredKeys: ['role'] },
)
const likelyRequest = fc.record(
  {
    model: orAnything(fc.constant(hello.model), fc.string()),
    messages: orAnything(fc.array(orAnything(likelyMessage), { minLength: 1, maxLength: 4 })),
    temperature: orAnything(fc.double({ min: 0, max: 2, noNaN: true })),
    stream: orAnything(fc.boolean()),
    stream_options: orAnything(fc.record({ include_usage: fc.boolean() })),
    n: orAnything(fc.integer()),
    stop: orAnything(fc.array(fc.string())),
    seed: orAnything(fc.integer()),
    tools: orAnything(fc.array(fc.record({ type: fc.constant('function') }))),
    response_format: anything,
    logit_bias: anything,
    metadata: anything,
  },
  { requiredKeys: ['model', 'messages'] },
)

test('any JSON gets a completion or a 400 with a sentence', async () => {
  const { chat } = await platformWith()
  const seen = new Set<number>()
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 1, arbitrary: anything }, { weight: 4, arbitrary: likelyRequest }),
      async body => {
        const response = await chat(body as object)
        seen.add(response.status)
        await expectAnswer(response)
      },
    ),
    { numRuns: runs(400), examples: [[hello], [{ ...hello, stream: true }]] },
  )
  expect([...seen].toSorted()).toEqual([200, 400])
})

test('random bytes get a 400 with a sentence', async () => {
  const { ask } = await platformWith()
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async bytes => {
      const response = await ask('/v1/chat/completions', { method: 'POST', body: bytes })
      expect(response.status).toBe(400)
      await expectAnswer(response)
    }),
    {
      numRuns: runs(150),
      examples: [[Uint8Array.of(0xef, 0xbb, 0xbf)], [Uint8Array.of(0xff, 0xfe, 0x7b, 0x00)], [Uint8Array.of(0)]],
    },
  )
})

/** The characters that a header value may contain (RFC 9110 §5.5). */
const headerText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(' ', ',', '.', '=', '"', '\t'),
    fc
      .integer({ min: 0x20, max: 0xff })
      .filter(code => code !== 0x7f)
      .map(code => String.fromCharCode(code)),
  ),
})
const tokenText = fc.string({ unit: fc.constantFrom(...'abcXYZ019-._~+/') })
const jwtText = fc
  .tuple(
    fc.oneof(fc.record({ alg: fc.constantFrom('ES256', 'HS256', 'none', 'RS256', '') }), anything).map(encoded),
    anything.map(encoded),
    fc.base64String().map(text => text.replace(/[+/=]/g, '_')),
  )
  .map(parts => parts.join('.'))

test('any Authorization header gets the models or a 401 with a sentence', async () => {
  const { ask, apiKey } = await platformWith()
  const schemes = fc.constantFrom('Bearer ', 'bearer  ', 'Bearer', 'Basic ', 'Bearer Bearer ', '')
  const credentials = fc.oneof(headerText, tokenText, jwtText, fc.constant(apiKey))
  const seen = new Set<number>()
  await fc.assert(
    fc.asyncProperty(schemes, credentials, async (scheme, credential) => {
      const response = await ask('/v1/models', { bearer: null, headers: { authorization: scheme + credential } })
      seen.add(response.status)
      const right = /^bearer +$/i.test(scheme) && credential.trim() === apiKey
      expect(response.status).toBe(right ? 200 : 401)
      expect(response.headers.get('www-authenticate')).toBe(right ? null : 'Bearer')
      expect(await response.json()).toEqual(right ? expect.anything() : { error: expect.stringMatching(/^[A-Z].*\.$/) })
    }),
    { numRuns: runs(400), examples: [['Bearer ', apiKey]] },
  )
  expect([...seen].toSorted()).toEqual([200, 401])
})

test('a correctly signed token with any claims gets the index or a 401 with a sentence', async () => {
  const { ask } = await platformWith()
  const seen = new Set<number>()
  const claims = fc.record(
    {
      role: orAnything(fc.constantFrom('anon', 'service_role', 'authenticated')),
      sub: orAnything(fc.uuid()),
      exp: orAnything(fc.integer({ min: 0, max: 2 ** 40 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
      nbf: orAnything(fc.integer()),
      email: anything,
      aud: anything,
      iat: anything,
    },
    { requiredKeys: ['role'] },
  )
  await fc.assert(
    fc.asyncProperty(claims, async claims => {
      const response = await ask('/api/v1', { bearer: await secretToken(claims) })
      seen.add(response.status)
      const expected = response.status === 200 ? { status: 'ok' } : { error: expect.stringMatching(/^[A-Z].*\.$/) }
      expect(await response.json()).toMatchObject(expected)
    }),
    { numRuns: runs(200), examples: [[{ role: 'anon' }], [{ role: 'authenticated', sub: {} }]] },
  )
  expect([...seen].toSorted()).toEqual([200, 401])
})
