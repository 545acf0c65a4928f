// biome-ignore-all lint/suspicious/noThenProperty: it is what rules call it, and rules are never awaited.
import { expect, test } from 'vitest'
import { neverAnswering, type RuleInput, rulesFromCode } from '../../src/replies/index.js'
import { didYouMean } from '../sentences.js'

/** The findings about rules, one line each. */
async function findingsIn(...rules: RuleInput[]) {
  const { rules: ready } = await rulesFromCode(rules, '.', 0)
  return neverAnswering(ready, ['gpt-4o', 'gpt-4o-mini']).map(({ place, sentence }) => `${place}: ${sentence}`)
}

const say = { text: 'x' }
const call = { toolCalls: [{ name: 'now' }] }

test('rules that can all answer have no findings', async () => {
  const rules: RuleInput[] = [
    { when: { user: 'a', model: 'gpt-*' }, reply: say },
    { when: { user: 'b' }, times: 2, reply: say },
    { when: { user: 'b' }, replies: [say], then: 'miss' },
    { when: { user: 'b' }, scenario: { name: 's', state: 'start', next: 'over' }, reply: say },
    { when: { user: 'b' }, scenario: { name: 's', state: 'over' }, reply: say },
    { when: { user: 'weather' }, reply: call },
    { when: { user: 'weather' }, reply: say },
    { reply: say },
  ]
  expect(await findingsIn(...rules)).toEqual([])
})

test.each<[RuleInput['when'], RuleInput['when'], boolean]>([
  [{}, { user: 'a' }, true],
  [{ user: 'refund' }, { user: 'refund' }, true],
  [{ user: 'refund' }, { user: 'my refund now' }, true],
  [{ user: 'refund' }, { user: { contains: 'refunds' } }, true],
  [{ user: 'refund' }, { user: 'refund', stream: true }, true],
  [{ model: 'gpt-*' }, { model: 'gpt-4o' }, true],
  [{ model: '*', turn: 1 }, { model: ['gpt-4o', 'gpt-4o-mini'], turn: 1 }, true],
  [{ user: /^a/ }, { user: /^a/ }, true],
  [{ user: 'my refund' }, { user: 'refund' }, false],
  [{ user: 'refund', stream: true }, { user: 'refund' }, false],
  [{ user: /refund/ }, { user: 'refund' }, false],
  [{ user: 'a' }, { system: 'a' }, false],
  [{ model: 'gpt-4o' }, { model: 'gpt-*' }, false],
  [{ turn: 1 }, { turn: 2 }, false],
])('a rule with %j in front hides one with %j: %s', async (first, second, hides) => {
  const found = await findingsIn({ when: first, reply: say }, { name: 'late', when: second, reply: say })
  expect(found).toEqual(hides ? [expect.stringContaining('rules[1]: rule "late" never answers: rule "rules[0]"')] : [])
})

test('a catch-all in front is named with its place', async () => {
  expect(await findingsIn({ name: 'all', reply: say }, { name: 'late', when: { user: 'a' }, reply: say })).toEqual([
    'rules[1]: rule "late" never answers: rule "all" (rules[0]) comes before it and matches everything.',
  ])
})

test('the order in which rules are tried counts, not the order in which they are written', async () => {
  expect(await findingsIn({ reply: say }, { when: { user: 'a' }, priority: 1, reply: say })).toEqual([])
})

test('a state that no rule leads to is reported, with a suggestion', async () => {
  const rules: RuleInput[] = [
    { when: { user: 'a' }, scenario: { name: 'order', next: 'paid' }, reply: say },
    { when: { user: 'b' }, scenario: { name: 'order', state: 'payed' }, reply: say },
  ]
  expect(await findingsIn(...rules)).toEqual([
    `rules[1]: rule "rules[1]" never answers: no rule moves scenario "order" to the state "payed".${didYouMean('paid')}`,
  ])
})

test('a rule for models that the platform does not list never answers', async () => {
  const rules: RuleInput[] = [
    { when: { model: ['gtp-4o', 'gpt-*'] }, times: 1, reply: say },
    { when: { model: 'gtp-4o' }, reply: say },
  ]
  expect(await findingsIn(...rules)).toEqual([
    `rules[1]: rule "rules[1]" never answers: the platform does not list the model gtp-4o.${didYouMean('gpt-4o')}`,
  ])
})

test('the second rule on a path never answers if the first always does', async () => {
  const [finding] = await findingsIn({ on: 'GET /a', reply: { text: 'x' } }, { on: 'GET /a', reply: { text: 'y' } })
  expect(finding).toContain('never answers: rule "rules[0]" (rules[0]) comes before it')
})
