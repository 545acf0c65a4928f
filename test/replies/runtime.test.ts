import { expect, test } from 'vitest'
import { sourceInWords } from '../../src/core/reply.js'
import { type ChatRuleInput, type RuleInput, RulesAtRunTime } from '../../src/replies/index.js'
import { lacks, mustBe, NEAREST, NO_RULES, ONLY_RULE } from '../sentences.js'
import { running } from './running.js'

const hi = (text: string, more: Partial<ChatRuleInput> = {}): RuleInput => ({
  when: { user: 'hi' },
  reply: { text },
  ...more,
})

test('an added rule is tried before the existing ones, the newest first', async () => {
  const { add, says } = await running([hi('from a file', { priority: 10 })])
  await add(hi('older'))
  await add(hi('newer', { times: 1 }))
  expect([await says('hi'), await says('hi')]).toEqual(['newer', 'older'])
})

test('a rule of a scope applies to that scope alone, and before the rules for all scopes', async () => {
  const { add, says } = await running([hi('file')])
  await add(hi('mine'), 'a')
  await add(hi('ours'))
  expect([await says('hi', 'a'), await says('hi', 'b'), await says('hi')]).toEqual(['mine', 'ours', 'ours'])
})

test('templates, sequences, scenarios and expressions work in added rules as in files', async () => {
  const { add, says } = await running([
    { when: { user: 'pay' }, scenario: { name: 'order', state: 'filled' }, reply: { text: 'Paid.' } },
  ])
  await add({ when: { user: /^hello (\w+)/i }, reply: { text: 'Hi {{match[1]}}, number {{count}}' } })
  await add({ when: { user: 'add' }, scenario: { name: 'order', next: 'filled' }, reply: { text: 'Added.' } })
  await add({ when: { user: 'count' }, replies: [{ text: 'one' }, { text: 'two' }] })
  const heard = []
  for (const prompt of ['pay', 'add', 'pay', 'count', 'count', 'Hello Ada', 'hello Bob']) heard.push(await says(prompt))
  expect(heard).toEqual(['-', 'Added.', 'Paid.', 'one', 'two', 'Hi Ada, number 1', 'Hi Bob, number 2'])
})

test('the matching one of a thousand added rules is found, and all rules of a scope are removed at once', async () => {
  const { add, says, atRunTime } = await running()
  await add(
    Array.from({ length: 1000 }, (_, i) => ({ when: { user: `topic-${i}.` }, reply: { text: String(i) } })),
    'a',
  )
  expect([await says('topic-7.', 'a'), await says('topic-999.', 'a'), await says('topic-7.')]).toEqual([
    '7',
    '999',
    '-',
  ])
  expect(atRunTime.remove({ scope: 'a' })).toBe(1000)
  expect(await says('topic-7.', 'a')).toBe('-')
})

test('a rule is removed by its id, and the one behind it answers again', async () => {
  const { add, says, atRunTime } = await running([hi('file')])
  const [added] = await add(hi('new'), 'a')
  expect(await says('hi', 'a')).toBe('new')
  expect(atRunTime.remove({ id: added?.id, scope: 'b' })).toBe(0)
  expect(atRunTime.remove({ id: added?.id })).toBe(1)
  expect(atRunTime.remove({ id: added?.id })).toBe(0)
  expect(await says('hi', 'a')).toBe('file')
})

test('the log identifies added rules by their name or their number', async () => {
  const { add, answer } = await running()
  await add(hi('x', { name: 'greeting', times: 1 }))
  await add({ when: { user: 'hi' }, replies: [{ text: 'a' }, { text: 'b' }], times: 1 })
  expect(sourceInWords((await answer('hi')).answeredBy)).toBe('rule at run time #2 (1 of 2)')
  expect(sourceInWords((await answer('hi')).answeredBy)).toBe('rule "greeting"')
})

test('the nearest rule may be an added one, but never one of another scope', async () => {
  const { add, answer, says } = await running([
    { name: 'far', when: { user: 'x', stream: true }, reply: { text: 'y' } },
  ])
  await add(hi('hello'), 'a')
  await add(hi('hello', { name: 'near', times: 1 }), 'b')
  await says('hi', 'b')
  const remarkOf = async (prompt: string, scope?: string) => (await answer(prompt, scope)).remark?.()
  expect(await remarkOf('ho', 'a')).toBe('None of the 2 rules for such requests is near.')
  expect(await remarkOf('hi', 'b')).toBe(`${NEAREST} rule "near" (at run time #2): it has answered once already.`)
  expect(await remarkOf('ho')).toMatch(/^The only rule .*rule "far"/)
})

test('strict takes added rules into account, and says so if there are none', async () => {
  const { add, answer } = await running([], { strict: true })
  await expect(answer('hi')).rejects.toThrow(NO_RULES)
  await add(hi('hello'), 'a')
  await expect(answer('ho', 'a')).rejects.toThrow(`${ONLY_RULE} rule at run time #1: ${lacks('user', 'hi')}.`)
  await expect(answer('ho')).rejects.toThrow(NO_RULES)
})

test('the list shows where each rule is from and how often it has answered, in a scope or in total', async () => {
  const { add, says, replies } = await running([
    { name: 'plain', when: { user: 'yo' }, reply: { text: 'yo' } },
    { name: 'second', when: { user: 'ho' }, reply: { text: 'ho' }, times: 9, priority: 1 },
  ])
  await add(hi('mine', { name: 'mine' }), 'a')
  await add(hi('ours'))
  for (const scope of ['a', 'a', 'b', '']) await says('hi', scope)
  for (const scope of ['a', 'b']) await says('ho', scope)
  const listed = (scope?: string) => replies.list(scope).map(({ rule, ...about }) => about)
  const still = { enabled: true, file: null }
  const mine = { id: 'rule-1', title: 'rule "mine"', place: 'at run time #1', scope: 'a', ...still }
  const ours = { id: 'rule-2', title: 'rule at run time #2', place: 'at run time #2', scope: null, ...still }
  const second = { id: null, title: 'rule "second"', place: 'rules[1]', scope: null, ...still }
  const plain = { id: null, title: 'rule "plain"', place: 'rules[0]', scope: null, ...still, answered: 0 }
  expect(listed()).toEqual([{ ...mine, answered: 2 }, { ...ours, answered: 2 }, { ...second, answered: 2 }, plain])
  expect(listed('a')).toEqual([{ ...mine, answered: 2 }, { ...ours, answered: 0 }, { ...second, answered: 1 }, plain])
  expect(listed('b')).toEqual([{ ...ours, answered: 1 }, { ...second, answered: 1 }, plain])
  expect(replies.list('a')[0]?.rule).toMatchObject({ when: { user: 'hi' }, reply: { text: 'mine' } })
})

test.each<[unknown, string]>([
  [{ reply: { text: 5 } }, mustBe('reply.text', 'a string', 5)],
  [{ reply: { text: '{{ user' } }, expect.stringMatching(/^reply\.text: /) as never],
  [[hi('good'), { reply: { text: '{{ user' } }], expect.stringMatching(/^\[1\]\.reply\.text: /) as never],
])('a mistake in a rule is reported with its field, and nothing is added: %j', async (rule, sentence) => {
  const { add, atRunTime } = await running()
  const error = await add(rule as RuleInput).catch(error => error)
  expect(error.problems?.map((problem: { sentence: string }) => problem.sentence)).toEqual([sentence])
  expect(atRunTime.all()).toEqual([])
})

test('the limit on added rules covers all scopes together, and removed rules make room again', async () => {
  const atRunTime = new RulesAtRunTime({ most: 3 })
  const add = (count: number, scope?: string) =>
    atRunTime.add(Array(count).fill(hi('x')), { scope, dir: undefined, seed: 0 })
  await add(1)
  await add(2, 'a')
  await expect(add(1, 'b')).rejects.toMatchObject({
    status: 409,
    message: expect.stringMatching(/^At most 3 rules/),
  })
  expect(atRunTime.all()).toHaveLength(3)
  atRunTime.remove({ scope: 'a' })
  await add(2, 'b')
  expect(atRunTime.all()).toHaveLength(3)
})
