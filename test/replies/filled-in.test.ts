/** What rules fill in from a request, as clients see it. */
import path from 'node:path'
import { expect, test } from 'vitest'
import type { RuleInput } from '../../src/index.js'
import { folderWith } from '../command.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { mustBe, notInTemplates } from '../sentences.js'

interface Answer {
  readonly choices: readonly [
    {
      readonly finish_reason: string
      readonly message: {
        readonly content: string | null
        readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[]
      }
    },
  ]
  readonly error?: string
}

async function answerTo({ chat }: Scene, body: object | string): Promise<Answer> {
  const request = typeof body === 'string' ? { body } : {}
  return (await (await chat(typeof body === 'string' ? {} : { ...hello, ...body }, request)).json()) as Answer
}

/** The tool calls of a rule, each as its name and arguments. */
async function callsOf(rule: RuleInput['reply'], body: object | string = {}) {
  const scene = await platformWith({ rules: [{ reply: rule }] })
  const { choices, error } = await answerTo(scene, body)
  if (error) return error
  return choices[0].message.tool_calls?.map(call => `${call.function.name} ${call.function.arguments}`)
}

const weather = (given: Record<string, unknown> | string) => ({
  toolCalls: [{ name: 'get_weather', arguments: given }],
})

test('an argument that the request has no value for is left out', async () => {
  const reply = weather({ city: 'Oslo', unit: '{{request.metadata.unit}}' })
  expect(await callsOf(reply)).toEqual(['get_weather {"city":"Oslo"}'])
  expect(await callsOf(reply, { metadata: { unit: 'celsius' } })).toEqual([
    'get_weather {"city":"Oslo","unit":"celsius"}',
  ])
  expect(await callsOf(reply, { metadata: { unit: null } })).toEqual(['get_weather {"city":"Oslo","unit":null}'])
})

test.each([
  ['{{request.metadata}}', { metadata: { a: [1] } }, '{"a":[1]}'],
  ['{{request.metadata}}', {}, '{}'],
  ['{{user}}', {}, 'hello'],
] as const)('the arguments %j with %j become %s', async (given, body, sent) => {
  expect(await callsOf(weather(given), body)).toEqual([`get_weather ${sent}`])
})

test('a JSON reply without a value is null, and a text without a value is empty', async () => {
  const said = async (reply: RuleInput['reply']) => {
    const { choices } = await answerTo(await platformWith({ rules: [{ reply }] }), {})
    return choices[0].message.content
  }
  expect(await said({ json: '{{request.metadata.x}}' })).toBe('null')
  expect(await said({ json: ['{{request.metadata.x}}'] })).toBe('[]')
  expect(await said({ text: '{{request.metadata.x}}' })).toBe('')
})

test('forEach makes one tool call for each item of a list, with name and id from the item', async () => {
  const forEach = '{{request.metadata.cities}}'
  const reply = {
    toolCalls: [
      { name: 'begin' },
      { forEach, as: 'city', id: 'call_{{forloop.index}}', name: 'weather_{{city}}', arguments: { in: '{{city}}' } },
    ],
  }
  expect(await callsOf(reply, { metadata: { cities: ['Oslo', 'Bergen'] } })).toEqual([
    'begin {}',
    'weather_Oslo {"in":"Oslo"}',
    'weather_Bergen {"in":"Bergen"}',
  ])
  const scene = await platformWith({ rules: [{ reply: { toolCalls: reply.toolCalls.slice(1) } }] })
  const none = await answerTo(scene, {})
  expect(none.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '' } })
  const two = await answerTo(scene, { metadata: { cities: ['Oslo', 'Bergen'] } })
  expect(two.choices[0].message.tool_calls?.map(({ id }) => id)).toEqual(['call_1', 'call_2'])
})

test('a template that cannot be filled in is an error with the rule and the reason', async () => {
  const reply = { toolCalls: [{ forEach: '{{user}}', name: 'x' }] }
  expect(await callsOf(reply)).toMatch(/rule "rules\[0\]".*forEach needs a list, and \{\{user\}\} is not one\./)
  expect(await callsOf({ toolCalls: [{ name: '{{request.metadata.tool}}' }] })).toMatch(/The name of a tool is empty\./)
})

test('a mistake in a call with forEach is reported where its author wrote it', async () => {
  const rules = [{ reply: { toolCalls: [{ forEach: '{{user}}', name: 'x', arguments: { city: '{{cty}}' } }] } }]
  await expect(platformWith({ rules }).then(scene => answerTo(scene, {}))).rejects.toThrow(
    `rules: [0].reply.toolCalls[0].arguments.city: ${notInTemplates('cty')}`,
  )
})

const ID = '12345678901234567890'
const withId = JSON.stringify({ ...hello, metadata: { id: 0 } }).replace('"id":0', `"id":${ID},"small":7`)

test('64-bit numbers keep their digits from the request to the reply', async () => {
  const all = '{{request.metadata}}'
  expect(await callsOf(weather({ id: '{{request.metadata.id}}', all }), withId)).toEqual([
    `get_weather {"id":${ID},"all":{"id":${ID},"small":7}}`,
  ])
  expect(await callsOf(weather(all), withId)).toEqual([`get_weather {"id":${ID},"small":7}`])
})

test('64-bit numbers keep their digits in rules from code and over the control API', async () => {
  const scene = await platformWith({ rules: [{ when: { user: 'x' }, reply: { json: { id: BigInt(ID) } } }] })
  const said = async (content: string) =>
    (await answerTo(scene, { messages: [{ role: 'user', content }] })).choices[0].message.content
  expect(await said('x')).toBe(`{"id":${ID}}`)
  const replies = '/__standin/replies'
  const headers = { 'content-type': 'application/json' }
  const sent = `{"when":{"user":"y"},"reply":{"json":{"id":${ID},"user":"{{user}}"}}}`
  expect((await scene.ask(replies, { method: 'POST', headers, body: sent })).status).toBe(201)
  expect(await said('y')).toBe(`{"id":${ID},"user":"y"}`)
  expect(await (await scene.ask(replies)).text()).toContain(`"id":${ID}`)
})

test('a key that belongs to a user has the email address of that user', async () => {
  const ada = { email: 'ada@example.com', password: 'correct horse' }
  const rules = [{ when: { caller: { email: 'ada@*' } }, reply: { text: '{{caller.kind}} of {{caller.email}}' } }]
  const apiKeys = [{ name: 'laptop', key: 'sk-ada', user: ada.email }]
  const { chat } = await platformWith({ users: [ada], apiKeys, rules })
  const answer = (await (await chat(hello, { bearer: 'sk-ada' })).json()) as Answer
  expect(answer.choices[0].message.content).toBe('apiKey of ada@example.com')
})

test('a text file is a template if its name ends in .liquid', async () => {
  const text = '{% if turn == 1 %}Hi {{user}}!{% endif %}\n'
  const scene = async (file: string, words = text) => {
    const dir = folderWith({
      'platform.config.yaml': 'state: memory\nreplies: rules.yaml\n',
      'rules.yaml': `- reply: { file: ${file} }\n`,
      [file]: words,
    })
    return platformWith({ config: path.join(dir, 'platform.config.yaml') })
  }
  const said = async (file: string) => (await answerTo(await scene(file), {})).choices[0].message.content
  expect(await said('hi.md.liquid')).toBe('Hi hello!\n')
  expect(await said('hi.md')).toBe(text)
  const wrong = scene('hi.liquid', 'one\n{{usr}}').then(wrong => answerTo(wrong, {}))
  await expect(wrong).rejects.toThrow(/rules\.yaml:1:\d+: \[0\]\.reply\.file: hi\.liquid: In line 2: usr .*"user"\?/)
})

test('a schema next to json_object is honoured, and refused if no value fits it', async () => {
  const scene = await platformWith()
  const schema = {
    type: 'object',
    properties: { city: { enum: ['Oslo'] } },
    required: ['city'],
    additionalProperties: false,
  }
  const { choices } = await answerTo(scene, { response_format: { type: 'json_object', schema } })
  expect(JSON.parse(choices[0].message.content ?? '')).toEqual({ city: 'Oslo' })
  const none = await answerTo(scene, { response_format: { type: 'json_object', schema: { enum: [] } } })
  expect(none.error).toContain('response_format.schema')
})

const person = {
  type: 'object',
  properties: { age: { type: 'integer' } },
  required: ['age'],
}
const offered = [{ type: 'function', function: { name: 'get_age', parameters: person } }]
const asSchema = { type: 'json_schema', json_schema: { name: 'person', schema: person } }

test.each<[string, RuleInput['reply'], object, string | null]>([
  [
    'a text that does not fit the schema',
    { json: { age: 'ten' } },
    { response_format: asSchema },
    mustBe('The text does not fit response_format: age', 'a whole number', 'ten'),
  ],
  [
    'a text that is not JSON',
    { text: 'Ten.' },
    { response_format: { type: 'json_object' } },
    'The text is not JSON, which the request asks for.',
  ],
  [
    'a tool that is not offered',
    { toolCalls: [{ name: 'get_ages' }] },
    { tools: offered },
    'It calls get_ages, which the request does not offer.',
  ],
  [
    'arguments that do not fit',
    { toolCalls: [{ name: 'get_age', arguments: {} }] },
    { tools: offered },
    'The arguments of get_age do not fit its parameters: age is missing.',
  ],
  ['a text that fits', { json: { age: 10 } }, { response_format: asSchema }, null],
  ['a call that fits', { toolCalls: [{ name: 'get_age', arguments: { age: 10 } }] }, { tools: offered }, null],
  ['a plain text', { text: 'Hi.' }, {}, null],
])(
  'every reply is sent as it is, and the journal has a hint if it does not fit the request: %s',
  async (_what, reply, body, hint) => {
    const scene = await platformWith({ rules: [{ reply }] })
    expect((await answerTo(scene, body)).error).toBeUndefined()
    expect((await scene.journal.last())?.remark).toBe(hint)
  },
)

test('a client pattern that would take forever causes no delay and no hint', async () => {
  const scene = await platformWith({ rules: [{ reply: { json: `${'a'.repeat(60)}!` } }] })
  const schema = { type: 'string', pattern: '^(a+)+$' }
  await answerTo(scene, { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } })
  expect((await scene.journal.last())?.remark).toBeNull()
})

test("a pattern that is too large to be used is refused as the client's mistake", async () => {
  const scene = await platformWith()
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '='.repeat(60_000) } } }
  const answer = await scene.chat({
    ...hello,
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
  })
  expect(answer.status).toBe(400)
  expect(await answer.text()).toMatch(/the pattern .{10,100} cannot be used as a regular expression/)
})
