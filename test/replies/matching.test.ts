// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what the tests are about
import { expect, test } from 'vitest'
import type { ChatRequest } from '../../src/core/chat.js'
import { ProblemsError } from '../../src/core/problem.js'
import { createReplies, type RuleInput, rulesFromCode } from '../../src/replies/index.js'

const noPause = { firstTokenMs: 0, tokensPerSecond: 0 }

type Message = ChatRequest['messages'][number]
const user = (content: Message['content']): Message => ({ role: 'user', content })

interface Question {
  readonly rules: readonly RuleInput[]
  readonly model?: string
  readonly messages: Message[]
}

/** What a model with these rules says. */
const answerTo = ({ rules, model = 'gpt-4o-mini', messages }: Question) =>
  createReplies({ rules: rulesFromCode(rules, noPause), seed: 0, pace: noPause }).answer({ model, messages })

const isMatched = async (when: RuleInput['when'], question: Omit<Question, 'rules'>) =>
  (await answerTo({ rules: [{ when, reply: { text: 'yes' } }], ...question })).text === 'yes'

test.each([
  ['hello', 'hello', true],
  ['hello', 'well, hello there', true],
  ['hello', 'Hello', false],
  ['hello', 'help', false],
  ['a.c', 'abc', false],
  ['/a.c/', 'abc', true],
  ['/^hello/', 'well, hello', false],
  ['/^hello/', 'Hello', false],
  ['/^hello/i', 'Hello', true],
  ['/^b$/m', 'a\nb\nc', true],
  ['/^b$/', 'a\nb\nc', false],
  ['/a.c/s', 'a\nc', true],
  ['/\\p{Lu}/u', 'straße Ä', true],
  ['/a/b/', 'a/b', true],
  ['/usr', 'cd /usr', true],
  ['//', 'http://a.test', true],
  ['${NAME} {{ name }} $1 [a-z]+ %s', 'say ${NAME} {{ name }} $1 [a-z]+ %s!', true],
  ['*', 'anything', false],
])('the condition %s on what the user says: %j matches: %s', async (written, said, expected) => {
  expect(await isMatched({ user: written }, { messages: [user(said)] })).toBe(expected)
})

test.each(['/hello/g', '/hello/y', '/hello/gy', '/HELLO/gi'])(
  '%s matches every time, not every other',
  async written => {
    const rules = rulesFromCode([{ when: { user: written }, reply: { text: 'yes' } }], noPause)
    const replies = createReplies({ rules, seed: 0, pace: noPause })
    const ask = () => replies.answer({ model: 'm', messages: [user('hello hello')] })
    const answers = await Promise.all([ask(), ask(), ask()])
    expect(answers.map(({ text }) => text)).toEqual(['yes', 'yes', 'yes'])
  },
)

test.each([
  ['gpt-4o', 'gpt-4o', true],
  ['gpt-4o', 'gpt-4o-mini', false],
  ['gpt-4o', 'a-gpt-4o', false],
  ['gpt-*', 'gpt-4o-mini', true],
  ['*-mini', 'gpt-4o-mini', true],
  ['*', 'meta/llama-3.3', true],
  ['meta/*', 'meta/llama/3.3', true],
  ['*/llama-*', 'org/team/llama-3', true],
  ['llama-3.3-70b', 'llama-3.3-70b', true],
  ['llama-3.3-70b', 'llama-3x3-70b', false],
  ['gpt-4?', 'gpt-4o', true],
  ['gpt-4?', 'gpt-4', false],
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
  expect((await answerTo({ rules, messages: [user('hello')] })).text).toBe('first')
  expect((await answerTo({ rules, messages: [user('bye')] })).text).toBe('last')
})

test('only the last thing that the user said counts', async () => {
  const assistant: Message = { role: 'assistant', content: 'refund' }
  const when = { user: 'refund' }
  expect(await isMatched(when, { messages: [user('refund'), assistant, user('thanks')] })).toBe(false)
  expect(await isMatched(when, { messages: [user('hello'), user('a refund'), assistant] })).toBe(true)
  expect(await isMatched(when, { messages: [{ role: 'system', content: 'refund' }, user('hello')] })).toBe(false)
})

test('a message in parts is the text of its parts, line by line', async () => {
  const image = { type: 'image_url', image_url: { url: 'https://a.test/refund.png' } }
  const messages = [user([{ type: 'text', text: 'one' }, image, { type: 'text', text: 'two' }])]
  expect(await isMatched({ user: '/^one$\\n^two$/m' }, { messages })).toBe(true)
  expect(await isMatched({ user: 'refund' }, { messages })).toBe(false)
})

test('without a user message a condition on it does not hold', async () => {
  expect(await isMatched({ user: '/.*./s' }, { messages: [{ role: 'system', content: 'hello' }] })).toBe(false)
})

test('what the rule says is said to the letter', async () => {
  const text = '${HOME} {{ user }} <%= 1 %> $& \\n \u0000 "quoted"\n\ttabbed \u{1F600}\n'
  expect((await answerTo({ rules: [{ reply: { text } }], messages: [user('hello')] })).text).toBe(text)
})

test('where no rule matches the reply is made up, the same for the same question', async () => {
  const rules = [{ when: { user: 'hello' }, reply: { text: 'Hi!' } }]
  const [first, again, other] = await Promise.all(
    ['why?', 'why?', 'why not?'].map(text => answerTo({ rules, messages: [user(text)] })),
  )
  expect(first).toEqual({ text: expect.stringMatching(/\w/), pace: noPause, source: 'canned reply' })
  expect(again).toEqual(first)
  expect(other?.text).not.toBe(first?.text)
})

test('made-up replies change with the seed', async () => {
  const say = (seed: number) =>
    createReplies({ rules: [], seed, pace: noPause }).answer({ model: 'm', messages: [user('why?')] })
  expect((await say(1)).text).not.toBe((await say(2)).text)
})

test('a rule has a pace of its own; what it leaves out comes from the configuration', async () => {
  const pace = { firstTokenMs: 100, tokensPerSecond: 10 }
  const rules = [
    { when: { user: 'both' }, reply: { text: 'x' }, pace: { firstTokenMs: 0, tokensPerSecond: 5 } },
    { when: { user: 'first' }, reply: { text: 'x' }, pace: { firstTokenMs: 7 } },
    { when: { user: 'rate' }, reply: { text: 'x' }, pace: { tokensPerSecond: 0 } },
    { when: { user: 'none' }, reply: { text: 'x' } },
  ]
  const replies = createReplies({ rules: rulesFromCode(rules, pace), seed: 0, pace })
  const rhythmOf = async (text: string) => (await replies.answer({ model: 'm', messages: [user(text)] })).pace
  expect(await rhythmOf('both')).toEqual({ firstTokenMs: 0, tokensPerSecond: 5 })
  expect(await rhythmOf('first')).toEqual({ firstTokenMs: 7, tokensPerSecond: 10 })
  expect(await rhythmOf('rate')).toEqual({ firstTokenMs: 100, tokensPerSecond: 0 })
  expect(await rhythmOf('none')).toEqual(pace)
  expect(await rhythmOf('made up')).toEqual(pace)
})

test('a rule is called by its name, and by its place when it has none', async () => {
  const rules = [{ name: 'greeting', when: { user: 'hello' }, reply: { text: 'Hi!' } }, { reply: { text: 'Well.' } }]
  expect((await answerTo({ rules, messages: [user('hello')] })).source).toBe('rule "greeting"')
  expect((await answerTo({ rules, messages: [user('bye')] })).source).toBe('rule "rules[1]"')
})

test.each([
  [[{ when: { usr: 'x' }, reply: { text: 'y' } }], '[0].when.usr is not known here. Did you mean "user"?'],
  [[{ reply: { text: 'y' } }, {}], '[1].reply is missing. It must be an object.'],
  [[{ when: { user: '/(/' }, reply: { text: 'y' } }], '[0].when.user must be a valid regular expression, not "/(/".'],
  ['no list', 'rules must be a list of rules, not "no list".'],
])('rules in code that are wrong are told: %o', (rules, sentence) => {
  expect(() => rulesFromCode(rules as readonly RuleInput[], noPause)).toThrow(
    new ProblemsError([{ origin: 'rules', sentence }]),
  )
})
