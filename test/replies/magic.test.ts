import { readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { ChatRequest } from '../../src/chat/request.js'
import { PlatformError } from '../../src/core/errors.js'
import { faultSchema, faultWords } from '../../src/core/fault.js'
import { hasMagic, magicReply } from '../../src/replies/magic.js'
import { anyCharacter } from '../characters.js'
import { didYouMean } from '../sentences.js'

const parameters = { type: 'object', properties: { city: { const: 'Rome' } }, required: ['city'] }
const weather = { type: 'function', function: { name: 'get_weather', parameters } }
const clock = { type: 'function', function: { name: 'get_time' } }
const grep = { type: 'custom', custom: { name: 'grep' } }

/** The answer to a prompt with magic words. */
const magic = (text: string, more: Partial<ChatRequest> = {}) =>
  magicReply({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }], ...more }, text, 0)

const choiceOf = async (text: string, more?: Partial<ChatRequest>) => (await magic(text, more)).choices[0]

async function refusalOf(text: string, more?: Partial<ChatRequest>) {
  try {
    await magic(text, more)
  } catch (error) {
    if (error instanceof PlatformError) return { status: error.status, code: error.code, message: error.message }
    throw error
  }
  return undefined
}

const root = path.join(import.meta.dirname, '../..')
const names = Array.from(
  readFileSync(path.join(root, 'fixtures/magic-words.yaml'), 'utf8').matchAll(/^- name: (.+)$/gm),
  ([, name]) => name,
)

test.each([
  [
    'standin:status-500',
    { fault: { status: 500, message: 'Status 500, because the prompt says standin:status-500.' } },
  ],
  ['standin:status-429', { fault: { status: 429, message: expect.any(String), retryAfter: 1 } }],
  ['standin:status-503', { fault: { status: 503, message: expect.any(String), retryAfter: 1 } }],
  ['standin:slow', { fault: { delayMs: 1000 }, pace: { tokensPerSecond: 5 } }],
  ['standin:stall', { fault: { stall: 3 } }],
  ['standin:cut', { fault: { cut: 3 } }],
  ['standin:end', { fault: { end: 3 } }],
  ['standin:hang', { fault: { hang: true } }],
  ['standin:reset', { fault: { reset: 'before' } }],
  ['standin:malformed', { fault: { malformed: 2 } }],
  ['standin:done-missing', { fault: { done: 'missing' } }],
  ['standin:fail', { fault: { fail: 3 } }],
  ['standin:finish-content_filter', { fault: { finish: 'content_filter' } }],
  ['standin:refusal', { choices: [{ text: null, refusal: expect.stringContaining('sorry') }] }],
  ['standin:empty', { choices: [{ text: '' }] }],
  ['standin:reasoning', { choices: [{ text: expect.any(String), reasoning: expect.any(String) }] }],
  ['standin:finish', { fault: { finish: 'length' } }],
  ['standin:cut-7', { fault: { cut: 7 } }],
])('%s', async (word, expected) => {
  const answeredBy = { kind: 'magic', words: [word.slice(8)] }
  expect(await magic(`please ${word} now`)).toEqual({ choices: [expect.anything()], ...expected, answeredBy })
})

test('each text is what its word says', async () => {
  const textOf = async (word: string) => (await choiceOf(word))?.text ?? ''
  expect(JSON.parse(await textOf('standin:json'))).toMatchObject({ ok: true })
  const words = (await textOf('standin:long')).split(/\s+/)
  expect(words.length).toBeGreaterThan(1800)
  expect(words.length).toBeLessThan(2200)
  expect(await textOf('standin:markdown')).toMatch(/^# .*^## .*^1\. .*^\| --- \|.*^```ts$/ms)
  const unicode = await textOf('standin:unicode')
  for (const script of [/\p{Emoji_Presentation}/u, /\p{Script=Han}/u, /\p{Script=Hangul}/u, /\p{Script=Hebrew}/u]) {
    expect(unicode).toMatch(script)
  }
  expect(unicode).toMatch(/\p{L}\p{M}/u)
  expect(unicode).not.toBe(unicode.normalize('NFC'))
})

test('help lists every word, each works, and the page about faults names the rules', async () => {
  const lines = String((await choiceOf('standin:help'))?.text).split('\n')
  const listed = lines.map(line => /^standin:(\S+) [A-Z].+\.$/.exec(line)?.[1])
  expect(listed.toSorted()).toEqual([...names, 'tool', ...faultWords.map(({ word }) => word)].toSorted())
  const page = readFileSync(path.join(root, 'docs/faults-and-pace.md'), 'utf8')
  for (const name of [...names, 'tool']) expect(page).toMatch(new RegExp(`\`(standin:)?${name}\``))
  for (const word of listed) {
    const { fault, answeredBy } = await magic(`standin:${word}`, { tools: [weather] })
    if (fault) expect(v.is(faultSchema, fault), word).toBe(true)
    expect(answeredBy).toMatchObject({ words: [word] })
  }
})

test.each([
  'standin:empty',
  'standin:empty please',
  'a\nstandin:empty\r\nb',
  'a\tstandin:empty\tb',
  'see http://a.test/standin:cut and (standin:empty).',
])('%j contains a magic word', async text => {
  expect(hasMagic(text)).toBe(true)
  expect(await magic(text)).toEqual({ choices: [{ text: '' }], answeredBy: { kind: 'magic', words: ['empty'] } })
})

test.each(['', 'standin', 'standin :slow', 'standin: slow', 'notstandin:slow', '"standin:slow"', 'Standin:slow'])(
  '%j contains no magic word',
  text => {
    expect(hasMagic(text)).toBe(false)
  },
)

test.each([
  ['error-503', 'status-503'],
  ['no-done', 'done-missing'],
  ['error-event', 'fail'],
  ['length', 'finish-length'],
  ['filter', 'finish-content_filter'],
])('the word %s of earlier releases means %s', async (old, word) => {
  const { fault } = await magic(`standin:${word}`)
  const { message, ...named } = { ...(await magic(`standin:${old}`)).fault }
  expect(fault).toMatchObject(named)
})

test('several words combine: fault and pace from one, text from another', async () => {
  const prompt = 'standin:slow standin:json standin:cut standin:done-missing standin:reasoning'
  expect(await magic(prompt)).toEqual({
    choices: [{ text: expect.stringMatching(/^{/), reasoning: expect.any(String) }],
    fault: { delayMs: 1000, cut: 3, done: 'missing' },
    pace: { tokensPerSecond: 5 },
    answeredBy: { kind: 'magic', words: ['slow', 'json', 'cut', 'done-missing', 'reasoning'] },
  })
})

test('of two words for the same thing the first counts', async () => {
  expect(await magic('standin:status-404 standin:status-429 standin:json standin:markdown')).toMatchObject({
    fault: { status: 404, message: expect.stringContaining('404') },
    choices: [{ text: expect.stringMatching(/^{/) }],
  })
})

test('tool calls the first offered tool, or the named one, with arguments from its schema', async () => {
  const tools = [{ type: 'web_search' }, weather, clock, grep]
  const call = (name: string, said: string) => ({ kind: 'function', name, arguments: said })
  expect(await choiceOf('standin:tool', { tools })).toEqual({
    text: null,
    toolCalls: [call('get_weather', '{"city":"Rome"}')],
  })
  expect((await choiceOf('standin:tool:get_time', { tools }))?.toolCalls).toEqual([call('get_time', '{}')])
  expect((await choiceOf('standin:tool:grep', { tools }))?.toolCalls).toEqual([
    { kind: 'custom', name: 'grep', arguments: expect.stringMatching(/^[^{]+$/) },
  ])
  expect(await choiceOf('standin:json standin:tool', { tools })).toMatchObject({
    text: expect.stringMatching(/^{/),
    toolCalls: [{ name: 'get_weather' }],
  })
})

test('the result of the tool is answered with text, so that tool calls end', async () => {
  const messages: ChatRequest['messages'] = [
    { role: 'user', content: 'standin:tool' },
    { role: 'assistant', content: null },
    { role: 'tool', content: '21 °C' },
  ]
  expect(await choiceOf('standin:tool', { messages, tools: [weather] })).toEqual({ text: 'The tool says: 21 °C' })
})

test('a tool that is not offered is a 400 that names the offered ones', async () => {
  expect(await refusalOf('standin:tool')).toEqual({
    status: 400,
    code: 'no_tool_offered',
    message: 'The prompt asks for a tool call, but the request offers no tool to call.',
  })
  expect(await refusalOf('standin:tool:get_wether', { tools: [weather, clock] })).toEqual({
    status: 400,
    code: 'tool_not_offered',
    message: `The prompt asks for the tool "get_wether", which the request does not offer.${didYouMean('get_weather')} It offers get_weather or get_time.`,
  })
})

test.each([
  ['standin:slwo', 'standin:slow'],
  ['standin:status-200', 'standin:status-500'],
  ['standin:stauts-500', 'standin:status-500'],
  ['standin:error-5000', 'standin:status-500'],
  ['standin:done-mising', 'standin:done-missing'],
])('%s is a 400 that suggests %s and lists all words', async (word, proposal) => {
  const { message = '', ...rest } = (await refusalOf(`standin:json ${word} please`)) ?? {}
  expect(rest).toEqual({ status: 400, code: 'unknown_magic' })
  expect(message).toContain(`The prompt says "${word}", which is not a magic word.${didYouMean(proposal)}`)
  for (const known of names) expect(message).toContain(known)
})

test('any text after the colon either works or is a 400 of bounded length', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: anyCharacter, minLength: 1 }),
      fc.constantFrom('', 'tool:', 'error-'),
      async (name, start) => {
        const prompt = `standin:${start}${name.replace(/\s/g, '_').repeat(20)}`
        const refusal = await refusalOf(prompt, { tools: [weather] })
        if (refusal) expect(refusal.status).toBe(400)
        expect(refusal?.message.length ?? 0).toBeLessThan(1200)
      },
    ),
  )
})
