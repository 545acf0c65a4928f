import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutTo, widthOf, wrap } from '../../src/cli/output.js'

const texts = fc.string({ unit: fc.constantFrom(...'ab é知人😀한', 'e\u0301'), maxLength: 200 })
const widths = fc.integer({ min: 2, max: 100 })

test.each([
  ['plain', 5],
  ['Grüße', 5],
  ['知らない人', 10],
  ['한국어', 6],
  ['ok 😀', 5],
  ['e\u0301', 1],
  ['→ ×12 … ·', 9],
])('%s takes %d columns', (text, width) => {
  expect(widthOf(text)).toBe(width)
})

test('wrapped lines fit the width and lose no text', () => {
  fc.assert(
    fc.property(texts, widths, (text, width) => {
      const lines = wrap(text, width)
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', '').normalize())
    }),
  )
})

test('cut text fits the width, keeps its beginning and ends in an ellipsis', () => {
  fc.assert(
    fc.property(texts, widths, (text, width) => {
      const cut = cutTo(text, width)
      expect(widthOf(cut)).toBeLessThanOrEqual(width)
      expect(cut === text || (cut.endsWith('…') && text.startsWith(cut.slice(0, -1)))).toBe(true)
    }),
  )
})
