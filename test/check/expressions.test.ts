import { expect, test } from 'vitest'
import { matchInTime, mayTakeForever } from '../../src/check/endless.js'
import { compiled } from '../../src/check/expressions.js'

test.each([/(a+)+/, /^((a+))+$/, /(.*,)*x/, /^(\w+\s?){1,50}$/, /(?=(a+)+$)b/, /(\d{1,},?)+/])(
  'matching %s may take forever',
  expression => {
    expect(mayTakeForever(expression)).toBe(true)
  },
)

test.each([
  /^(\w+)-\d+$/,
  /(foo|bar)+/,
  /(\d{3},)*\d+/,
  /^[a-z]{2}(-[A-Z]{2})?$/,
  /(\d{1,3}\.){3}\d{1,3}/,
  /a\?{2}(b?)+/,
])('matching %s always ends', expression => {
  expect(mayTakeForever(expression)).toBe(false)
})

test('an expression that is too large is refused where it is made, and its message does not repeat it', () => {
  const message = (() => {
    try {
      return String(compiled('='.repeat(60_000)))
    } catch (error) {
      return (error as Error).message
    }
  })()
  expect(message).toMatch(/^Invalid regular expression: \/=+….*too large$/)
  expect(message.length).toBeLessThan(300)
})

test('matching ends in time', () => {
  expect(matchInTime(/^(\w+\s?)*$/, 'one two')).toBe(true)
  expect(matchInTime(/^(\w+\s?)*$/, `${'a'.repeat(60)}!`)).toBeUndefined()
})
