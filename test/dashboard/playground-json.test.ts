import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodyWith, firstSettings, mistakeIn, type PlaygroundSettings } from '../../src/page/playground/settings.js'
import { placeOfMistake, readJson } from '../../src/page/text-places.js'
import { runs } from '../runs.js'

/** JSON with a piece of it cut out, doubled or replaced. */
const nearlyJson = fc
  .tuple(
    fc.json(),
    fc.nat(),
    fc.nat(3),
    fc.constantFrom('', ',', '"', '}', ']', '{', ':', '\\', '\n', 'x', '-', '0', '.', '\u0001'),
  )
  .map(
    ([json, at, cut, put]) => json.slice(0, at % (json.length + 1)) + put + json.slice((at % (json.length + 1)) + cut),
  )

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('a text is JSON here exactly when it is for JSON.parse', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), nearlyJson, fc.string()), text => {
      expect(placeOfMistake(text) === undefined).toBe(isJson(text))
    }),
    { numRuns: runs(3000) },
  )
})

test('up to the place of the mistake the text could still have become JSON, and behind it no more', () => {
  fc.assert(
    fc.property(nearlyJson, text => {
      const place = placeOfMistake(text)
      if (place === undefined) return
      // Up to there only the text, word or number that is being written may be unfinished.
      const before = placeOfMistake(text.slice(0, place)) ?? place
      expect(text.slice(before, place)).toMatch(/^(?:"[^"]*)?$/)
      // A word or a number may still become one; nothing heals anything else.
      if (/[-\w.+]/.test(text.charAt(place))) return
      for (const more of ['', '"', '}', ']', '1', ' ']) {
        if (place < text.length) expect(isJson(text.slice(0, place + 1) + more)).toBe(false)
      }
    }),
    { numRuns: runs(2000) },
  )
})

test.each([
  ['[\n  1,\n]', 'Line 3, column 1: "]" cannot stand here; the comma before it is one too many.'],
  ["{ 'a': 1 }", `Line 1, column 3: "'" cannot stand here; texts stand between double quotes.`],
  ['{ "a": 1 // one\n}', 'Line 1, column 10: "/" cannot stand here; JSON has no comments.'],
  ['{ "a": "one\n" }', 'Line 1, column 12: a line end cannot stand here.'],
  ['{ "a": [1, 2', 'Line 1, column 13: it ends too early.'],
  ['{ "a": 😀 }', 'Line 1, column 8: "😀" cannot stand here.'],
])('%j: %s', (text, sentence) => {
  expect(readJson(text)).toEqual({ mistake: expect.objectContaining({ sentence }) })
})

test('nesting without end is no matter', () => {
  expect(placeOfMistake('['.repeat(200_000))).toBe(200_000)
})

const set = (news: Partial<PlaygroundSettings>) => ({ ...firstSettings, ...news })
const tool = (name: string) => ({ type: 'function', function: { name } })

test.each([
  ['{}', 'Tool 1 has no name.'],
  [JSON.stringify([tool('a'), { type: 'function' }]), 'Tool 2 has no name.'],
  [JSON.stringify([tool('a'), tool('a')]), 'Two tools are called "a".'],
  ['7', 'Tool 1 has no name.'],
  ['null', 'Tool 1 has no name.'],
])('tools that are %s are not sent: %s', (tools, sentence) => {
  expect(mistakeIn(set({ tools }), 'tools')).toContain(sentence)
  expect(bodyWith(set({ tools }), 'm', [])).toEqual({
    wrong: { name: 'tools', sentence: expect.stringContaining(sentence) },
  })
})

test('one tool may stand without its list, and a choice of a tool that is gone is not sent', () => {
  const settings = set({ tools: JSON.stringify(tool('a')), toolChoice: 'b', stream: false })
  expect(bodyWith(settings, 'm', [])).toEqual({ body: { model: 'm', messages: [], tools: [tool('a')], stream: false } })
})

test('a response format that is one is sent as it is', () => {
  const responseFormat = JSON.stringify({ type: 'json_object' })
  expect(bodyWith(set({ responseFormat }), 'm', [])).toMatchObject({
    body: { response_format: { type: 'json_object' } },
  })
  expect(mistakeIn(set({ responseFormat: '[]' }), 'responseFormat')).toBe('Write one object.')
})

test.each(['warm', '1,5', 'NaN', 'Infinity', '--1'])('%s is no number', temperature => {
  expect(mistakeIn(set({ temperature }), 'temperature')).toBe('Write a number, or nothing.')
})
