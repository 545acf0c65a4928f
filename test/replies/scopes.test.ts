// biome-ignore-all lint/suspicious/noThenProperty: it is what rules call it, and rules are never awaited.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sourceInWords } from '../../src/core/reply.js'
import type { RuleInput } from '../../src/replies/index.js'
import { running } from './running.js'

const one = { when: { user: 'count' }, replies: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] }

test('each scope, including the empty one, gets a sequence from its beginning', async () => {
  const { says } = await running([one])
  const heard = []
  for (const scope of ['a', 'b', '', 'a', 'a', 'b', '']) heard.push(await says('count', scope))
  expect(heard.join(' ')).toBe('one one one two three two two')
})

test('forgetting one scope does not affect the others', async () => {
  const { says, memory } = await running([one])
  for (const scope of ['a', 'b', '']) await says('count', scope)
  memory.forget('a')
  expect([await says('count', 'a'), await says('count', 'b'), await says('count', '')]).toEqual(['one', 'two', 'two'])
  memory.forget('')
  expect([await says('count', 'a'), await says('count', 'b'), await says('count', '')]).toEqual(['two', 'three', 'one'])
  memory.forget()
  expect([await says('count', 'a'), await says('count', 'b'), await says('count', '')]).toEqual(['one', 'one', 'one'])
})

test('beyond the limit, the least recently used scope is forgotten', async () => {
  const { says } = await running([one], { scopes: 2 })
  const heard = []
  for (const scope of ['a', 'b', 'a', 'c', 'a', 'b']) heard.push(await says('count', scope))
  expect(heard.join(' ')).toBe('one one two one three one')
})

const written: readonly RuleInput[] = [
  { name: 'once', when: { user: 'a' }, times: 2, reply: { text: 'twice' } },
  { name: 'first', when: { user: 'a' }, scenario: { name: 's', state: 'start', next: 'on' }, reply: { text: 'begun' } },
  { name: 'on', when: { user: 'b' }, scenario: { name: 's', state: 'on', next: 'off' }, reply: { text: 'on' } },
  { name: 'many', when: { user: '/[bc]/' }, replies: [{ text: '1' }, { text: '2' }, { text: '3' }], then: 'cycle' },
  { name: 'nth', when: { user: 'd' }, reply: { text: '{{count}} {{faker.person.firstName}}' } },
]

const additions: readonly RuleInput[] = [
  { name: 'new', when: { user: 'a' }, reply: { text: 'new' }, times: 1 },
  { name: 'move', when: { user: 'c' }, scenario: { name: 's', next: 'on' }, reply: { text: 'moved' }, priority: 1 },
  { name: 'seq', when: { user: '/[ad]/' }, replies: [{ text: 'x' }, { text: 'y' }], then: 'miss' },
  { name: 'all', reply: { text: 'all {{count}}' }, priority: -1 },
]

type Step =
  | { readonly kind: 'ask'; readonly prompt: string }
  | { readonly kind: 'add'; readonly rule: RuleInput }
  | { readonly kind: 'remove' }
  | { readonly kind: 'forget' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('ask' as const), prompt: fc.constantFrom(...'abcde') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), rule: fc.constantFrom(...additions) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('remove' as const, 'forget' as const) }) },
)

/** What each scope sees of these steps. */
async function played(steps: readonly { readonly scope: string; readonly step: Step }[]) {
  const { answer, add, memory, atRunTime } = await running(written)
  const seen: { readonly scope: string; readonly what: unknown }[] = []
  for (const { scope, step } of steps) {
    switch (step.kind) {
      case 'ask': {
        const { answeredBy, choices, remark } = await answer(step.prompt, scope)
        seen.push({
          scope,
          what: { source: sourceInWords(answeredBy), choices, remark: remark?.().replace(/#\d+/, '#') },
        })
        break
      }
      case 'add':
        await add(step.rule, scope)
        break
      case 'remove':
        atRunTime.remove({ scope })
        break
      case 'forget':
        memory.forget(scope)
        break
    }
  }
  return seen
}

test('whatever two scopes do side by side, each sees exactly what it would see alone', async () => {
  const steps = fc.array(fc.record({ scope: fc.constantFrom('left', 'right'), step }), { minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(steps, async steps => {
      const together = await played(steps)
      for (const scope of ['left', 'right']) {
        const alone = await played(steps.filter(one => one.scope === scope))
        expect(together.filter(one => one.scope === scope)).toEqual(alone)
      }
    }),
  )
})
