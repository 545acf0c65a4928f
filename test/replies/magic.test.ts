import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { ChatRequest } from '../../src/completions/request.js'
import { PlatformError } from '../../src/core/errors.js'
import { faultSchema } from '../../src/core/fault.js'
import type { Generation } from '../../src/replies/generation.js'
import { callOf, type Magic, magicOf, magicWords, withMagic } from '../../src/replies/magic.js'
import { anyCharacter } from '../characters.js'
import { didYouMean } from '../sentences.js'

const weather = { type: 'function', function: { name: 'get_weather', parameters: { of: 'weather' } } }
const clock = { type: 'function', function: { name: 'get_time' } }
const grep = { type: 'custom', custom: { name: 'grep' } }

const requestFor = (text: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: text }],
  ...more,
})

/** The magic that a prompt asks for. */
const magic = (text: string, more?: Partial<ChatRequest>) => magicOf(requestFor(text, more), text)

function refusalOf(text: string, more?: Partial<ChatRequest>) {
  try {
    magic(text, more)
  } catch (error) {
    if (error instanceof PlatformError) return { status: error.status, code: error.code, message: error.message }
    throw error
  }
  return undefined
}

const nothing: Omit<Magic, 'words'> = { choice: {}, fault: {}, pace: {} }

/** Each magic word in a valid spelling. */
const written = magicWords.map(({ word, example = word }) => `standin:${example}`)

test.each([
  ['standin:error-500', { fault: { status: 500, message: 'Status 500, because the prompt says standin:error-500.' } }],
  ['standin:error-429', { fault: { status: 429, message: expect.any(String), retryAfter: 1 } }],
  ['standin:error-503', { fault: { status: 503, message: expect.any(String), retryAfter: 1 } }],
  ['standin:slow', { pace: { firstTokenMs: 1000, tokensPerSecond: 5 } }],
  ['standin:stall', { fault: { stallAfterChunks: 3 } }],
  ['standin:cut', { fault: { cutAfterChunks: 3 } }],
  ['standin:hang', { fault: { hang: true } }],
  ['standin:reset', { fault: { reset: 'before' } }],
  ['standin:malformed', { fault: { malformedChunk: 2 } }],
  ['standin:no-done', { fault: { done: 'missing' } }],
  ['standin:error-event', { fault: { errorAfterChunks: 3 } }],
  ['standin:filter', { choice: { finishReason: 'content_filter' } }],
  ['standin:refusal', { choice: { text: null, refusal: expect.stringContaining('sorry') } }],
  ['standin:empty', { choice: { text: '' } }],
  ['standin:reasoning', { choice: { reasoning: expect.any(String) } }],
  ['standin:length', { choice: { finishReason: 'length', text: expect.stringMatching(/midd$/) } }],
])('%s', (word, expected) => {
  expect(magic(`please ${word} now`)).toEqual({ ...nothing, ...expected, words: [word.slice(8)] })
})

test('every listed word works, and its fault is valid in a rule', () => {
  for (const word of written) {
    const { fault = {} } = magic(word, { tools: [weather] }) ?? {}
    const isFault = Object.keys(fault).length > 0
    expect(isFault ? v.is(faultSchema, fault) : fault, word).toEqual(isFault ? true : {})
  }
})

test('help lists every word with its meaning, one per line', () => {
  const lines = String(magic('standin:help')?.choice.text).split('\n')
  expect(lines).toEqual(magicWords.map(({ word, meaning }) => `standin:${word} ${meaning}`))
  expect(new Set(magicWords.map(({ word }) => word)).size).toBe(magicWords.length)
  for (const { meaning } of magicWords) expect(meaning).toMatch(/^[A-Z].+\.$/)
})

test.each([
  'standin:empty',
  'say standin:empty',
  'a\nstandin:empty\r\nb',
  'see http://a.test/standin:cut and standin:empty',
])('%j contains a magic word', text => {
  expect(magic(text)).toMatchObject({ choice: { text: '' }, fault: {} })
})

test.each(['', 'hello', 'standin', 'notstandin:slow', '"standin:slow"'])('%j contains no magic word', text => {
  expect(magic(text)).toBeUndefined()
})

test('any prompt without a magic word is left alone', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), text => {
      expect(magic(text)).toBeUndefined()
    }),
  )
})

test('several words combine: fault and pace from one, text from another', () => {
  expect(magic('standin:slow standin:json standin:cut standin:no-done standin:filter standin:reasoning')).toEqual({
    choice: { text: expect.stringMatching(/^{/), finishReason: 'content_filter', reasoning: expect.any(String) },
    fault: { cutAfterChunks: 3, done: 'missing' },
    pace: { firstTokenMs: 1000, tokensPerSecond: 5 },
    words: ['slow', 'json', 'cut', 'no-done', 'filter', 'reasoning'],
  })
})

test('length cuts the text of another word in the middle, but never splits a character', () => {
  const whole = String(magic('standin:unicode')?.choice.text)
  const cut = String(magic('standin:length standin:unicode')?.choice.text)
  expect(whole.startsWith(cut)).toBe(true)
  expect([...cut]).toHaveLength(Math.ceil([...whole].length / 2))
  expect(cut).not.toMatch(/\p{Cs}/u)
  expect(magic('standin:empty standin:length')?.choice).toEqual({ text: '', finishReason: 'length' })
})

test('tool calls the first offered tool, or the named one, with arguments from its schema', async () => {
  const tools = [{ type: 'web_search' }, weather, clock, grep]
  /** The sample of a schema is the schema itself. */
  async function callIn(text: string) {
    const { calls } = magic(text, { tools }) ?? {}
    return calls && callOf(calls, async schema => ({ sampleOf: schema }))
  }
  expect(magic('standin:tool', { tools })?.choice).toEqual({ text: null })
  expect(await callIn('standin:tool')).toEqual({
    kind: 'function',
    name: 'get_weather',
    arguments: '{"sampleOf":{"of":"weather"}}',
  })
  expect(await callIn('standin:tool:get_time')).toEqual({
    kind: 'function',
    name: 'get_time',
    arguments: '{"sampleOf":{"type":"object"}}',
  })
  expect(await callIn('standin:tool:grep')).toEqual({
    kind: 'custom',
    name: 'grep',
    arguments: expect.stringMatching(/^[^{]+$/),
  })
  expect(magic('standin:json standin:tool', { tools })).toMatchObject({
    choice: { text: expect.stringMatching(/^{/) },
    calls: { name: 'get_weather' },
  })
})

test('a tool that is not offered is a 400 that names the offered ones', () => {
  expect(refusalOf('standin:tool')).toEqual({
    status: 400,
    code: 'no_tool_offered',
    message: 'The prompt says "standin:tool", but the request offers no tool to call.',
  })
  expect(refusalOf('standin:tool:get_wether', { tools: [weather, clock] })).toEqual({
    status: 400,
    code: 'tool_not_offered',
    message: `The prompt asks for the tool "get_wether", which the request does not offer.${didYouMean('get_weather')} It offers get_weather or get_time.`,
  })
})

test.each([
  ['standin:slwo', 'standin:slow'],
  ['standin:error-200', 'standin:error-500'],
])('%s is a 400 that suggests %s and lists all words', (word, proposal) => {
  const { message = '', ...rest } = refusalOf(`standin:json ${word} please`) ?? {}
  expect(rest).toEqual({ status: 400, code: 'unknown_magic' })
  expect(message).toContain(`The prompt says "${word}", which is not a magic word.${didYouMean(proposal)}`)
  for (const known of magicWords) expect(message).toContain(known.word)
})

test('any text after the colon either works or is a 400 of bounded length', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter, minLength: 1 }),
      fc.constantFrom('', 'tool:', 'error-'),
      (name, start) => {
        const refusal = refusalOf(`standin:${start}${name.replace(/\s/g, '_').repeat(20)}`, { tools: [weather] })
        if (refusal) expect(refusal.status).toBe(400)
        expect(refusal?.message.length ?? 0).toBeLessThan(1200)
      },
    ),
  )
})

test('magic changes the usual reply: a text of its own replaces it, anything else is added to it', () => {
  const usual: Generation = {
    choices: [{ text: 'one', reasoning: 'hm' }, { text: 'two' }],
    usage: { completionTokens: 7 },
    pace: { jitter: 0.5 },
    fault: { delayMs: 5 },
    answeredBy: { kind: 'rule', title: 'rule "a"', place: 'rules[0]' },
  }
  const done = (text: string) => withMagic(usual, magic(text) as Magic)
  expect(done('standin:filter standin:slow')).toEqual({
    ...usual,
    choices: [
      { text: 'one', reasoning: 'hm', finishReason: 'content_filter' },
      { text: 'two', finishReason: 'content_filter' },
    ],
    pace: { jitter: 0.5, firstTokenMs: 1000, tokensPerSecond: 5 },
    answeredBy: { kind: 'magic', words: ['filter', 'slow'] },
  })
  expect(done('standin:empty standin:cut')).toEqual({
    choices: [{ text: '' }],
    pace: usual.pace,
    fault: { cutAfterChunks: 3 },
    answeredBy: { kind: 'magic', words: ['empty', 'cut'] },
  })
  const plain: Generation = {
    choices: [{ text: 'one' }],
    answeredBy: { kind: 'rule', title: 'rule "b"', place: 'rules[1]' },
  }
  expect(withMagic(plain, magic('standin:hang') as Magic)).toEqual({
    ...plain,
    fault: { hang: true },
    answeredBy: { kind: 'magic', words: ['hang'] },
  })
})
