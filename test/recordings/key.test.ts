import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recordingIn, recordingText } from '../../src/recordings/file-text.js'
import { ignoreFrom } from '../../src/recordings/ignore.js'
import { keysOf, type ReceivedRequest, requestKey } from '../../src/recordings/key.js'
import type { RecordedRequest } from '../../src/recordings/recording.js'
import { createRedact, credentialsOf } from '../../src/redact/index.js'
import { key as aKey, jwt, noRules, prose } from '../redact/secrets.js'
import { asking, plantedRedaction, question, recorded } from './scene.js'

const key = (request: RecordedRequest) => requestKey(request, ignoreFrom([]))
const keyAsking = (body: unknown, came: Partial<ReceivedRequest> = {}) => key(asking(body, came, plantedRedaction()))

const tool = { type: 'function', function: { name: 'find', parameters: { type: 'object' } } }
const history = [
  { role: 'assistant', content: 'Hello.' },
  { role: 'user', content: 'Where is Oslo?' },
]

test.each<[what: string, one: unknown, other: unknown]>([
  [
    'the order of keys',
    '{"model":"m","a":{"x":1,"y":[{"p":1,"q":2}]}}',
    '{"a":{"y":[{"q":2,"p":1}],"x":1},"model":"m"}',
  ],
  ['whitespace', '{"model":"m","a":[1,2]}', ' {\n\t"model" : "m", "a": [ 1, 2 ]\r\n}'],
  ['a byte order mark', '{"model":"m"}', '\ufeff{"model":"m"}'],
  ['how characters are escaped', '{"model":"é🦊/"}', '{"model":"\\u00e9\\ud83e\\udd8a\\/"}'],
  ['the notation of numbers', '{"model":"m","a":[1,1.5,0,100]}', '{"model":"m","a":[1.0,15e-1,-0,1e2]}'],
  ['null in place of absent fields', { ...question, seed: null, user: null, whatever: null }, question],
  [
    'defaults',
    {
      ...question,
      stream: false,
      n: 1,
      temperature: 1,
      top_p: 1.0,
      presence_penalty: 0,
      frequency_penalty: 0,
      logprobs: false,
      logit_bias: {},
      stop: [],
      tools: [],
      tool_choice: 'none',
      parallel_tool_calls: true,
      functions: [],
      function_call: 'none',
      response_format: { type: 'text' },
      modalities: ['text'],
      metadata: {},
      store: false,
      service_tier: 'auto',
    },
    question,
  ],
  ['a default of -0', `{"presence_penalty":-0,${JSON.stringify(question).slice(1)}`, question],
  ['tool_choice: auto with tools', { ...question, tools: [tool], tool_choice: 'auto' }, { ...question, tools: [tool] }],
  [
    'strict: false on a tool',
    { ...question, tools: [{ ...tool, function: { ...tool.function, strict: false, description: null } }] },
    { ...question, tools: [tool] },
  ],
  [
    'strict: false on a schema',
    { ...question, response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: false } } },
    { ...question, response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } } },
  ],
  ['empty stream options', { ...question, stream: true, stream_options: {} }, { ...question, stream: true }],
  [
    'include_usage: false',
    { ...question, stream: true, stream_options: { include_usage: false } },
    { ...question, stream: true, stream_options: { include_usage: null } },
  ],
  [
    'empty fields of an assistant message that is sent back',
    {
      model: 'm',
      messages: [{ ...history[0], refusal: null, audio: null, function_call: null, tool_calls: [], name: null }],
    },
    { model: 'm', messages: [history[0]] },
  ],
])('the key ignores %s', (_, one, other) => {
  expect(keyAsking(one)).toBe(keyAsking(other))
})

test('anything that can change the answer changes the key', () => {
  const withTools = { ...question, tools: [tool] }
  const strictTool = { ...tool, function: { ...tool.function, strict: true } }
  const different: readonly unknown[] = [
    question,
    { ...question, model: 'gpt-4o' },
    { ...question, messages: [...question.messages, ...history] },
    { ...question, messages: [...history, ...question.messages] },
    { ...question, messages: [{ ...question.messages[0], name: 'ada' }] },
    { ...question, messages: [{ role: 'system', content: question.messages[0]?.content }] },
    { ...question, messages: [{ role: 'user', content: 'What is the capital of france?' }] },
    { ...question, temperature: 0 },
    { ...question, temperature: '1' },
    { ...question, n: 2 },
    { ...question, seed: 0 },
    { ...question, parallel_tool_calls: false },
    { ...question, tool_choice: 'auto' },
    withTools,
    { ...withTools, tool_choice: 'none' },
    { ...withTools, tool_choice: 'required' },
    { ...question, tools: [strictTool] },
    { ...question, tools: [tool, tool] },
    { ...question, response_format: { type: 'json_object' } },
    { ...question, stop: '' },
    { ...question, stop: ['a', 'b'] },
    { ...question, stop: ['b', 'a'] },
    { ...question, metadata: { a: null } },
    [question],
    JSON.stringify(JSON.stringify(question)),
    'null',
    '',
    '{"model":',
    Buffer.from([0xff]),
    Buffer.from([0xfe]),
  ]
  const keys = different.map(body => keyAsking(body))
  const elsewhere: readonly Partial<ReceivedRequest>[] = [
    { path: '/v1/embeddings' },
    { method: 'PUT' },
    { query: 'a=1' },
    { query: 'a=1&a=2' },
    { query: 'a' },
    { query: 'a=' },
  ]
  keys.push(...elsewhere.map(came => keyAsking(question, came)))
  expect(new Set(keys).size).toBe(keys.length)
})

test('the defaults of chat completions do not apply to other endpoints', () => {
  const path = '/v1/embeddings'
  expect(keyAsking({ input: 'a', n: 1 }, { path })).not.toBe(keyAsking({ input: 'a' }, { path }))
  expect(keyAsking({ input: 'a', n: null }, { path })).not.toBe(keyAsking({ input: 'a' }, { path }))
})

test.each<[where: string, asked: (fields: string) => string]>([
  ['query parameters', query => keyAsking('', { method: 'GET', path: '/v1/files', query })],
  ['the fields of a form', form => keyAsking(form, { contentType: 'application/x-www-form-urlencoded' })],
])('the key ignores the order and encoding of %s, except among those of one name', (_, asked) => {
  expect(asked('b=x%20y&a=%7e&b=1')).toBe(asked('a=~&b=x+y&b=1'))
  expect(asked('b=1&b=2')).not.toBe(asked('b=2&b=1'))
  expect(asked('&a=1&')).toBe(asked('a=1'))
  expect(asked('a=1&b=2')).not.toBe(asked('a=2&b=1'))
  expect(asked('a=1%26b=2')).not.toBe(asked('a=1&b=2'))
  expect(asked('a=%zz')).not.toBe(asked('a=%25zz'))
})

test('the key ignores how a path is escaped, unless the escape separates it from a slash', () => {
  const asked = (path: string) => keyAsking('', { method: 'GET', path })
  expect(asked('/a%7Eb/%c3%bc/%40x')).toBe(asked('/a~b/%C3%BC/@x'))
  expect(asked('/a%2fb')).toBe(asked('/a%2Fb'))
  expect(asked('/a%2fb')).not.toBe(asked('/a/b'))
  expect(asked('/a%252fb')).not.toBe(asked('/a%2fb'))
  expect(asked('/a+b')).not.toBe(asked('/a%20b'))
})

test('a parameter with a credential counts as absent, one that only looks like a placeholder does not', () => {
  const asked = (query: string) => keyAsking('', { method: 'GET', path: '/v1/models', query })
  expect(asked('key=sk-planted-one&a=1')).toBe(asked('a=1'))
  expect(asked('filter=[name]&a=1')).not.toBe(asked('a=1'))
})

test('secrets are removed from bodies of any kind', () => {
  const form = { contentType: 'application/x-www-form-urlencoded' }
  expect(asking('a=1&b=sk-planted-one', form, plantedRedaction()).body).toEqual({
    kind: 'text',
    text: 'a=1&b=[key-1]',
  })
  const image = Buffer.from('\xff\xd8 sk-planted-one \x00', 'latin1')
  expect(asking(image, { contentType: 'image/jpeg' }, plantedRedaction()).body).toEqual({
    kind: 'bytes',
    bytes: Buffer.from('\xff\xd8 [key-1] \x00', 'latin1'),
  })
})

test('the same upload has the same key, although its boundary is random and its fields are in another order', async () => {
  const upload = async (word: string, isFirst = false) => {
    const form = new FormData()
    if (isFirst) form.set('model', 'whisper-1')
    form.set('file', new Blob([Buffer.from([0xff, 0x00]), word]), 'a.mp3')
    if (!isFirst) form.set('model', 'whisper-1')
    const request = new Request('http://127.0.0.1/', { method: 'POST', body: form })
    const contentType = request.headers.get('content-type') ?? ''
    return keyAsking(Buffer.from(await request.arrayBuffer()), { path: '/v1/audio/transcriptions', contentType })
  }
  expect(await upload('hello')).toBe(await upload('hello', true))
  expect(await upload('hello')).not.toBe(await upload('hallo'))
})

test('a body that nests too deep is treated as text', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  expect(asking(deep).body).toEqual({ kind: 'text', text: deep })
  const objects = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
  expect(asking(objects).body.kind).toBe('text')
})

test('fields may have any name', () => {
  const body = '{"__proto__":{"a":1},"constructor":2,"10":1,"2":1}'
  expect(JSON.stringify(asking(body).body)).toBe(
    '{"kind":"json","value":{"2":1,"10":1,"__proto__":{"a":1},"constructor":2}}',
  )
  expect(keyAsking(body)).not.toBe(keyAsking('{"__proto__":{"a":2},"constructor":2,"10":1,"2":1}'))
})

/** The same value with the keys of its objects in reverse order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, reversed(item)])
  return Object.fromEntries(entries.reverse())
}

test('a request has the key of its recording on disk, whatever the order of its fields', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.webQueryParameters(), (value, query) => {
      const body = { ...question, more: value, field: { 'sk-planted-b': value, a: 'sk-planted-a' } }
      const came = asking(body, { query }, plantedRedaction())
      const kept = recordingIn(recordingText(recorded({}, came)), 'a.yaml').request
      expect(key(kept)).toBe(key(came))
      expect(keyAsking(reversed(body), { query })).toBe(key(came))
    }),
  )
})

test('the format of an answer does not make its request another one', () => {
  const formats = [question, { ...question, stream: false }, { ...question, stream: true }]
  const withUsage = { ...question, stream: true, stream_options: { include_usage: true } }
  expect(new Set([...formats, withUsage].map(body => keyAsking(body))).size).toBe(1)
  const elsewhere = [question, withUsage].map(body => keyAsking(body, { path: '/v1/embeddings' }))
  expect(new Set(elsewhere).size).toBe(2)
  const head = asking('', { method: 'head', path: '/v1/models', query: 'a=1' })
  expect(key(head)).toBe(key({ ...head, method: 'GET' }))
})

test('the conversation stays the same when a prompt, a tool or a parameter changes, and its last turn when messages are inserted', () => {
  const user = { role: 'user', content: 'Where is it?' }
  const said = [user, { role: 'assistant', content: 'Here.' }, { role: 'user', content: 'And now?' }]
  const keys = (messages: readonly object[], more = {}) =>
    keysOf(asking({ model: 'm', messages, ...more }), ignoreFrom([]))
  const all = [
    keys(said),
    keys([{ role: 'system', content: 'Be brief.' }, ...said]),
    keys(said, { temperature: 0, stream: true, tools: [{ type: 'function', function: { name: 'find' } }] }),
  ]
  expect(new Set(all.map(({ conversation }) => conversation)).size).toBe(1)
  expect(new Set(all.map(({ key }) => key)).size).toBe(3)
  const inserted = keys([user, { role: 'assistant', content: 'There.' }, ...said])
  expect(inserted.conversation).not.toBe(all[0]?.conversation)
  expect(inserted.question).toBe(all[0]?.question)
})

test('the key does not depend on the credential, wherever it is sent and repeated', () => {
  const redact = createRedact({ ...noRules, names: ['ticket'] })
  const shown = fc.constantFrom<(secret: string) => { headers?: Record<string, string>; query?: string }>(
    secret => ({ headers: { authorization: `Bearer ${secret}` } }),
    secret => ({ headers: { 'x-auth-token': secret } }),
    secret => ({ headers: { 'openai-api-key': secret } }),
    secret => ({ headers: { cookie: `theme=dark; session=${secret}` } }),
    secret => ({ query: `a=1&token=${encodeURIComponent(secret)}` }),
    secret => ({ query: `ticket=${encodeURIComponent(secret)}` }),
  )
  const token = fc.oneof(aKey, jwt, fc.uuid(), fc.stringMatching(/^[a-z-]{12,40}x$/))
  const parts = fc.array(fc.oneof(prose, fc.constant(undefined)))
  fc.assert(
    fc.property(shown, parts, token, token, (shown, parts, one, other) => {
      const keyWith = (secret: string) => {
        const { headers = {}, query = '' } = shown(secret)
        const own = credentialsOf({ authorization: headers.authorization, headers, query }, redact)
        const content = parts.map(part => part ?? secret).join('')
        const body = { ...question, user: content, metadata: { [secret]: `https://a.test/x?sig=${secret}` } }
        return key(asking(body, { query, path: `/v1/${secret}` }, redact(own)))
      }
      expect(keyWith(one)).toBe(keyWith(other))
    }),
  )
})

test('a long number that was recorded as a string keeps its key', () => {
  const asked = asking('{"model":"m","seed":12345678901234567890}')
  const earlier = asking('{"model":"m","seed":"12345678901234567890"}')
  expect([key(asked), key(earlier)]).toEqual(['527b179377c6a09b', '527b179377c6a09b'])
})

test('ignore patterns for strings also apply to long numbers', () => {
  const keyWith = (seed: string) => requestKey(asking(`{"model":"m","seed":${seed}}`), ignoreFrom(['/\\d{10}$/']))
  expect(keyWith('12345678901234567890')).toBe(keyWith('12345678900000000001'))
})

test('different integers have different keys, however long, and notation makes no difference', () => {
  const digits = fc.bigInt({ min: 10n ** 15n, max: 10n ** 400n })
  const number = fc.oneof(
    digits,
    fc.nat({ max: 9 }).map(more => 2n ** 53n + BigInt(more)),
  )
  // A string with the same digits stands next to it.
  const body = (id: bigint, text: bigint) => `{"b":[${id}, "${text}",-${id}],"model":"\\"m: ${text}","id": ${id}}`
  const fromDisk = (request: RecordedRequest) => recordingIn(recordingText(recorded({}, request)), 'a.yaml').request
  fc.assert(
    fc.property(number, fc.nat({ max: 20 }), (id, more) => {
      const one = asking(body(id, id))
      const other = asking(body(id + BigInt(more), id))
      expect(one.body.kind).toBe('json')
      expect(key(one) === key(other)).toBe(more === 0)
      expect(key(fromDisk(one))).toBe(key(one))
    }),
  )
  const withId = (id: string) => keyAsking(`{"id":${id}}`)
  expect(withId('9007199254740992')).toBe(withId('9007199254740992.0'))
  expect(withId('0.12345678901234567')).toBe(withId('0.123456789012345670'))
})
