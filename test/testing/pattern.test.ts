import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matches, partsNamedBy, similarity } from '../../src/testing/exchange-filter.js'

const value = fc.jsonValue({ maxDepth: 4 })

/** A value with only some of the keys of each object in it. */
const partOf = (whole: unknown, keeps: (key: string) => boolean): unknown => {
  if (Array.isArray(whole)) return whole.map(part => partOf(part, keeps))
  if (typeof whole !== 'object' || whole === null) return whole
  return Object.fromEntries(
    Object.entries(whole)
      .filter(([key]) => keeps(key))
      .map(([key, part]) => [key, partOf(part, keeps)]),
  )
}

test('every value matches itself and any part of itself', () => {
  fc.assert(
    fc.property(value, fc.func(fc.boolean()), (whole, keeps) => {
      expect(matches(whole, whole)).toBe(true)
      expect(matches(partOf(whole, keeps), whole)).toBe(true)
    }),
  )
})

test('the likeness is between 0 and 1, and 1 exactly for a match', () => {
  fc.assert(
    fc.property(value, value, (pattern, other) => {
      const alike = similarity(pattern, other)
      expect(alike).toBeGreaterThanOrEqual(0)
      expect(alike).toBeLessThanOrEqual(1)
      expect(alike === 1).toBe(matches(pattern, other))
    }),
  )
})

test('the shown value matches the pattern exactly if the real value does', () => {
  fc.assert(
    fc.property(value, value, (pattern, other) => {
      const same = matches(pattern, partsNamedBy(pattern, other))
      expect(same).toBe(matches(pattern, other))
    }),
  )
})

test.each([
  [{ a: /b/ }, { a: 'abc' }, true],
  [{ a: undefined }, {}, true],
  [[1, 2], [1], false],
  [{ 0: 1 }, [1], false],
  [{ a: expect.any(Number) }, { a: 1, b: 2 }, true],
  [{ a: expect.arrayContaining([2]) }, { a: [1, 2] }, true],
])('%o against %o: %s', (pattern, value, expected) => {
  expect(matches(pattern, value)).toBe(expected)
})
