/** Answers by hand: for every shape of a request, the same request gets the answer, and another does not. */
import { expect, test } from 'vitest'
import type { RepairOffer, RepairResult } from '../../src/repairs/operations.js'
import { hello, platformWith, type Scene } from '../scene.js'

const json = { 'content-type': 'application/json' }

async function lastId(ask: Scene['ask']): Promise<string | undefined> {
  const { data } = (await (await ask('/__standin/journal?brief&limit=1')).json()) as { data: { id: string }[] }
  return data.at(-1)?.id
}

/** What can be done for an exchange; by default the last one. */
async function offers({ ask }: Scene, id?: string): Promise<readonly RepairOffer[]> {
  const last = id ?? (await lastId(ask))
  return ((await (await ask(`/__standin/journal/${last}/repairs`)).json()) as { data: RepairOffer[] }).data
}

async function repair({ ask }: Scene, wish: object, id?: string): Promise<RepairResult> {
  const last = id ?? (await lastId(ask))
  const body = JSON.stringify({ id: 'answer', ...wish })
  return (await (
    await ask(`/__standin/journal/${last}/repairs`, { method: 'POST', headers: json, body })
  ).json()) as RepairResult
}

const says = (content: unknown, more: object = {}) => ({ ...hello, messages: [{ role: 'user', content }], ...more })
const long = 'word '.repeat(30_000)
const picture = (bytes: string) => [
  { type: 'text', text: 'What is it?' },
  { type: 'image_url', image_url: { url: `data:image/png;base64,${bytes}` } },
]
const tools = [{ type: 'function', function: { name: 'find_order', parameters: { type: 'object' } } }]
const call = (id: string) => ({ id, type: 'function', function: { name: 'find_order', arguments: '{"number": 1}' } })
const afterTool = (id: string, content: string) => ({
  ...hello,
  tools,
  messages: [
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: null, tool_calls: [call(id)] },
    { role: 'tool', tool_call_id: id, content },
  ],
})
const instructed = (system: string, ...messages: object[]) => ({
  ...hello,
  messages: [{ role: 'system', content: system }, ...messages],
})
const image = 'iVBORw0KGgo='.repeat(8000)

/** Each with the same request as it may come again, and with others. */
const chats: Readonly<Record<string, readonly [asked: object, again: object, ...others: object[]]>> = {
  'a short prompt': [says('hello'), says('hello', { temperature: 1, stream: true }), says('hello!'), says('hell')],
  'a prompt of 150 KB': [says(long), says(long), says(`${long}more`), says('something else')],
  'a picture': [says(picture(image)), says(picture(image)), says(picture(`${image}AAAA`)), says('What is it?')],
  'a secret': [
    says('My key is sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa1'),
    says('My key is sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa1'),
    says('My key is sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa2'),
  ],
  'the result of a tool': [
    afterTool('call_1', 'on Monday'),
    afterTool('call_2', 'on Monday'),
    afterTool('call_1', 'on Tuesday'),
    says('Where is it?', { tools }),
  ],
  'braces of another template language': [
    says('{{ user.name }} {% x %}'),
    says('{{ user.name }} {% x %}'),
    says('{{ user }}'),
  ],
  'no user message': [instructed('Say hi.'), instructed('Say hi.'), instructed('Say bye.'), says('hi')],
  'instructions with the time': [
    instructed('It is 10:00.', { role: 'user', content: 'hi' }),
    instructed('It is 11:00.', { role: 'user', content: 'hi' }),
    instructed('It is 10:00.', { role: 'user', content: 'ho' }),
  ],
  'a text like an expression': [says('/.*/'), says('/.*/'), says('anything')],
  'an empty message': [says(''), says(''), says(' x')],
}

for (const [shape, [asked, again, ...others]] of Object.entries(chats))
  test(`${shape}: the same chat gets the answer, and another does not`, async () => {
    const platform = await platformWith()
    const textOf = async (body: object) => (await platform.chat({ ...body, stream: false })).text()
    await textOf(asked)
    const repaired = await repair(platform, { says: 'By {{ hand }}.' })
    expect(repaired).toMatchObject({ did: expect.stringContaining('from the next request on') })
    expect(await textOf(again)).toContain('By {{ hand }}.')
    for (const other of others) expect(await textOf(other)).not.toContain('By {{ hand }}.')
    const { undo } = repaired as { undo: string }
    expect((await platform.ask(`/__standin/situation/${undo}`, { method: 'DELETE' })).status).toBe(204)
    expect(await textOf(again)).not.toContain('By {{ hand }}.')
  })

test('an answer for a message answers it in any conversation; a second answer takes the place of the first', async () => {
  const platform = await platformWith()
  const before = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'ho' },
  ]
  const second = { ...hello, messages: [...before, { role: 'user', content: 'and then?' }] }
  await platform.chat(second)
  const [first, other] = await offers(platform)
  expect(first).toMatchObject({ id: 'answer', applies: expect.stringMatching(/the same messages.*: 1 of the last 1$/) })
  expect(other).toMatchObject({ id: 'answer-message', answer: { forms: ['text', 'json', 'tool', 'fault'] } })
  await repair(platform, { id: 'answer-message', says: 'one' }, '1')
  const again = await repair(platform, { id: 'answer-message', says: 'two' }, '1')
  expect(again).toMatchObject({ did: expect.stringContaining('in place of the answer before') })
  expect(await (await platform.chat(says('and then?'))).text()).toContain('two')
  const situation = (await (await platform.ask('/__standin/situation')).json()) as { data: readonly { what: string }[] }
  expect(situation.data.filter(({ what }) => what === 'answer')).toHaveLength(1)
})

test('an answer can be JSON, a tool call or a fault; the rule that keeps it has no secret', async () => {
  const platform = await platformWith()
  const asked = says('Find it with sk-proj-aaaaaaaaaaaaaaaaaaaaaaaa1', { tools })
  await platform.chat(asked)
  await repair(platform, { as: 'json', says: '{"left": "{{ never }}"}' }, '1')
  expect(await (await platform.chat(asked)).text()).toContain('{{ never }}')
  await repair(platform, { as: 'tool', tool: 'find_order', says: '{"number": 7}' }, '1')
  expect(await (await platform.chat(asked)).text()).toContain('"name":"find_order"')
  const repaired = await repair(platform, { as: 'fault', says: 'status=429; retryAfter=2' }, '1')
  expect((await platform.chat(asked)).status).toBe(429)
  expect(JSON.stringify(repaired)).not.toContain('sk-proj')
  expect(await (await platform.ask('/__standin/replies')).text()).not.toContain('sk-proj')
  const wrong = await platform.ask('/__standin/journal/1/repairs', {
    method: 'POST',
    headers: json,
    body: '{"id":"answer","as":"fault","says":"status=banana"}',
  })
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('says is no fault')])
})

const mcp = { '/mcp': { tools: [{ name: 'find', inputSchema: { type: 'object' } }] } }

test('a call of MCP and a request to a path are answered by what they carry, too', async () => {
  const platform = await platformWith({ mcp })
  const headers = { ...json, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
  const clientInfo = { name: 'a test', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  const begun = await platform.ask('/mcp', { method: 'POST', headers, body })
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
  const find = async (number: number) => {
    const params = { name: 'find', arguments: { number } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    return (await platform.ask('/mcp', { method: 'POST', headers: { ...headers, ...session }, body })).text()
  }
  await find(1)
  expect(await repair(platform, { says: 'found by hand' })).toMatchObject({ undo: expect.any(String) })
  expect(await find(1)).toContain('found by hand')
  expect(await find(2)).not.toContain('found by hand')

  const order = async (path: string, body?: string, type = 'application/json') => {
    const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': type }, body }
    return (await platform.ask(path, init)).text()
  }
  for (const [path, body, again, others] of [
    ['/orders?b=2&a=1', undefined, ['/orders?a=1&b=2', undefined], [['/orders?a=1', undefined]]],
    // It needs a key, for which nobody asked while the path was unknown.
    ['/v1/embeddings', '{"input":"a"}', ['/v1/embeddings', '{"input":"a"}'], [['/v1/embeddings', '{"input":"b"}']]],
    [
      '/orders',
      '{"a":1,"b":[2]}',
      ['/orders', '{"b":[2],"a":1}'],
      [
        ['/orders', '{"a":1,"b":[3]}'],
        ['/order', '{"a":1,"b":[2]}'],
      ],
    ],
  ] as const) {
    await order(path, body)
    await repair(platform, { as: 'json', says: '{"by":"hand"}' })
    expect(await order(again[0], again[1])).toBe('{"by":"hand"}')
    for (const [other, its] of others) expect(await order(other, its)).not.toContain('hand')
  }
})

test('where no rule can answer, it says why', async () => {
  const platform = await platformWith({ mcp })
  const reasons: (string | null | undefined)[] = []
  const asks: (() => Promise<Response>)[] = [
    () => platform.chat(hello, { headers: { authorization: 'Bearer sk-unknown' } }),
    () => platform.chat({ messages: 'none' }),
    () => platform.chat(says('standin:error-503')),
    () => platform.ask('/auth/v1/settings', { bearer: null, headers: { apikey: platform.anonKey } }),
    () => platform.ask('/orders/:id'),
    () => platform.ask('/orders', { method: 'OPTIONS' }),
    () =>
      platform.ask('/mcp', { method: 'POST', headers: json, body: '{"jsonrpc":"2.0","id":1,"method":"tools/call"}' }),
  ]
  for (const ask of asks) {
    await (await ask()).text()
    reasons.push((await offers(platform)).find(({ id }) => id === 'answer')?.refused)
  }
  expect(reasons).toEqual([
    expect.stringContaining('refused before any rule was asked'),
    expect.stringContaining('model is missing'),
    expect.stringContaining('magic word'),
    expect.stringContaining("Standin's own"),
    expect.stringContaining('begins with : or *'),
    expect.stringContaining('does not begin with one of'),
    expect.stringContaining('tools/call has no name'),
  ])
  const demanding = says('hello', { tools, tool_choice: 'required' })
  await platform.chat(demanding)
  expect(await repair(platform, { says: 'just words' })).toMatchObject({
    failed: expect.stringContaining('does not suit the request'),
  })
})

test('a key is offered where Standin itself refused one, and it works', async () => {
  const platform = await platformWith()
  await platform.chat(hello, { headers: { authorization: 'Bearer sk-unknown' } })
  const { key } = (await repair(platform, { id: 'key' })) as { key: string }
  expect((await platform.chat(hello, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  await platform.failNext({ status: 401 })
  expect((await platform.chat(hello)).status).toBe(401)
  expect((await offers(platform)).map(({ id }) => id)).not.toContain('key')
})
