import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unpaced } from '../../../src/core/pace.js'
import type { Choice } from '../../../src/replies/index.js'
import { anyCharacter } from '../../characters.js'
import { runs } from '../../runs.js'
import { assembled, choicesOf, modelReplying } from './replying.js'

const texts = (choices: ReturnType<typeof assembled>) => choices.map(({ content }) => content)
const one: Choice = { text: 'One.' }
const two: Choice = { text: 'Two and more.' }

test.each<[n: number | null | undefined, choices: Choice[], expected: string[]]>([
  [undefined, [one, two], ['One.']],
  [null, [one, two], ['One.']],
  [1, [one, two], ['One.']],
  [2, [one, two], ['One.', 'Two and more.']],
  [4, [one, two], ['One.', 'Two and more.', 'Two and more.', 'Two and more.']],
  [3, [one], ['One.', 'One.', 'One.']],
])('n = %s of %j is %j', (n, choices, expected) => {
  const { whole, chunks } = modelReplying({ choices })
  expect(texts(choicesOf(whole({ n })))).toEqual(expected)
  expect(texts(assembled(chunks({ n })))).toEqual(expected)
})

test('the choices of a stream take turns, and each ends by itself', () => {
  const steps = modelReplying({ choices: [one, two] })
    .chunks({ n: 2 })
    .map(({ choices: [choice] }) => [choice?.index, choice?.delta.content, choice?.finish_reason])
  expect(steps).toEqual([
    [0, '', null],
    [1, '', null],
    [0, 'One.', null],
    [1, 'Two', null],
    [0, undefined, 'stop'],
    [1, ' and', null],
    [1, ' more.', null],
    [1, undefined, 'stop'],
  ])
})

test('more choices come as fast as one', () => {
  const pace = { ...unpaced, firstTokenMs: 100, tokensPerSecond: 50 }
  const { replyTo } = modelReplying({ choices: [one, two], pace })
  expect(replyTo({ n: 2, stream: true }).body).toMatchObject({ pace: { firstTokenMs: 100, tokensPerSecond: 100 } })
})

test('a refusal stands in the place of words', () => {
  const { whole, chunks } = modelReplying({ choices: [{ text: null, refusal: 'I will not.' }] })
  expect(whole().choices[0]).toEqual({
    index: 0,
    message: { role: 'assistant', content: null, refusal: 'I will not.' },
    logprobs: null,
    finish_reason: 'stop',
  })
  expect(chunks().map(({ choices: [choice] }) => choice?.delta)).toEqual([
    { role: 'assistant', content: null, refusal: null },
    { refusal: 'I' },
    { refusal: ' will' },
    { refusal: ' not.' },
    {},
  ])
})

test('a model that reasons tells its thoughts before its words', () => {
  const { whole, chunks } = modelReplying({ choices: [{ text: 'Four.', reasoning: 'Two and two.' }] })
  expect(whole().choices[0]?.message).toEqual({
    role: 'assistant',
    content: 'Four.',
    reasoning_content: 'Two and two.',
    refusal: null,
  })
  expect(chunks().map(({ choices: [choice] }) => choice?.delta)).toEqual([
    { role: 'assistant', content: '', refusal: null },
    { reasoning_content: 'Two' },
    { reasoning_content: ' and' },
    { reasoning_content: ' two.' },
    { content: 'Four.' },
    {},
  ])
})

test.each(['content_filter', 'length', 'tool_calls'] as const)('a rule can say that it ends with %s', finishReason => {
  const { whole, chunks } = modelReplying({ choices: [{ text: 'Well.', finishReason }] })
  expect(whole().choices[0]?.finish_reason).toBe(finishReason)
  expect(chunks().at(-1)?.choices[0]?.finish_reason).toBe(finishReason)
})

test('what goes wrong, and what is known, travels with the reply', () => {
  const fault = { cutAfterChunks: 2 }
  const remark = () => 'the second time'
  for (const request of [{}, { stream: true }, { n: 2 }, { n: 2, stream: true }]) {
    expect(modelReplying({ fault, remark }).replyTo(request)).toMatchObject({
      answeredBy: { kind: 'canned' },
      fault,
      remark,
    })
    expect(modelReplying({}).replyTo(request).fault).toBeUndefined()
  }
})

/** Any sequence of UTF-16 code units, halves of surrogate pairs among them. */
const codeUnits = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(unit => String.fromCharCode(unit)) })
const anyText = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: anyCharacter, maxLength: 60 }), codeUnits)
const anyChoice: fc.Arbitrary<Choice> = fc
  .record(
    {
      text: fc.oneof({ weight: 3, arbitrary: anyText }, fc.constant(null)),
      toolCalls: fc.array(
        fc.record({ kind: fc.constantFrom('function', 'custom'), id: fc.uuid(), name: anyText, arguments: anyText }),
        { maxLength: 3 },
      ),
      refusal: anyText,
      reasoning: anyText,
      finishReason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'function_call'),
    },
    { requiredKeys: ['text'] },
  )
  .map(choice => choice as Choice)
const anyRequest = fc.record(
  {
    n: fc.integer({ min: 1, max: 4 }),
    stop: fc.oneof(
      fc.string({ maxLength: 2, unit: anyCharacter }),
      fc.array(fc.string({ maxLength: 2 }), { maxLength: 6 }),
    ),
    max_tokens: fc.integer({ min: 1, max: 30 }),
    max_completion_tokens: fc.integer({ min: 1, max: 30 }),
    parallel_tool_calls: fc.boolean(),
    functions: fc.constant([{ name: 'f' }]),
    logprobs: fc.constant(true),
  },
  { requiredKeys: [] },
)

test('whatever is said and asked for, the pieces of a stream add up to the whole, at the same cost', () => {
  fc.assert(
    fc.property(fc.array(anyChoice, { minLength: 1, maxLength: 3 }), anyRequest, (choices, request) => {
      const { whole, chunks, replyTo } = modelReplying({ choices })
      const answer = whole(request)
      const stream = chunks({ ...request, stream_options: { include_usage: true } })
      expect(assembled(stream)).toEqual(choicesOf(answer))
      expect(stream.at(-1)).toMatchObject({ choices: [], usage: answer.usage })
      const { tokens } = replyTo(request)
      expect(answer.usage).toMatchObject({ prompt_tokens: tokens?.prompt, completion_tokens: tokens?.completion })
      expect(answer.choices).toHaveLength(request.n ?? 1)
    }),
    { numRuns: runs(500) },
  )
})

test('a plain text has the same form whether it is put together by hand or not', () => {
  const rewound = (answer: object) => JSON.parse(JSON.stringify({ ...answer, id: '', created: 0 }))
  // More tokens than anybody has said change nothing, but take the general way.
  const byObjects = { max_tokens: 1_000_000 }
  fc.assert(
    fc.property(anyText, fc.boolean(), (text, include_usage) => {
      const { whole, chunks } = modelReplying({ choices: [{ text }] })
      expect(rewound(whole(byObjects))).toEqual(rewound(whole()))
      const options = { stream_options: { include_usage } }
      expect(chunks({ ...options, ...byObjects }).map(rewound)).toEqual(chunks(options).map(rewound))
    }),
    { numRuns: runs(200) },
  )
})
