/** Which requests belong to one run of an agent. */
import { expect, test } from 'vitest'
import { createRuns, type RunStep } from '../../src/journal/runs.js'
import { platformWith } from '../scene.js'

const step = (id: number, more: Partial<RunStep> = {}): RunStep => ({
  id,
  conversation: [],
  results: [],
  asked: [],
  ...more,
})
const asks = (id: string, name: string, given: object) => ({ asked: [{ id, name, arguments: given }] })
const runsOf = (steps: readonly RunStep[]) => {
  const runOf = createRuns().take
  return steps.map(runOf)
}

test('three interleaved agents of three steps each are told apart: over MCP, on a path, and by the ids of calls', () => {
  expect(
    runsOf([
      step(1, asks('call_a', 'find_order', { number: 'A-1042' })),
      step(2, asks('call_b', 'find_order', { number: 'B-7' })),
      step(3, asks('call_c', 'weather', { city: 'Oslo', days: 2 })),
      step(4, { call: { name: 'find_order', arguments: { number: 'B-7' } } }),
      step(5, { words: new Set(['weather', 'Oslo', '2']) }),
      step(6, { call: { name: 'find_order', arguments: { number: 'A-1042' } } }),
      step(7, { results: ['call_c'] }),
      step(8, { results: ['call_a'] }),
      step(9, { results: ['call_b'] }),
    ]),
  ).toEqual([1, 2, 3, 2, 3, 1, 3, 1, 2])
})

test('agents that ask for the same are told apart by the order of their calls, and by their conversations', () => {
  const [ada, bob] = ['"I am Ada"', '"I am Bob"']
  expect(
    runsOf([
      step(1, { conversation: [ada], ...asks('call_1', 'find', { n: 1 }) }),
      step(2, { conversation: [bob], ...asks('call_1', 'find', { n: 1 }) }),
      step(3, { call: { name: 'find', arguments: { n: 1 } } }),
      step(4, { call: { name: 'find', arguments: { n: 1 } } }),
      step(5, { conversation: [ada, '"…"', '"found"'], results: ['call_1'] }),
      step(6, { conversation: [bob, '"…"', '"found"'], results: ['call_1'] }),
    ]),
  ).toEqual([1, 2, 1, 2, 1, 2])
})

test('a request that nobody asked for is a run of its own', () => {
  expect(
    runsOf([
      step(1, asks('call_a', 'find', { n: 'x' })),
      step(2, { call: { name: 'find', arguments: { n: 'y' } } }),
      step(3, { words: new Set(['health']) }),
      step(4, { results: ['call_unknown'] }),
    ]),
  ).toEqual([1, 2, 3, 4])
})

test('the journal says to which run a chat, its tool on a path, and the answer belong', async () => {
  const order = { on: 'GET /orders/:number', reply: { json: { left: 'Monday' } } }
  const call = { name: 'find_order', arguments: { number: 'A-1042' } }
  const rules = [
    { when: { user: 'order' }, reply: { toolCalls: [call] } },
    { when: { toolResult: true }, reply: { text: 'It left on Monday.' }, priority: 1 },
    order,
  ]
  const platform = await platformWith({ rules: rules as never })
  const tools = [{ type: 'function', function: { name: 'find_order', parameters: { type: 'object' } } }]
  const asked = { role: 'user', content: 'Where is my order A-1042?' }
  for (const stream of [false, true]) {
    const answer = await platform.chat({ model: 'gpt-4o', tools, messages: [asked], stream } as never)
    const text = await answer.text()
    const id = /"id":"(call_[^"]+)"/.exec(text)?.[1] ?? ''
    await platform.ask('/health')
    await platform.ask('/orders/A-1042')
    const calls = [{ id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } }]
    const assistant = { role: 'assistant', content: null, tool_calls: calls }
    const result = { role: 'tool', tool_call_id: id, content: '{"left":"Monday"}' }
    await platform.chat({ model: 'gpt-4o', tools, messages: [asked, assistant, result] } as never)
  }
  const journal = (await (await platform.ask('/__standin/journal')).json()) as { data: { id: string; run: string }[] }
  expect(journal.data.map(({ run }) => run)).toEqual(['1', '2', '1', '1', '5', '6', '5', '5'])
})
