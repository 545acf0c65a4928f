import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../runs.js'
import { modelReplying } from './replying.js'

const { whole, chunks } = modelReplying({ choices: [{ text: 'Hi there, 他们!' }] })

test('the logprobs list the tokens of the text', () => {
  const logprobs = whole({ logprobs: true }).choices[0]?.logprobs
  const tokens = logprobs?.content ?? []
  expect(tokens.map(({ token }) => token)).toEqual(['Hi', ' there,', ' 他们!'])
  expect(tokens.map(({ bytes }) => Buffer.from(bytes ?? []).toString()).join('')).toBe('Hi there, 他们!')
  expect(tokens.map(({ top_logprobs }) => top_logprobs)).toEqual([[], [], []])
  expect(logprobs?.refusal).toBeNull()
})

test('each chunk of a stream has the logprobs of its token', () => {
  const content = whole({ logprobs: true, top_logprobs: 2 }).choices[0]?.logprobs?.content
  const events = chunks({ logprobs: true, top_logprobs: 2 }).map(({ choices: [choice] }) => choice?.logprobs)
  expect(events[0]).toBeNull()
  expect(events.slice(1, -1)).toEqual(content?.map(token => ({ content: [token], refusal: null })))
  expect(events.at(-1)).toBeNull()
})

test('a refusal has its own logprobs', () => {
  const model = modelReplying({ choices: [{ text: null, refusal: 'No, never.' }] })
  const { content, refusal } = model.whole({ logprobs: true }).choices[0]?.logprobs ?? {}
  expect(content).toBeNull()
  expect(refusal?.map(({ token }) => token)).toEqual(['No,', ' never.'])
  expect(model.chunks({ logprobs: true })[1]?.choices[0]?.logprobs).toEqual({ content: null, refusal: [refusal?.[0]] })
})

test('tool calls have no logprobs', () => {
  const toolCalls = [{ kind: 'function', name: 'now', arguments: '{}' }] as const
  const model = modelReplying({ choices: [{ text: null, toolCalls }] })
  expect(model.whole({ logprobs: true }).choices[0]?.logprobs).toBeNull()
  expect(model.chunks({ logprobs: true }).map(({ choices: [choice] }) => choice?.logprobs)).toEqual(
    Array.from({ length: 4 }, () => null),
  )
})

test('a request without logprobs gets none', () => {
  expect(whole({ logprobs: false, stop: '?' }).choices[0]?.logprobs).toBeNull()
})

test('the logprobs of any text are plausible, and the same each time', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.constantFrom(' the, of and', 'a a a', '. .')),
      text => {
        const request = { logprobs: true, top_logprobs: 3 }
        const answer = () => modelReplying({ choices: [{ text }] }).whole(request).choices[0]?.logprobs?.content ?? []
        const tokens = answer()
        expect(answer()).toEqual(tokens)
        expect(tokens.map(({ token }) => token).join('')).toBe(text)
        for (const { top_logprobs, logprob } of tokens) {
          expect(top_logprobs).toEqual([])
          expect(logprob).toBeLessThan(0)
          expect(Math.exp(logprob)).toBeGreaterThan(0.5)
        }
      },
    ),
    { numRuns: runs(200) },
  )
})

test('logprobs differ from token to token', () => {
  const text = 'It was the best of times, it was the worst of times, it was the age of wisdom'
  const tokens = modelReplying({ choices: [{ text }] }).whole({ logprobs: true }).choices[0]?.logprobs?.content ?? []
  expect(new Set(tokens.map(({ logprob }) => logprob)).size).toBe(tokens.length)
})
