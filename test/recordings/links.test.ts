import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoized } from '../../src/core/work.js'
import { ignoreFrom } from '../../src/recordings/ignore.js'
import { requestKey } from '../../src/recordings/key.js'
import { writeInto } from '../command.js'
import { hello, type platformWith } from '../scene.js'
import { liveWith, tape } from './live.js'
import { asking } from './scene.js'

/** How tool calls and their results are written for an endpoint. */
interface Dialect {
  readonly path: string
  readonly turn: (ids: readonly string[]) => readonly object[]
  readonly result: (id: string, text: string) => object
  readonly list: string
}

const dialects: readonly Dialect[] = [
  {
    path: '/v1/chat/completions',
    list: 'messages',
    turn: ids => [
      { role: 'assistant', tool_calls: ids.map(id => ({ id, type: 'function', function: { name: 'find' } })) },
    ],
    result: (id, content) => ({ role: 'tool', tool_call_id: id, content }),
  },
  {
    path: '/v1/responses',
    list: 'input',
    turn: ids => ids.map(id => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'find', arguments: '{}' })),
    result: (id, output) => ({ type: 'function_call_output', call_id: id, output }),
  },
  {
    path: '/v1/messages',
    list: 'messages',
    turn: ids => [{ role: 'assistant', content: ids.map(id => ({ type: 'tool_use', id, name: 'find' })) }],
    result: (id, content) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] }),
  },
]

/** Turns of a few parallel calls, whose results come in any order. */
const conversations = fc.array(
  fc.integer({ min: 1, max: 4 }).chain(calls => fc.shuffledSubarray([...Array(calls).keys()], { minLength: calls })),
  { minLength: 1, maxLength: 4 },
)

/** The key of a conversation whose calls have the ids that `idOf` gives them. `linkOf` says which call a result names. */
function keyOf(
  { path, list, turn, result }: Dialect,
  turns: readonly (readonly number[])[],
  idOf: (call: string) => string,
  linkOf = (turn: number, call: number) => `${turn}.${call}`,
) {
  const items = turns.flatMap((order, t) => [
    ...turn(order.map((_, call) => idOf(`${t}.${call}`))),
    ...order.map(call => result(idOf(linkOf(t, call)), `the result of ${t}.${call}`)),
  ])
  const request = asking({ model: 'm', [list]: [{ role: 'user', content: 'Hi' }, ...items] }, { path })
  return requestKey(request, ignoreFrom(['ids', 'uuids']))
}

/** Gives each call an id of its own. */
const randomIds = () => memoized((_call: string) => `call_${randomUUID()}`)

test.each(dialects)('random ids of tool calls do not change the key of a request to $path', dialect => {
  fc.assert(
    fc.property(conversations, turns => {
      expect(keyOf(dialect, turns, randomIds())).toBe(keyOf(dialect, turns, randomIds()))
    }),
  )
})

test.each(dialects)('a result that names another call is another request to $path, whatever is ignored', dialect => {
  const scene = conversations.chain(turns => fc.tuple(fc.constant(turns), fc.nat({ max: turns.length - 1 }), fc.nat()))
  fc.assert(
    fc.property(scene, ([turns, turn, random]) => {
      const calls = turns[turn]?.length ?? 0
      fc.pre(calls > 1)
      const call = random % calls
      const relinked = (t: number, c: number) => `${t}.${t === turn && c === call ? (c + 1) % calls : c}`
      expect(keyOf(dialect, turns, randomIds(), relinked)).not.toBe(keyOf(dialect, turns, randomIds()))
    }),
  )
})

test('ids that start again with each turn count like random ones, and the ids of other things as they are', () => {
  const [chat, responses] = dialects as [Dialect, Dialect]
  const turns = [[0, 1], [1, 0], [0]]
  expect(keyOf(chat, turns, call => `call_${call.slice(2)}`)).toBe(keyOf(chat, turns, randomIds()))
  const key = (body: object, path = responses.path) => requestKey(asking(body, { path }), ignoreFrom([]))
  const reference = (id: string) => ({ input: [{ type: 'item_reference', id }] })
  expect(key(reference('rs_1'))).not.toBe(key(reference('rs_2')))
  const output = (id: string) => ({ input: [{ type: 'function_call_output', call_id: id, output: '1' }] })
  expect(key(output('call_1'))).not.toBe(key(output('call_2')))
  expect(key({ previous_response_id: 'resp_1' })).not.toBe(key({ previous_response_id: 'resp_2' }))
  expect(key({ call_id: '1' }, '/v1/calls')).not.toBe(key({ call_id: '2' }, '/v1/calls'))
  expect(key({ input: [{ id: '1' }] }, '/v1/orders')).not.toBe(key({ input: [{ id: '2' }] }, '/v1/orders'))
})

/** Asks for one tool call, answers it, and returns the answer to that. */
async function runLoop(chat: Awaited<ReturnType<typeof platformWith>>['chat']) {
  const { choices } = (await (await chat(hello)).json()) as { choices: [{ message: { tool_calls: [{ id: string }] } }] }
  const [{ message }] = choices
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: '12' }
  return chat({ ...hello, messages: [...hello.messages, message, result] })
}

const calling = (id: string) => ({
  choices: [{ message: { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'find' } }] } }],
})

test('a tool loop that is recorded three times leaves as many files as one that is recorded once', async () => {
  const live = await liveWith((_request, response) => {
    const isFirst = !live.seen.at(-1)?.body.includes('tool_call_id')
    const answer = isFirst ? calling(randomUUID()) : { choices: [{ message: { role: 'assistant', content: 'Done.' } }] }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  const { recording, replaying, files } = tape(live.url)
  for (let day = 1; day <= 3; day++) {
    const { chat, stop } = await recording()
    await (await runLoop(chat)).text()
    await stop()
  }
  expect(files()).toHaveLength(2)
  const { chat } = await replaying()
  expect(await (await runLoop(chat)).text()).toContain('Done.')
})

test('recordings of earlier versions are found by the ids in them, among any number of others', async () => {
  const messages = [
    ...hello.messages,
    {
      role: 'assistant',
      tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'find', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_a', content: '12' },
  ]
  const old = (content: string) =>
    JSON.stringify({
      request: {
        ...{ method: 'POST', path: '/v1/chat/completions' },
        body: { json: { ...hello, messages: [...messages.slice(0, 2), { ...messages[2], content }] } },
      },
      response: { status: 200, headers: { 'content-type': 'application/json' }, body: { json: { content } } },
    })
  const { dir, replaying } = tape()
  const others = Array.from({ length: 120 }, (_, i) => [
    `chat-completions/gpt-4o-mini-hello-${String(i).padStart(12, '0')}.yaml`,
    old(`${i} and more`),
  ])
  writeInto(dir, { ...Object.fromEntries(others), 'chat-completions/gpt-4o-mini-hello-9551b3963ddb.yaml': old('12') })
  const { chat } = await replaying()
  expect(await (await chat({ ...hello, messages })).json()).toEqual({ content: '12' })
})
