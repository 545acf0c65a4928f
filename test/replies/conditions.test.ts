import { expect, test } from 'vitest'
import type { ChatRequest } from '../../src/chat/request.js'
import type { Caller } from '../../src/core/exchange.js'
import type { Generation, RuleInput } from '../../src/replies/index.js'
import { isUnknown, mustBe, validPattern } from '../sentences.js'
import { repliesOf, textOf } from './replies.js'

type When = RuleInput['when']

const system = { role: 'system', content: 'You are a pirate.' }
const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })
const called = {
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
    { id: 'c2', type: 'function', function: { name: 'get_time', arguments: '{}' } },
  ],
}
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })

const requestWith = (more: object, ...messages: object[]) =>
  ({ model: 'gpt-4o-mini', messages: messages.length > 0 ? messages : [user('hello')], ...more }) as ChatRequest

/** Why the rule does not answer; empty if it does. */
async function objectionTo(when: When, request: ChatRequest, who: { caller?: Caller; headers?: object } = {}) {
  const replies = await repliesOf([{ name: 'it', when, reply: { text: 'yes' } }])
  const { rule, nearest } = replies.explain(request, who as never)
  return rule ? '' : nearest().replace(/^The (nearest|only rule for such requests) is rule "it" \(rules\[0\]\): /, '')
}

test.each<[When, ChatRequest]>([
  [{ user: /^HELLO$/i }, requestWith({})],
  [{ user: { exact: 'hello' } }, requestWith({})],
  [{ user: ['bye', 'hell'] }, requestWith({})],
  [{ user: { contains: '/tmp/' } }, requestWith({}, user('cd /tmp/ && ls'))],
  [{ system: 'pirate' }, requestWith({}, system, user('hi'))],
  [
    { system: '/polite[\\s\\S]*pirate/' },
    requestWith({}, { role: 'developer', content: 'Be polite.' }, system, user('hi')),
  ],
  [{ assistant: 'second' }, requestWith({}, user('a'), assistant('first'), user('b'), assistant('second'), user('c'))],
  [{ any: 'first' }, requestWith({}, user('a'), assistant('first'), user('b'))],
  [{ model: ['llama', 'gpt-*'] }, requestWith({})],
  [{ model: '/^gpt/' }, requestWith({})],
  [{ turn: 1 }, requestWith({})],
  [{ turn: { min: 2 } }, requestWith({}, user('a'), assistant('b'), user('c'))],
  [{ stream: true }, requestWith({ stream: true })],
  [{ stream: false }, requestWith({})],
  [{ temperature: 0 }, requestWith({ temperature: 0 })],
  [{ temperature: { min: 0.5, max: 1 } }, requestWith({ temperature: 0.7 })],
  [{ tools: true }, requestWith({ tools: [tool('a')] })],
  [{ tools: 'b' }, requestWith({ tools: [tool('a'), tool('b')] })],
  [{ tools: ['b', 'a'] }, requestWith({ tools: [tool('a'), tool('b'), tool('c')] })],
  [{ tools: ['sql'] }, requestWith({ tools: [{ type: 'custom', custom: { name: 'sql' } }] })],
  [{ tools: ['b*', '/^A$/i'] }, requestWith({ tools: [tool('a'), tool('bc')] })],
  [{ toolResult: false }, requestWith({})],
  [{ toolResult: true }, requestWith({}, user('a'), called, result('c1', 'rain'))],
  [
    { toolResult: { tool: 'get_weather' } },
    requestWith({}, user('a'), called, result('c1', 'rain'), result('c2', 'noon')),
  ],
  [
    { toolResult: { tool: 'get_time', contains: 'noon' } },
    requestWith({}, called, result('c1', 'rain'), result('c2', 'noon')),
  ],
  [{ toolResult: { contains: /ra.n/ } }, requestWith({}, user('a'), called, result('c1', '{"sky":"rain"}'))],
  [{ toolResult: { tool: 'f' } }, requestWith({}, user('a'), { role: 'function', name: 'f', content: '1' })],
  [{ toolResult: false }, requestWith({}, user('a'), called, result('c1', 'rain'), user('and now?'))],
  [{ responseFormat: 'text' }, requestWith({})],
  [{ responseFormat: 'json_object' }, requestWith({ response_format: { type: 'json_object' } })],
  [
    { responseFormat: { type: 'json_schema', name: 'city*' } },
    requestWith({ response_format: { type: 'json_schema', json_schema: { name: 'city_report', schema: {} } } }),
  ],
  [{ request: { 'metadata.unit': 'celsius' } }, requestWith({ metadata: { unit: 'celsius' } })],
  [{ request: { 'metadata.unit': 'cel*' } }, requestWith({ metadata: { unit: 'celsius' } })],
  [{ request: { 'messages[0].name': 'bob' } }, requestWith({}, { ...user('hi'), name: 'bob' })],
  [{ request: { 'messages[-1].content': 'hi' } }, requestWith({}, system, user('hi'))],
  [{ request: { top_p: { max: 0.5 }, n: 2, store: true } }, requestWith({ top_p: 0.1, n: 2, store: true })],
  [{ request: { user: { present: true }, seed: { present: false } } }, requestWith({ user: 'u', seed: null })],
  [{ not: { user: 'bye' } }, requestWith({})],
  [{ allOf: [{ user: 'he' }, { user: 'lo' }] }, requestWith({})],
  [{ anyOf: [{ user: 'bye' }, { turn: 1, stream: false }] }, requestWith({})],
])('%j holds for %j', async (when, request) => {
  expect(await objectionTo(when, request)).toBe('')
})

test.each<[When, ChatRequest, string]>([
  [{ user: /^bye/ }, requestWith({}), 'user does not match /^bye/.'],
  [{ user: ['bye', 'ciao'] }, requestWith({}), 'user does not contain "bye" and does not contain "ciao".'],
  [{ system: 'pirate' }, requestWith({}, user('pirate')), 'system does not contain "pirate".'],
  [
    { assistant: 'first' },
    requestWith({}, assistant('first'), user('b'), assistant('second')),
    'assistant does not contain "first".',
  ],
  [{ any: 'x' }, requestWith({}), 'no message fits: it does not contain "x".'],
  [{ model: ['llama', 'nova-*'] }, requestWith({}), 'model is not "llama" and is not "nova-*".'],
  [{ turn: { min: 2, max: 3 } }, requestWith({}), 'turn is not at least 2 and at most 3.'],
  [{ stream: true }, requestWith({}), 'stream is not true.'],
  [{ tools: true }, requestWith({}), 'no tools are offered.'],
  [{ tools: ['a', 'b', 'c'] }, requestWith({ tools: [tool('b')] }), 'tools does not offer a, c.'],
  [{ toolResult: true }, requestWith({}), 'the request does not end with a tool result.'],
  [{ toolResult: false }, requestWith({}, called, result('c1', 'x')), 'the request ends with a tool result.'],
  [{ toolResult: { tool: 'get_time' } }, requestWith({}, called, result('c1', 'x')), 'toolResult is not of get_time.'],
  [
    { toolResult: { contains: 'sun' } },
    requestWith({}, called, result('c1', 'x')),
    'toolResult does not contain "sun".',
  ],
  [{ responseFormat: 'json_schema' }, requestWith({}), 'responseFormat is not json_schema.'],
  [
    { responseFormat: { name: 'a' } },
    requestWith({ response_format: { type: 'json_schema', json_schema: { name: 'b', schema: {} } } }),
    'the name of responseFormat is not "a".',
  ],
  [
    { request: { 'metadata.unit': 'c' } },
    requestWith({ metadata: { unit: 'celsius' } }),
    'request.metadata.unit is not "c".',
  ],
  [{ request: { 'a.b[3].c': { present: true } } }, requestWith({ a: { b: [] } }), 'request.a.b[3].c is missing.'],
  // Own properties only.
  [{ request: { 'constructor.name': 'Object' } }, requestWith({}), 'request.constructor.name is not "Object".'],
  [{ request: { n: { min: 1 } } }, requestWith({ n: null }), 'request.n is not at least 1.'],
  [{ not: { user: 'hello' } }, requestWith({}), 'all conditions in "not" hold (user).'],
  [{ allOf: [{ user: 'he' }, { user: 'lx' }] }, requestWith({}), 'user does not contain "lx".'],
  [
    { anyOf: [{ user: 'bye' }, { stream: true }] },
    requestWith({}),
    'none of anyOf holds: user does not contain "bye"; stream is not true.',
  ],
])('%j does not hold for %j, and says why', async (when, request, why) => {
  expect(await objectionTo(when, request)).toBe(why)
})

test.each<[When, boolean]>([
  [{ header: { 'X-Tenant': 'acme' } }, true],
  [{ header: { 'x-tenant': 'ac*' } }, true],
  [{ header: { 'x-other': { present: false } } }, true],
  [{ header: { 'x-tenant': 'acme', 'x-other': 'y' } }, false],
])('%j is a condition on headers: %s', async (when, holds) => {
  expect(await objectionTo(when, requestWith({}), { headers: { 'x-tenant': 'acme' } })).toBe(
    holds ? '' : 'header x-other is not "y".',
  )
})

test('a mismatch on a header never shows the sent value, and for a credential not even the expected one', async () => {
  const sent = { headers: { authorization: 'Bearer secret', 'x-tenant': 'secret' } }
  const about = (header: Record<string, string>) => objectionTo({ header }, requestWith({}), sent)
  expect(await about({ 'x-tenant': 'acme' })).toBe('header x-tenant is not "acme".')
  expect(await about({ Authorization: 'Bearer own' })).toBe('header Authorization is not what the rule requires.')
})

const ada: Caller = { kind: 'user', id: '1', email: 'ada@example.com' }
const key: Caller = { kind: 'apiKey', id: '2', name: 'my app' }
const owned: Caller = { ...key, email: 'ada@example.com' }

test.each<[When, Caller, string]>([
  [{ caller: { kind: 'user' } }, ada, ''],
  [{ caller: { kind: 'apiKey', key: 'my app' } }, key, ''],
  [{ caller: { kind: 'apiKey' } }, ada, 'caller.kind is not "apiKey".'],
  [{ caller: { email: 'ada@example.com' } }, key, 'caller.email is not "ada@example.com".'],
  [{ caller: { email: 'ada@example.com', kind: 'apiKey' } }, owned, ''],
  [{ caller: { key: 'other' } }, key, 'caller.key is not "other".'],
])('%j for the caller %j: %j', async (when, caller, why) => {
  expect(await objectionTo(when, requestWith({}), { caller })).toBe(why)
})

test.each([
  [{ usr: 'x' }, `[0].when.usr ${isUnknown('user')}`],
  [{ toolResult: { tol: 'x' } }, `[0].when.toolResult.tol ${isUnknown('tool')}`],
  [{ not: { modle: 'x' } }, `[0].when.not.modle ${isUnknown('model')}`],
  [{ turn: { mn: 1 } }, `[0].when.turn.mn ${isUnknown('min')}`],
  [
    { 'request.metadata.unit': 'c' },
    `[0].when["request.metadata.unit"] ${isUnknown()} Put fields of the request under request: { metadata.unit: … }.`,
  ],
  [{ top_p: 1 }, `[0].when.top_p ${isUnknown()} Put fields of the request under request: { top_p: … }.`],
  [{ turn: { min: 3, max: 1 } }, mustBe('[0].when.turn', 'a range whose min is not above its max')],
  [{ any: '/(/' }, mustBe('[0].when.any', validPattern('unterminated group'), '/(/')],
  [{ responseFormat: 'json' }, expect.stringMatching(/^\[0\]\.when\.responseFormat .*json_schema.*, not "json"\.$/)],
  [{ request: { 'a..b': 1 } }, expect.stringContaining('a path such as metadata.unit or messages[0].name')],
])('an invalid condition is an error: %j', async (when, sentence) => {
  const rules = [{ when, reply: { text: 'x' } }] as unknown as readonly RuleInput[]
  const error = await repliesOf(rules).catch(error => error)
  expect(error.problems.map((problem: { sentence: string }) => problem.sentence)).toEqual([sentence])
})

test('of several tool results, templates see the one that the condition selects, or else the last', async () => {
  const request = requestWith({}, called, result('c1', 'rain'), result('c2', '12:30'))
  const said = async (toolResult: boolean | object) => {
    const replies = await repliesOf([
      { when: { toolResult }, reply: { text: '{{tool.name}}: {{tool.text}} {{match[1]}}' } },
    ])
    return textOf((await replies.explain(request).reply()) as Generation)
  }
  expect(await said({ tool: 'get_weather' })).toBe('get_weather: rain ')
  expect(await said({ contains: /(r.)in/ })).toBe('get_weather: rain ra')
  expect(await said(true)).toBe('get_time: 12:30 ')
})
