import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fits, likeness, shownBeside } from '../../src/testing/pattern.js'

const value = fc.jsonValue({ maxDepth: 4 })

/** Some of the keys of each object in a value. */
const partOf = (whole: unknown, keeps: (key: string) => boolean): unknown => {
  if (Array.isArray(whole)) return whole.map(part => partOf(part, keeps))
  if (typeof whole !== 'object' || whole === null) return whole
  return Object.fromEntries(
    Object.entries(whole)
      .filter(([key]) => keeps(key))
      .map(([key, part]) => [key, partOf(part, keeps)]),
  )
}

test('every value fits itself, and any part of itself', () => {
  fc.assert(
    fc.property(value, fc.func(fc.boolean()), (whole, keeps) => {
      expect(fits(whole, whole)).toBe(true)
      expect(fits(partOf(whole, keeps), whole)).toBe(true)
    }),
  )
})

test('what fits is as like as can be, nothing is more so, and what does not fit is less', () => {
  fc.assert(
    fc.property(value, value, (pattern, other) => {
      const alike = likeness(pattern, other)
      expect(alike).toBeGreaterThanOrEqual(0)
      expect(alike).toBeLessThanOrEqual(1)
      expect(alike === 1).toBe(fits(pattern, other))
    }),
  )
})

test('what fits is shown just as it was wanted, and what does not is not', () => {
  fc.assert(
    fc.property(value, value, (pattern, other) => {
      const same = fits(pattern, shownBeside(pattern, other))
      expect(same).toBe(fits(pattern, other))
    }),
  )
})

test.each([
  [{ a: /b/ }, { a: 'abc' }, true],
  [{ a: /b/g }, { a: 'abc' }, true],
  [{ a: /b/ }, { a: 1 }, false],
  [{ a: undefined }, {}, true],
  [{ a: undefined }, { a: null }, false],
  [[1, 2], [1], false],
  [{ 0: 1 }, [1], false],
  [{ a: expect.any(Number) }, { a: 1, b: 2 }, true],
  [{ a: expect.arrayContaining([2]) }, { a: [1, 2] }, true],
  [{ constructor: expect.anything() }, {}, false],
])('%o against %o: %s', (pattern, value, expected) => {
  expect(fits(pattern, value)).toBe(expected)
})
