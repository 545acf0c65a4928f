import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChatRequest } from '../../src/completions/request.js'
import { requiredLiterals } from '../../src/replies/conditions/literals.js'
import { textTest } from '../../src/replies/conditions/text.js'
import { createRuleIndex } from '../../src/replies/rule-index.js'
import { runs } from '../runs.js'
import { repliesOf, textOf } from './replies.js'

// As text, since the compiler does not know the flag v.
const nested = '[[a-z]--[b]]x'

test.each([
  [/refund policy/, ['refund policy']],
  [/^hello (\w+)/i, ['hello ']],
  [/a{0,2}bcd/, ['bcd']],
  [/cat|dog house/, ['cat', 'dog house']],
  [/(cat|dog) house/, [' house']],
  [/\bword\b/, ['word']],
  [/^.*$/s, []],
  [/cat|\d+/, []],
  [new RegExp(nested, 'v'), []],
])('%s requires %j', (expression, literals) => {
  expect(requiredLiterals(expression)).toEqual(literals)
})

// A grammar of expressions with everything that ends, repeats or chooses.
const piece = fc.constantFrom(
  'abc',
  'x',
  'Hello',
  ' of ',
  '\\.',
  '\\d',
  '\\b',
  '.',
  '[xyz]',
  '[^(|)]',
  '(ab|c)',
  '(?:de)',
  '(f+)',
  'é',
)
const repeated = fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{0,1}', '+?', '*?')
const alternative = fc
  .array(fc.tuple(piece, repeated), { minLength: 1, maxLength: 6 })
  .map(parts => parts.map(([a, b]) => (a === '\\b' ? a : a + b)).join(''))
const expressions = fc
  .tuple(fc.array(alternative, { minLength: 1, maxLength: 3 }), fc.constantFrom('', 'i', 's', 'm', 'is'))
  .map(([alternatives, flags]) => new RegExp(alternatives.join('|'), flags))

test('any text that an expression matches contains one of its required literals', () => {
  const texts = fc.array(
    fc.constantFrom('abc', 'hello', 'Hello', ' of ', 'x', '.', '7', 'ab', 'c', 'de', 'f', 'é', '\n'),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(expressions, texts, (expression, parts) => {
      const text = parts.join('')
      const literals = requiredLiterals(expression)
      fc.pre(expression.test(text) && literals.length > 0)
      expect(literals.some(literal => text.toLowerCase().includes(literal.toLowerCase()))).toBe(true)
    }),
    { numRuns: runs(500) },
  )
})

test('an index never leaves out a rule that matches', () => {
  const words = fc.constantFrom('refund', 'Refund', 'policy', 'of', 'ße', 'a', 'the cat', 'ref', 'und', 'POL')
  const condition = fc.oneof(
    words,
    fc.tuple(words, words).map(pair => pair.join(' ')),
    words.map(word => `/${word}/i`),
    words.map(word => `/^${word}\\b/`),
  )
  fc.assert(
    fc.property(
      fc.array(condition, { minLength: 30, maxLength: 60 }),
      fc.array(words, { maxLength: 8 }),
      (written, said) => {
        const rules = written.map(textTest)
        const text = said.join(' ')
        const { candidates } = createRuleIndex(rules, ({ needles }) => needles)
        const matching = (from: typeof rules | readonly (typeof rules)[number][]) =>
          from.filter(rule => rule.holds(text))
        expect(matching(candidates(text))).toEqual(matching(rules))
      },
    ),
  )
})

test('of many rules, only those that can match a text are tried', () => {
  const rules = Array.from({ length: 500 }, (_, i) => textTest(`word${i}x`))
  const { candidates } = createRuleIndex(rules, ({ needles }) => needles)
  expect([...candidates('this is word77x, and nothing else')]).toEqual([rules[77]])
})

test('with many rules the first match answers, as with few', async () => {
  const many = Array.from({ length: 500 }, (_, i) => ({
    when: { user: `/number ${i}\\b/i` },
    reply: { text: String(i) },
  }))
  const replies = await repliesOf([
    ...many,
    { when: { user: 'Number 7!' }, reply: { text: 'too late' } },
    { when: { model: 'm', user: '/[6-9]{3}/' }, reply: { text: 'unindexed' } },
    { name: 'first', priority: 1, when: { user: 'NUMBER 8' }, reply: { text: 'first' } },
  ])
  const ask = async (content: string) => {
    const request: ChatRequest = { model: 'm', messages: [{ role: 'user', content }] }
    return textOf(await replies.answer(request))
  }
  expect(await ask('Number 7!')).toBe('7')
  expect(await ask('my NUMBER 499')).toBe('499')
  expect(await ask('NUMBER 8')).toBe('first')
  expect(await ask('number 987')).toBe('unindexed')
})
