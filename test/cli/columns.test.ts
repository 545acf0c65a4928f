import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutTo, widthOf, wrapped } from '../../src/cli/format.js'

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

test('what is wrapped fits, and all of it is still there', () => {
  fc.assert(
    fc.property(texts, widths, (text, width) => {
      const lines = wrapped(text, width)
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', '').normalize())
    }),
  )
})

test('what is cut fits, begins as it did, and says that something is missing', () => {
  fc.assert(
    fc.property(texts, widths, (text, width) => {
      const cut = cutTo(text, width)
      expect(widthOf(cut)).toBeLessThanOrEqual(width)
      expect(cut === text || (cut.endsWith('…') && text.startsWith(cut.slice(0, -1)))).toBe(true)
    }),
  )
})
