// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what the tests are about

import { expect, test } from 'vitest'
import type { ChatRequest } from '../../src/chat/request.js'
import { ProblemsError } from '../../src/check/problem.js'
import type { RuleInput } from '../../src/replies/index.js'
import { isUnknown, mustBe, validPattern } from '../sentences.js'
import { repliesOf, textOf } from './replies.js'

type Message = ChatRequest['messages'][number]
const user = (content: Message['content']): Message => ({ role: 'user', content })

interface Question {
  readonly rules: readonly RuleInput[]
  readonly model?: string
  readonly messages: Message[]
}

/** The answer of a model with these rules. */
const answerTo = async ({ rules, model = 'gpt-4o-mini', messages }: Question) =>
  (await repliesOf(rules)).answer({ model, messages })

const isMatched = async (when: RuleInput['when'], question: Omit<Question, 'rules'>) =>
  textOf(await answerTo({ rules: [{ when, reply: { text: 'yes' } }], ...question })) === 'yes'

test.each([
  ['hello', 'hello', true],
  ['hello', 'well, hello there', true],
  ['hello', 'Hello', false],
  ['a.c', 'abc', false],
  ['/a.c/', 'abc', true],
  ['/^hello/', 'well, hello', false],
  ['/^hello/i', 'Hello', true],
  ['/^b$/m', 'a\nb\nc', true],
  ['/a.c/s', 'a\nc', true],
  ['/\\p{Lu}/u', 'straße Ä', true],
  ['/a/b/', 'a/b', true],
  ['/usr', 'cd /usr', true],
  ['//', 'http://a.test', true],
  ['${NAME} {{ name }} $1 [a-z]+ %s', 'say ${NAME} {{ name }} $1 [a-z]+ %s!', true],
  ['*', 'anything', false],
])('the user condition %s and the prompt %j: %s', async (written, said, expected) => {
  expect(await isMatched({ user: written }, { messages: [user(said)] })).toBe(expected)
})

test.each(['/hello/g', '/HELLO/gi'])('%s matches every time, not every other time', async written => {
  const replies = await repliesOf([{ when: { user: written }, reply: { text: 'yes' } }])
  const ask = () => replies.answer({ model: 'm', messages: [user('hello hello')] })
  const answers = await Promise.all([ask(), ask(), ask()])
  expect(answers.map(textOf)).toEqual(['yes', 'yes', 'yes'])
})

test.each([
  ['gpt-4o', 'gpt-4o', true],
  ['gpt-4o', 'gpt-4o-mini', false],
  ['gpt-*', 'gpt-4o-mini', true],
  ['*-mini', 'gpt-4o-mini', true],
  ['*', 'meta/llama-3.3', true],
  ['meta/*', 'meta/llama/3.3', true],
  ['llama-3.3-70b', 'llama-3x3-70b', false],
  ['gpt-4?', 'gpt-4o', true],
  ['a(b)[c]{d}|e+$', 'a(b)[c]{d}|e+$', true],
  ['GPT-4o', 'gpt-4o', false],
])('the model condition %s and the model %s: %s', async (written, model, expected) => {
  expect(await isMatched({ model: written }, { model, messages: [user('hello')] })).toBe(expected)
})

test('all conditions of a rule must hold', async () => {
  const when = { user: 'hello', model: 'gpt-*' }
  expect(await isMatched(when, { model: 'gpt-4o', messages: [user('hello')] })).toBe(true)
  expect(await isMatched(when, { model: 'llama', messages: [user('hello')] })).toBe(false)
  expect(await isMatched(when, { model: 'gpt-4o', messages: [user('bye')] })).toBe(false)
})

test.each([undefined, null, {}])('a rule with the conditions %o always matches', async when => {
  expect(await isMatched(when, { messages: [user('whatever')] })).toBe(true)
  expect(await isMatched(when, { messages: [{ role: 'system', content: 'no user at all' }] })).toBe(true)
})

test('the first rule that matches answers', async () => {
  const rules = [
    { when: { user: 'nothing of the kind' }, reply: { text: 'never' } },
    { when: { user: 'hello' }, reply: { text: 'first' } },
    { when: { user: '/hello/' }, reply: { text: 'second' } },
    { reply: { text: 'last' } },
  ]
  expect(textOf(await answerTo({ rules, messages: [user('hello')] }))).toBe('first')
  expect(textOf(await answerTo({ rules, messages: [user('bye')] }))).toBe('last')
})

test('the text of a message in parts is that of its parts, line by line', async () => {
  const image = { type: 'image_url', image_url: { url: 'https://a.test/refund.png' } }
  const messages = [user([{ type: 'text', text: 'one' }, image, { type: 'text', text: 'two' }])]
  expect(await isMatched({ user: '/^one$\\n^two$/m' }, { messages })).toBe(true)
  expect(await isMatched({ user: 'refund' }, { messages })).toBe(false)
})

test('the text of a rule is returned to the letter', async () => {
  const text = '${HOME} { user } <%= 1 %> $& \\n \u0000 "quoted"\n\ttabbed \u{1F600}\n'
  expect(textOf(await answerTo({ rules: [{ reply: { text } }], messages: [user('hello')] }))).toBe(text)
})

test('if no rule matches the reply is canned, and the same for the same prompt', async () => {
  const rules = [{ when: { user: 'hello' }, reply: { text: 'Hi!' } }]
  const [first, again, other] = await Promise.all(
    ['why?', 'why?', 'why not?'].map(text => answerTo({ rules, messages: [user(text)] })),
  )
  expect(first).toMatchObject({
    choices: [{ text: expect.stringMatching(/\w/) }],
    answeredBy: { kind: 'canned', form: 'reply' },
  })
  expect(again?.choices).toEqual(first?.choices)
  expect(other?.choices).not.toEqual(first?.choices)
})

test('a rule has a pace of its own', async () => {
  const pace = { firstTokenMs: 7, tokensPerSecond: 5 }
  const rules = [{ when: { user: 'slow' }, reply: { text: 'x' }, pace }, { reply: { text: 'y' } }]
  expect((await answerTo({ rules, messages: [user('slow')] })).pace).toEqual(pace)
  expect((await answerTo({ rules, messages: [user('quick')] })).pace).toBeUndefined()
})

test.each([
  [[{ when: { usr: 'x' }, reply: { text: 'y' } }], `[0].when.usr ${isUnknown('user')}`],
  [[{ reply: { text: 'y' } }, {}], '[1] must have either reply or replies.'],
  [
    [{ when: { user: '/(/' }, reply: { text: 'y' } }],
    mustBe('[0].when.user', validPattern('unterminated group'), '/(/'),
  ],
  ['no list', mustBe('rules', 'a list of rules', 'no list')],
])('an invalid rule in code is an error: %o', async (rules, sentence) => {
  await expect(repliesOf(rules as readonly RuleInput[])).rejects.toThrow(
    new ProblemsError([{ origin: 'rules', sentence }]),
  )
})
