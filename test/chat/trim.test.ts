import fc from 'fast-check'
import { expect, test } from 'vitest'
import { estimated } from '../../src/chat/tokens/index.js'
import type { Choice } from '../../src/replies/index.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { choicesOf, modelReplying } from './replying.js'

/** What remains of a choice: its parts, its finish reason, and its cost in tokens. */
function leftOf(choice: Choice, request: object) {
  const answer = modelReplying({ choices: [choice] }).whole(request)
  return { ...choicesOf(answer)[0], cost: answer.usage?.completion_tokens }
}

test.each([[''], [['']], [null]])('a text without the stop %j is not cut', stop => {
  expect(leftOf({ text: 'one two', finishReason: 'content_filter' }, { stop })).toMatchObject({
    content: 'one two',
    finish: 'content_filter',
  })
})

test('a stop in the text drops the tool calls after it', () => {
  const call = { kind: 'function', name: 'now', arguments: '{}' } as const
  const left = leftOf({ text: 'Let me see. END', toolCalls: [call], finishReason: 'tool_calls' }, { stop: 'END' })
  expect(left).toMatchObject({ content: 'Let me see. ', calls: [], finish: 'stop' })
})

test('a text is cut at the token limit', () => {
  expect(leftOf({ text: 'twelve chars' }, { max_tokens: 2 })).toMatchObject({
    content: 'twelve c',
    finish: 'length',
    cost: 2,
  })
  expect(leftOf({ text: 'twelve chars' }, { max_tokens: 3 })).toMatchObject({ content: 'twelve chars', finish: 'stop' })
})

test.each([[{ max_tokens: 1, max_completion_tokens: 2 }], [{ max_tokens: 2, max_completion_tokens: 1 }]])(
  'the smaller limit of %j applies',
  request => {
    expect(leftOf({ text: 'twelve chars' }, request)).toMatchObject({ content: 'twel', finish: 'length', cost: 1 })
  },
)

test('a stop within the token limit counts, one beyond it does not', () => {
  expect(leftOf({ text: 'one END' }, { stop: 'END', max_tokens: 1 })).toMatchObject({ content: 'one ', finish: 'stop' })
  expect(leftOf({ text: 'one two END' }, { stop: 'END', max_tokens: 1 })).toMatchObject({
    content: 'one ',
    finish: 'length',
  })
})

const everything: Choice = {
  reasoning: 'thinking',
  text: 'speaking',
  toolCalls: [
    { kind: 'function', name: 'tool', arguments: '{"a":1}', id: 'call_1' },
    { kind: 'function', name: 'tool', arguments: '{"b":2}', id: 'call_2' },
  ],
}

test.each([
  [2, { reasoning: 'thinking', content: '', calls: [], finish: 'length', cost: 2 }],
  [4, { reasoning: 'thinking', content: 'speaking', calls: [], finish: 'length', cost: 4 }],
  [6, { calls: [{ name: 'tool', arguments: '{"a"' }], finish: 'length', cost: 6 }],
  [9, { calls: [{ arguments: '{"a":1}' }, { arguments: '{"b"' }], finish: 'length', cost: 9 }],
  [10, { calls: [{ arguments: '{"a":1}' }, { arguments: '{"b":2}' }], finish: 'tool_calls', cost: 10 }],
])('with %i tokens reasoning comes first, then text, then tool calls', (max_tokens, expected) => {
  expect(leftOf(everything, { max_tokens })).toMatchObject(expected)
})

/** Any sequence of UTF-16 code units, including lone surrogates. */
const codeUnits = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(unit => String.fromCharCode(unit)) })
const anyText = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 60 }), fc.string({ unit: 'grapheme' }), codeUnits)

test('any text is cut to exactly the token limit', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 12 }), (text, max_tokens) => {
      const { content, cost, finish } = leftOf({ text }, { max_tokens })
      expect(text.startsWith(content ?? '?')).toBe(true)
      expect(cost).toBe(estimated.count(content ?? ''))
      expect(cost).toBe(Math.min(max_tokens, estimated.count(text)))
      expect(finish).toBe(content === text ? 'stop' : 'length')
    }),
    { numRuns: runs(300) },
  )
})

test('any text ends before the first of its stops', () => {
  const sometimesInIt = fc.tuple(anyText, fc.array(fc.string({ minLength: 1, maxLength: 2 })), fc.nat(), fc.nat(3))
  fc.assert(
    fc.property(sometimesInIt, ([text, others, at, length]) => {
      const stop = [...others, text.slice(at % (text.length + 1)).slice(0, length)]
      const { content } = leftOf({ text }, { stop })
      const ends = stop.filter(each => each !== '').flatMap(each => (text.includes(each) ? [text.indexOf(each)] : []))
      expect(content).toBe(text.slice(0, Math.min(text.length, ...ends)))
    }),
    { numRuns: runs(300) },
  )
})
