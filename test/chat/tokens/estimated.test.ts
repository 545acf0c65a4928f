import fc from 'fast-check'
import { expect, test } from 'vitest'
import { estimated } from '../../../src/chat/tokens/index.js'
import { anyText } from './texts.js'

test('four characters are one token, and a remainder is one more', () => {
  expect(['', 'a', 'four', 'five!', '他们不用空格分'].map(estimated.count)).toEqual([0, 1, 1, 2, 2])
})

test('a cut text has as many tokens as the limit allows', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: -1, max: 30 }), (text, most) => {
      const cut = estimated.cut(text, most)
      expect(text.startsWith(cut)).toBe(true)
      expect(estimated.count(cut)).toBeLessThanOrEqual(Math.max(most, 0))
      // A character of two code units that does not fit is left out as a whole.
      if (cut !== text) expect(cut.length).toBeGreaterThanOrEqual(Math.max(most, 0) * 4 - 1)
    }),
  )
})

test('a cut never splits a character', () => {
  expect(estimated.cut('abc👍👍', 1)).toBe('abc')
  expect(estimated.cut('ab👍👍', 1)).toBe('ab👍')
  expect(estimated.cut('👍👍👍', 1)).toBe('👍👍')
})

test('pieces are words with their leading space, long ones in parts, and joined they are the text', () => {
  expect(estimated.pieces('Hi there, incomprehensibilities!  ')).toEqual([
    'Hi',
    ' there,',
    ' incomprehens',
    'ibilities!',
    '  ',
  ])
  fc.assert(fc.property(anyText, text => void expect(estimated.pieces(text).join('')).toBe(text)))
})
