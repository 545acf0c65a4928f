import { expect, test } from 'vitest'
import { unpaced } from '../../src/core/pace.js'
import { modelReplying } from './replying.js'

/** The details in every usage of OpenAI, with these numbers. */
const details = ({ cached = 0, reasoning = 0 } = {}) => ({
  prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: reasoning,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
})
const usageAsked = { stream_options: { include_usage: true } }

test('the usage of a plain text has details, whole and streamed', () => {
  const { whole, chunks } = modelReplying({})
  const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12, ...details() }
  expect(whole().usage).toEqual(usage)
  expect(chunks(usageAsked).at(-1)?.usage).toEqual(usage)
})

test('every choice costs tokens', () => {
  expect(modelReplying({}).whole({ n: 3 }).usage).toMatchObject({ completion_tokens: 9, total_tokens: 18 })
})

test('the name and the arguments of a tool call cost tokens', () => {
  const toolCalls = [{ kind: 'function', name: 'now', arguments: '{"in":"UTC"}' }] as const
  expect(modelReplying({ choices: [{ text: null, toolCalls }] }).whole().usage).toMatchObject({ completion_tokens: 4 })
})

test('reasoning costs tokens, which are listed separately', () => {
  const { whole, chunks } = modelReplying({ choices: [{ text: 'Four.', reasoning: 'Two and two.' }] })
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 5,
    total_tokens: 14,
    ...details({ reasoning: 3 }),
  }
  expect(whole().usage).toEqual(usage)
  expect(chunks(usageAsked).at(-1)?.usage).toEqual(usage)
})

test.each([
  [{ promptTokens: 1000 }, { prompt_tokens: 1000, completion_tokens: 3, total_tokens: 1003, ...details() }],
  [{ completionTokens: 0 }, { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9, ...details() }],
  [
    { promptTokens: 1000, cachedTokens: 900 },
    {
      prompt_tokens: 1000,
      completion_tokens: 3,
      total_tokens: 1003,
      ...details({ cached: 900 }),
    },
  ],
])('a rule with the usage %j overrides the counted tokens', (usage, expected) => {
  const { whole, chunks, replyTo } = modelReplying({ usage })
  expect(whole().usage).toEqual(expected)
  expect(chunks(usageAsked).at(-1)?.usage).toEqual(expected)
  const { tokens } = replyTo({})
  expect([tokens?.prompt, tokens?.completion]).toEqual([expected.prompt_tokens, expected.completion_tokens])
})

test('reasoning tokens that a rule only gives as a number cost as well', () => {
  expect(modelReplying({ usage: { reasoningTokens: 500 } }).whole().usage).toMatchObject({
    completion_tokens: 503,
    completion_tokens_details: { reasoning_tokens: 500 },
  })
})

test('a pace with jitter gets the same seed for the same conversation', () => {
  const pace = { ...unpaced, tokensPerSecond: 100, jitter: 0.5 }
  const { replyTo } = modelReplying({ pace })
  const seedOf = (fields: object) => (replyTo({ stream: true, ...fields }).body as { seed?: number }).seed
  expect(seedOf({})).toEqual(expect.any(Number))
  expect(seedOf({ temperature: 1 })).toBe(seedOf({}))
  expect(seedOf({ seed: 7 })).not.toBe(seedOf({}))
  expect(seedOf({ messages: [{ role: 'user', content: 'bye' }] })).not.toBe(seedOf({}))
})
