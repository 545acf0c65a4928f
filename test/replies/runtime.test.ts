import { expect, test } from 'vitest'
import { inWords } from '../../src/core/exchange.js'
import { type ChatRuleInput, createMemory, createRulesAtRunTime, type RuleInput } from '../../src/replies/index.js'
import { exchangeWith } from '../exchanges.js'
import { cannotBeRead, eitherReply, isUnknown, lacks, mustBe, NEAREST, NO_RULES } from '../sentences.js'
import { asking, running } from './running.js'

const hi = (text: string, more: Partial<ChatRuleInput> = {}): RuleInput => ({
  when: { user: 'hi' },
  reply: { text },
  ...more,
})

test('a rule that is added stands before those that are there, the newest first', async () => {
  const { add, says } = await running([hi('from a file', { priority: 10 })])
  await add(hi('older'))
  await add(hi('newer', { times: 1 }))
  expect([await says('hi'), await says('hi')]).toEqual(['newer', 'older'])
})

test('several that are added together stand in their order, before those that came before', async () => {
  const { add, says } = await running()
  await add(hi('before'))
  await add([hi('one', { times: 1 }), hi('two', { times: 1 })])
  expect([await says('hi'), await says('hi'), await says('hi')]).toEqual(['one', 'two', 'before'])
})

test('however long each takes to be made ready, the order is that of the calls', async () => {
  const { add, says } = await running()
  await Promise.all([add(hi('slow {{faker.person.firstName}}')), add(hi('quick'))])
  expect(await says('hi')).toBe('quick')
})

test('a rule of a scope holds for that scope alone, and before those for everybody', async () => {
  const { add, says } = await running([hi('file')])
  await add(hi('mine'), 'a')
  await add(hi('ours'))
  expect([await says('hi', 'a'), await says('hi', 'b'), await says('hi')]).toEqual(['mine', 'ours', 'ours'])
})

test('among those that were added a higher priority is tried first', async () => {
  const { add, says } = await running()
  await add(hi('high', { priority: 5, times: 1 }))
  await add(hi('usual'))
  expect([await says('hi'), await says('hi')]).toEqual(['high', 'usual'])
})

test('what is in them works as in files: templates, sequences, scenarios, expressions', async () => {
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

test('among a thousand that were added the one that matches is found, and all of one scope at once', async () => {
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

test('one is removed by its id, and what stood behind it answers again', async () => {
  const { add, says, atRunTime } = await running([hi('file')])
  const [added] = await add(hi('new'), 'a')
  expect(await says('hi', 'a')).toBe('new')
  expect(atRunTime.remove({ id: added?.id, scope: 'b' })).toBe(0)
  expect(atRunTime.remove({ id: added?.id })).toBe(1)
  expect(atRunTime.remove({ id: added?.id })).toBe(0)
  expect(await says('hi', 'a')).toBe('file')
})

test('the log calls them by their name, or by the number in which they came', async () => {
  const { add, answer } = await running()
  await add(hi('x', { name: 'greeting', times: 1 }))
  await add({ when: { user: 'hi' }, replies: [{ text: 'a' }, { text: 'b' }], times: 1 })
  expect(inWords((await answer('hi')).answeredBy)).toBe('rule at run time #2 (1 of 2)')
  expect(inWords((await answer('hi')).answeredBy)).toBe('rule "greeting"')
})

test('the nearest rule may be one that was added, and of another scope it never is', async () => {
  const { add, answer, says } = await running([
    { name: 'far', when: { user: 'x', stream: true }, reply: { text: 'y' } },
  ])
  await add(hi('hello'), 'a')
  await add(hi('hello', { name: 'near', times: 1 }), 'b')
  await says('hi', 'b')
  const remarkOf = async (prompt: string, scope?: string) => (await answer(prompt, scope)).remark?.()
  expect(await remarkOf('ho', 'a')).toBe(`${NEAREST} rule at run time #1: ${lacks('user', 'hi')}.`)
  expect(await remarkOf('hi', 'b')).toBe(`${NEAREST} rule "near" (at run time #2): it has answered once already.`)
  expect(await remarkOf('ho')).toMatch(/nearest .*rule "far"/)
})

test('strict counts what was added, and says so when nothing is there', async () => {
  const { add, answer } = await running([], { strict: true })
  await expect(answer('hi')).rejects.toThrow(NO_RULES)
  await add(hi('hello'), 'a')
  await expect(answer('ho', 'a')).rejects.toThrow(`${NEAREST} rule at run time #1: ${lacks('user', 'hi')}.`)
  await expect(answer('ho')).rejects.toThrow(NO_RULES)
})

test('two that say something made up say the same whatever other tests have added', async () => {
  const name = { when: { user: 'who' }, reply: { text: '{{faker.person.fullName}}' } }
  const [alone, crowded] = [await running(), await running()]
  await alone.add(name, 'a')
  await crowded.add([hi('1'), hi('2')], 'b')
  await crowded.add(name, 'a')
  expect(await crowded.says('who', 'a')).toBe(await alone.says('who', 'a'))
})

test('an answer of the live platform suffers the fault of a rule that was added, in its scope', async () => {
  const { add, replies } = await running([hi('never fails')])
  await add({ when: { user: 'hi' }, reply: { fault: { status: 503 } }, times: 1 }, 'a')
  const faultOf = (scope: string, path = '/v1/chat/completions') =>
    replies.faultFor(exchangeWith({ path, scope, body: Buffer.from(JSON.stringify(asking('hi'))) }))
  expect(await faultOf('b')).toBeUndefined()
  expect(await faultOf('a')).toEqual({ status: 503 })
  expect(await faultOf('a')).toBeUndefined()
})

test('the list says where each rule is from and how often it has answered, in a scope or in all', async () => {
  const { add, says, replies } = await running([
    { name: 'plain', when: { user: 'yo' }, reply: { text: 'yo' } },
    { name: 'second', when: { user: 'ho' }, reply: { text: 'ho' }, times: 9, priority: 1 },
  ])
  await add(hi('mine', { name: 'mine' }), 'a')
  await add(hi('ours'))
  for (const scope of ['a', 'a', 'b', '']) await says('hi', scope)
  for (const scope of ['a', 'b']) await says('ho', scope)
  const told = (scope?: string) => replies.list(scope).map(({ rule, ...about }) => about)
  const still = { enabled: true, moves: [], file: null }
  const mine = { id: 'rule-1', title: 'rule "mine"', place: 'at run time #1', scope: 'a', ...still }
  const ours = { id: 'rule-2', title: 'rule at run time #2', place: 'at run time #2', scope: null, ...still }
  const second = { id: null, title: 'rule "second"', place: 'rules[1]', scope: null, ...still }
  const plain = { id: null, title: 'rule "plain"', place: 'rules[0]', scope: null, ...still, answered: 0 }
  expect(told()).toEqual([{ ...mine, answered: 2 }, { ...ours, answered: 2 }, { ...second, answered: 2 }, plain])
  expect(told('a')).toEqual([{ ...mine, answered: 2 }, { ...ours, answered: 0 }, { ...second, answered: 1 }, plain])
  expect(told('b')).toEqual([{ ...ours, answered: 1 }, { ...second, answered: 1 }, plain])
  expect(replies.list('a')[0]?.rule).toMatchObject({ when: { user: 'hi' }, reply: { text: 'mine' } })
})

test.each<[unknown, string]>([
  [{ reply: { text: 5 } }, mustBe('reply.text', 'text', 5)],
  [{ when: { usr: 'x' }, reply: { text: 'y' } }, `when.usr ${isUnknown('user')}`],
  [{}, eitherReply('the rule')],
  [{ reply: { text: '{{ user' } }, expect.stringMatching(/^reply\.text: /) as never],
  [{ reply: { file: 'nowhere.md' } }, `reply.file: nowhere.md ${cannotBeRead()}`],
  [[hi('good'), { reply: {} }], expect.stringMatching(/^\[1\]\.reply says nothing\./) as never],
  [[hi('good'), { reply: { text: '{{ user' } }], expect.stringMatching(/^\[1\]\.reply\.text: /) as never],
])('what is wrong with a rule is told by its field, and nothing is added: %j', async (rule, sentence) => {
  const { add, atRunTime } = await running()
  const error = await add(rule as RuleInput).catch(error => error)
  expect(error.problems?.map((problem: { sentence: string }) => problem.sentence)).toEqual([sentence])
  expect(atRunTime.all()).toEqual([])
})

test('no more are kept than may be, in all scopes together, and there is room again for those that are removed', async () => {
  const atRunTime = createRulesAtRunTime(createMemory(), { most: 3 })
  const add = (count: number, scope?: string) =>
    atRunTime.add(Array(count).fill(hi('x')), { scope, dir: undefined, seed: 0 })
  await add(1)
  await add(2, 'a')
  await expect(add(1, 'b')).rejects.toMatchObject({
    status: 409,
    message: expect.stringMatching(/^No more than 3 rules/),
  })
  expect(atRunTime.all()).toHaveLength(3)
  atRunTime.remove({ scope: 'a' })
  await add(2, 'b')
  expect(atRunTime.all()).toHaveLength(3)
})
