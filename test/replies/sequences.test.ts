// biome-ignore-all lint/suspicious/noThenProperty: it is what rules call it, and rules are never awaited.

import { expect, test } from 'vitest'
import type { ChatRequest } from '../../src/chat/request.js'
import { sourceInWords } from '../../src/core/reply.js'
import type { RuleInput } from '../../src/replies/index.js'
import { eitherReply, isUnknown, lacks, mustBe, NEAREST, NO_RULE, NO_RULES, ONLY_RULE, oneOf } from '../sentences.js'
import { repliesOf, textOf } from './replies.js'

const requestFor = (content: string, more: object = {}): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
})

/** The replies to one prompt after the other; a dash stands for the canned reply. */
async function dialogue(rules: readonly RuleInput[], prompts: readonly string[]) {
  const replies = await repliesOf(rules)
  const said: (string | null | undefined)[] = []
  for (const prompt of prompts) {
    const answer = await replies.answer(requestFor(prompt))
    said.push(answer.answeredBy.kind === 'canned' ? '-' : textOf(answer))
  }
  return said.join(' ')
}

const counting = [{ text: 'one' }, { text: 'two' }, { text: 'three' }]
const count = Array(5).fill('count')

test.each([
  ['repeat-last', 'one two three three three'],
  ['cycle', 'one two three one two'],
  ['miss', 'one two three - -'],
] as const)('a sequence of replies continues as then says: %s', async (then, expected) => {
  expect(await dialogue([{ when: { user: 'count' }, replies: counting, ...(then && { then }) }], count)).toBe(expected)
})

test('a reply of a sequence can be a fault', async () => {
  const replies = await repliesOf([
    { replies: [{ text: 'one' }, { fault: { status: 429, message: 'slow down', retryAfter: 3 } }], then: 'cycle' },
  ])
  const faults = [1, 2, 3].map(async () => (await replies.answer(requestFor('x'))).fault)
  expect(await Promise.all(faults)).toEqual([
    undefined,
    { status: 429, message: 'slow down', retryAfter: 3 },
    undefined,
  ])
})

test('the log says which reply of the sequence it was', async () => {
  const replies = await repliesOf([{ name: 'flaky', replies: counting }])
  expect(sourceInWords((await replies.answer(requestFor('x'))).answeredBy)).toBe('rule "flaky" (1 of 3)')
  expect(sourceInWords((await replies.answer(requestFor('x'))).answeredBy)).toBe('rule "flaky" (2 of 3)')
})

test('concurrent requests get each reply of a sequence once', async () => {
  const texts = Array.from({ length: 50 }, (_, i) => String(i))
  const replies = await repliesOf([{ replies: texts.map(text => ({ text })), then: 'miss' }])
  const said = await Promise.all(texts.map(async () => textOf(await replies.answer(requestFor('x')))))
  expect(said.toSorted()).toEqual(texts.toSorted())
})

test('a rule with times answers that often, then the next one does', async () => {
  const rules = [
    { when: { user: 'hi' }, reply: { text: 'welcome' }, times: 2 },
    { when: { user: 'hi' }, reply: { text: 'again?' } },
  ]
  expect(await dialogue(rules, ['hi', 'hi', 'bye', 'hi', 'hi'])).toBe('welcome welcome - again? again?')
})

test('rules of a higher priority are tried first, equal ones in their order', async () => {
  const say = (text: string, priority?: number) => ({
    reply: { text },
    ...(priority !== undefined && { priority }),
    times: 1,
  })
  const rules = [say('c'), say('e', -1), say('a', 10), say('b', 10), say('d')]
  expect(await dialogue(rules, Array(6).fill('x'))).toBe('a b c d e -')
})

test('a scenario moves from state to state, and rules answer only in their own state', async () => {
  const rules = [
    { when: { user: 'pay' }, scenario: { name: 'order', state: 'filled', next: 'paid' }, reply: { text: 'Paid.' } },
    { when: { user: 'add' }, scenario: { name: 'order', state: 'start', next: 'filled' }, reply: { text: 'Added.' } },
    { when: { user: 'add' }, scenario: { name: 'order', state: 'filled' }, reply: { text: 'More.' } },
    { when: { user: 'add' }, reply: { text: 'Closed.' } },
    { when: { user: 'again' }, scenario: { name: 'order', next: 'start' }, reply: { text: 'Anew.' } },
    { when: { user: 'other' }, scenario: { name: 'other', state: 'start' }, reply: { text: 'Mine.' } },
  ]
  const prompts = ['pay', 'add', 'add', 'pay', 'pay', 'add', 'other', 'again', 'add']
  expect(await dialogue(rules, prompts)).toBe('- Added. More. Paid. - Closed. Mine. Anew. Added.')
})

const tools = [
  { type: 'function', function: { name: 'get_weather' } },
  { type: 'function', function: { name: 'get_time' } },
]
const named = (name: string) => ({ type: 'function', function: { name } })

test.each([
  ['required', 'call'],
  [named('get_weather'), 'call'],
  ['none', 'words'],
])('tool_choice %j is respected: the rule "%s" answers', async (tool_choice, expected) => {
  const replies = await repliesOf([
    { name: 'call', when: { user: 'weather' }, reply: { toolCalls: [{ name: 'get_weather' }] } },
    { name: 'words', when: { user: 'weather' }, reply: { text: 'It rains.' } },
  ])
  const answer = await replies.answer(requestFor('weather', { tools, tool_choice }))
  expect(sourceInWords(answer.answeredBy)).toBe(`rule "${expected}"`)
})

test.each([
  ['required', 'tool_choice is required, and it calls no tool'],
  [named('get_time'), 'tool_choice asks for get_time, which it does not call'],
])('a rule without a tool call is passed over with tool_choice %j, with the reason', async (tool_choice, why) => {
  const replies = await repliesOf([{ name: 'words', reply: { text: 'It rains.' } }])
  expect(replies.explain(requestFor('x', { tools, tool_choice })).triedBefore()).toEqual([
    { rule: expect.objectContaining({ title: 'rule "words"' }), reasons: [why] },
  ])
})

test('a rule may always refuse or fail, whatever tool_choice says', async () => {
  const request = requestFor('x', { tools, tool_choice: 'required' })
  expect(sourceInWords((await (await repliesOf([{ reply: { refusal: 'No.' } }])).answer(request)).answeredBy)).toBe(
    'rule "rules[0]"',
  )
  expect(
    sourceInWords((await (await repliesOf([{ reply: { fault: { status: 500 } } }])).answer(request)).answeredBy),
  ).toBe('rule "rules[0]"')
})

test('strict refuses a request that no rule answers, and names the nearest rule and what differs', async () => {
  const replies = await repliesOf(
    [
      { name: 'greet', when: { user: 'hello' }, reply: { text: 'Hi.' } },
      { name: 'weather', when: { user: 'weather', stream: true }, reply: { text: 'Rain.' } },
    ],
    { strict: true },
  )
  expect(() => replies.answer(requestFor('the weather?'))).toThrow(
    expect.objectContaining({
      status: 424,
      message: `${NO_RULE} ${NEAREST} rule "weather" (rules[1]): stream is not true.`,
    }),
  )
})

test.each([
  [{ times: 1, reply: { text: 'x' } }, 'it has answered once already'],
  [{ then: 'miss' as const, replies: [{ text: 'x' }] }, 'it has answered once already'],
  [
    { scenario: { name: 's', state: 'start', next: 'over' }, reply: { text: 'x' } },
    'scenario "s" is in state "over", not "start"',
  ],
])('strict says why a matching rule does not answer: %j', async (rule, why) => {
  const replies = await repliesOf([rule], { strict: true })
  await replies.answer(requestFor('x'))
  expect(() => replies.answer(requestFor('x'))).toThrow(`${NEAREST} rule "rules[0]": ${why}.`)
})

test('strict without any rules says that there are none', async () => {
  const replies = await repliesOf([], { strict: true })
  expect(() => replies.answer(requestFor('x'))).toThrow(NO_RULES)
})

test('the remark on a canned reply names the nearest rule, if something is near', async () => {
  const hours = { name: 'hours', when: { user: 'opening hours' }, reply: { text: 'Nine to five.' } }
  const both = { name: 'both', when: { user: 'refund', stream: false }, reply: { text: 'No.' } }
  const other = { name: 'other', when: { user: 'bye' }, reply: { text: 'Bye.' } }
  const remarkOn = async (prompt: string, rules: readonly RuleInput[]) =>
    (await (await repliesOf(rules)).answer(requestFor(prompt))).remark?.()
  const lacking = `rule "hours" (rules[1]): ${lacks('user', 'opening hours')}.`
  expect(await remarkOn('Your hours, please?', [other, hours])).toBe(`${NEAREST} ${lacking}`)
  expect(await remarkOn('Help!', [other, both])).toBe(`${NEAREST} rule "both" (rules[1]): ${lacks('user', 'refund')}.`)
  expect(await remarkOn('Help!', [other, hours])).toBe('None of the 2 rules for such requests is near.')
  // Both want no tool result, so neither is nearer.
  const tools = [both, other].map(rule => ({ ...rule, when: { user: rule.name, toolResult: false } }))
  expect(await remarkOn('Help!', tools)).toBe('None of the 2 rules for such requests is near.')
  expect(await remarkOn('Help!', [other])).toBe(`${ONLY_RULE} rule "other" (rules[0]): ${lacks('user', 'bye')}.`)
})

test.each<[object, string]>([
  [{ reply: {} }, '[0].reply is empty. It must have text, file, json, toolCalls, refusal, choices or a fault.'],
  [{ reply: { text: 'a', json: 1 } }, '[0].reply has more than one of text, file and json.'],
  [
    { reply: { choices: [{ text: 'a' }], text: 'b' } },
    '[0].reply has choices, and next to them a field that belongs in a choice.',
  ],
  [
    { reply: { toolCalls: [{ name: 'a', args: {} }] } },
    expect.stringContaining(`toolCalls[0].args ${isUnknown()}`) as never,
  ],
  [{ reply: { fault: { statis: 500 } } }, `[0].reply.fault.statis ${isUnknown('status')}`],
  [{ reply: { text: 'a' }, replies: [{ text: 'b' }] }, eitherReply('[0]')],
  [{ reply: { text: 'a' }, then: 'cycle' }, '[0] has then, which is only allowed with replies.'],
  [{ replies: [{ text: 'a' }], then: 'loop' }, mustBe('[0].then', oneOf('repeat-last', 'cycle', 'miss'), 'loop')],
])('an invalid rule is an error: %j', async (rule, sentence) => {
  const error = await repliesOf([rule as RuleInput]).catch(error => error)
  expect(error.problems?.map((problem: { sentence: string }) => problem.sentence)).toEqual([sentence])
})
