/** Glob patterns: what they match, also on long names. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { glob } from '../../src/core/paths.js'
import { runs } from '../runs.js'

test.each([
  ['/v1/*', '/v1/chat/completions', true],
  ['/v1/*', '/v2/chat', false],
  ['*', '', true],
  ['/v?/models', '/v1/models', true],
  ['/v?/models', '/v12/models', false],
  ['a*b*b', 'ab', false],
  ['a*b*b', 'abb', true],
  ['*a.c*', 'xabcx', false],
  ['***x***', 'line\nx', true],
  ['(a|b)[c]\\$', '(a|b)[c]\\$', true],
  ['*1*2*3', '0102030123', true],
])('%s on %j: %s', (pattern, name, fits) => {
  expect(glob(pattern).test(name)).toBe(fits)
})

/** A reference implementation, letter by letter. */
function fits(pattern: string, name: string): boolean {
  if (pattern === '') return name === ''
  if (pattern[0] === '*') return fits(pattern.slice(1), name) || (name !== '' && fits(pattern, name.slice(1)))
  return name !== '' && (pattern[0] === '?' || pattern[0] === name[0]) && fits(pattern.slice(1), name.slice(1))
}

test('any pattern matches like the reference implementation', () => {
  const letters = (of: string, maxLength: number) =>
    fc.array(fc.constantFrom(...of), { maxLength }).map(found => found.join(''))
  fc.assert(
    fc.property(letters('ab1*?', 8), letters('ab1', 10), (pattern, name) => {
      expect(glob(pattern).test(name)).toBe(fits(pattern, name))
    }),
    { numRuns: runs(2000) },
  )
})

// With backtracking neither would ever end.
test('many stars on a long name are matched quickly', () => {
  expect(glob(`${'*a'.repeat(50)}*b`).test('a'.repeat(100_000))).toBe(false)
  expect(glob(`${'*a'.repeat(30_000)}*`).test('a'.repeat(30_000))).toBe(true)
})
