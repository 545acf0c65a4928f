/** Rules with a memory of their own for each caller or each conversation. */
import { expect, test } from 'vitest'
import type { Caller } from '../../src/core/exchange.js'
import { createMemory, createReplies, type RuleInput, rulesFromCode } from '../../src/replies/index.js'
import { textOf } from './replies.js'

const ada: Caller = { kind: 'user', id: '1' }
const bob: Caller = { kind: 'user', id: '2' }

interface Turn {
  readonly caller?: Caller
  readonly headers?: Record<string, string>
  readonly scope?: string
  readonly system?: string
}

async function scene(rules: readonly RuleInput[], holders?: number) {
  const loaded = await rulesFromCode(rules, process.cwd(), 0)
  const memory = createMemory(undefined, holders)
  const replies = createReplies({ ...loaded, seed: 0, strict: false, memory })
  const requestOf = (said: readonly string[], system?: string) => ({
    model: 'm',
    messages: [
      ...(system ? [{ role: 'system' as const, content: system }] : []),
      // What the model said in between makes no difference.
      ...said.flatMap((content, i) => [
        ...(i > 0 ? [{ role: 'assistant' as const, content: `${Math.random()}` }] : []),
        { role: 'user' as const, content },
      ]),
    ],
  })
  return {
    ...{ memory, replies, rules: loaded.rules, requestOf },
    /** The reply to these user messages; a dash stands for the canned reply. */
    async says(said: readonly string[], { system, ...turn }: Turn = {}) {
      const answer = await replies.answer(requestOf(said, system), turn)
      return answer.answeredBy.kind === 'canned' ? '-' : textOf(answer)
    },
  }
}

const counting = [{ text: 'one' }, { text: 'two' }]

test('per: caller counts separately for each caller', async () => {
  const { says, replies } = await scene([{ per: 'caller', replies: counting }])
  const heard = [
    await says(['a'], { caller: ada }),
    await says(['b'], { caller: bob }),
    await says(['c'], { caller: ada }),
    await says(['d']),
  ]
  expect(heard).toEqual(['one', 'one', 'two', 'one'])
  expect(replies.list()[0]?.answered).toBe(4)
})

test('per: conversation recognises a conversation by its first messages, however it continues', async () => {
  const { says } = await scene([{ per: 'conversation', reply: { text: '{{count}}' } }])
  expect(await says(['hi'])).toBe('1')
  expect(await says(['hi', 'and?'])).toBe('2')
  expect(await says(['hello'])).toBe('1')
  expect(await says(['hi'], { system: 'Make a title.' })).toBe('1')
  expect(await says(['hi'], { caller: ada })).toBe('1')
  expect(await says(['hi', 'and?', 'so?'])).toBe('3')
})

test('a header identifies the conversation, whatever its messages are', async () => {
  const { says } = await scene([{ per: 'conversation', reply: { text: '{{count}}' } }])
  const headers = { 'x-conversation-id': 'c1' }
  expect([await says(['a'], { headers }), await says(['b'], { headers })]).toEqual(['1', '2'])
  expect(await says(['a'], { headers: { 'x-conversation-id': 'c2' } })).toBe('1')
})

const order: readonly RuleInput[] = [
  {
    per: 'conversation',
    when: { user: 'pay' },
    scenario: { name: 'order', state: 'filled' },
    reply: { text: 'Paid.' },
  },
  {
    per: 'conversation',
    when: { user: 'add' },
    scenario: { name: 'order', next: 'filled' },
    reply: { text: 'Added.' },
  },
]

test('a scenario has a state of its own in each conversation', async () => {
  const { says, memory } = await scene(order)
  expect([await says(['add']), await says(['add', 'pay'])]).toEqual(['Added.', 'Paid.'])
  expect(await says(['hello', 'pay'])).toBe('-')
  memory.restartScenarios()
  expect(await says(['add', 'pay'])).toBe('-')
})

test('near misses say whose state it is', async () => {
  const { replies, requestOf, says } = await scene([...order, { per: 'caller', times: 1, reply: { text: 'x' } }])
  await says(['hi'])
  const { nearest, triedBefore } = replies.explain(requestOf(['pay']))
  expect(nearest()).toContain('scenario "order" is in state "start" for this conversation, not "filled"')
  expect(triedBefore().at(-1)?.reasons).toEqual(['it has answered once already for this caller'])
})

test('each scope has its own counts and can forget them, and the least recently used ones are dropped', async () => {
  const { says, memory } = await scene([{ per: 'caller', reply: { text: '{{count}}' } }], 2)
  const inA = { scope: 'a', caller: ada }
  expect([await says(['x'], inA), await says(['x'], { caller: ada }), await says(['x'], inA)]).toEqual(['1', '1', '2'])
  memory.forget('a')
  expect([await says(['x'], inA), await says(['x'], { caller: ada })]).toEqual(['1', '2'])
  expect(await says(['x'], { caller: bob })).toBe('1')
  expect(await says(['x'], inA)).toBe('1')
  memory.forget()
  expect(await says(['x'], { caller: bob })).toBe('1')
})
