import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replyBytes } from '../../src/core/http.js'
import { unpaced } from '../../src/core/pace.js'
import type { Choice } from '../../src/replies/index.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { assembled, choicesOf, modelReplying } from './replying.js'

const texts = (choices: ReturnType<typeof assembled>) => choices.map(({ content }) => content)
const one: Choice = { text: 'One.' }
const two: Choice = { text: 'Two and more.' }

test.each<[n: number | null | undefined, choices: Choice[], expected: string[]]>([
  [undefined, [one, two], ['One.']],
  [2, [one, two], ['One.', 'Two and more.']],
  [4, [one, two], ['One.', 'Two and more.', 'Two and more.', 'Two and more.']],
])('n = %s with the choices %j gives %j', (n, choices, expected) => {
  const { whole, chunks } = modelReplying({ choices })
  expect(texts(choicesOf(whole({ n })))).toEqual(expected)
  expect(texts(assembled(chunks({ n })))).toEqual(expected)
})

test('the choices of a stream are interleaved, and each ends on its own', () => {
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

test('several choices stream as fast as one', () => {
  const pace = { ...unpaced, firstTokenMs: 100, tokensPerSecond: 50 }
  const { replyTo } = modelReplying({ choices: [one, two], pace })
  expect(replyTo({ n: 2, stream: true }).body).toMatchObject({ pace: { firstTokenMs: 100, tokensPerSecond: 100 } })
})

test('a refusal replaces the content', () => {
  const { whole, chunks } = modelReplying({ choices: [{ text: null, refusal: 'I will not.' }] })
  expect(whole().choices[0]).toEqual({
    index: 0,
    message: { role: 'assistant', content: null, refusal: 'I will not.', annotations: [] },
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

test('reasoning comes before the content', () => {
  const { whole, chunks } = modelReplying({ choices: [{ text: 'Four.', reasoning: 'Two and two.' }] })
  expect(whole().choices[0]?.message).toEqual({
    role: 'assistant',
    content: 'Four.',
    reasoning_content: 'Two and two.',
    refusal: null,
    annotations: [],
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

test.each(['content_filter', 'length', 'tool_calls'] as const)('a rule can set the finish reason %s', finishReason => {
  const { whole, chunks } = modelReplying({ choices: [{ text: 'Well.', finishReason }] })
  expect(whole().choices[0]?.finish_reason).toBe(finishReason)
  expect(chunks().at(-1)?.choices[0]?.finish_reason).toBe(finishReason)
})

test('the fault and the remark of a rule are passed on with the reply', () => {
  const fault = { cut: 2 }
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

/** Any sequence of UTF-16 code units, including lone surrogates. */
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

test('the chunks of any stream add up to the whole reply, at the same cost', () => {
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

test('a stream of text alone has the same events as one choice of several, byte for byte', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.boolean(), fc.boolean(), (text, include_usage, isTiered) => {
      const { replyTo } = modelReplying({ choices: [{ text }] })
      const eventsOf = (n: number) =>
        replyBytes(
          replyTo({ n, stream: true, stream_options: { include_usage }, ...(isTiered && { service_tier: 'auto' }) }),
        )
          .toString()
          .replaceAll(/"(id|created|usage)":("[^"]*"|\d+|\{.*\}|null)/g, '')
          .split('\n\n')
      expect(eventsOf(1)).toEqual(eventsOf(2).filter(event => !event.includes('"index":1')))
    }),
    { numRuns: runs(200) },
  )
})
