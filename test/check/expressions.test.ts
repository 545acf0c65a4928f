import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mayTakeForever } from '../../src/check/expressions.js'

test.each([
  /(a+)+/,
  /(aa+)+/,
  /^((a+))+$/,
  /(a|a)*/,
  /(a|b|ab)*/,
  /(a|A)+/i,
  /(.*,)*x/,
  /(a*b*)*/,
  /^(\w+\s?)*$/,
  /^(\w+\s?){1,50}$/,
  /^(?:x+|y)*$/,
  /(?:\p{L}+|é)*$/u,
  /(\d{1,3},?)+/,
  /((a+){2})*/,
  /(?=(a+)+$)b/,
])('matching %s may take forever', expression => {
  expect(mayTakeForever(expression)).toBe(true)
})

test.each([
  /^(\w+)-\d+$/,
  /(foo|bar)+/,
  /(a|ab)*/,
  /(a{2})+/,
  /(\d{3},)*\d+/,
  /(?:[a-z]+\s)*/,
  /^(\w+\.)+\w+$/,
  /(?:\s*,\s*\w+)*/,
  /"(?:[^"\\]|\\.)*"/,
  /(\d{1,3}\.){3}\d{1,3}/,
  /^(?:\+?\d{1,3}[ -]?)?\d+$/,
  /[\w.+-]+@[\w-]+\.[\w.]+/,
  /^(?=.{1,9}$)[a-z]+$/,
  /<(\w+)>.*<\/\1>/,
  /.*foo.*bar/,
])('matching %s always ends', expression => {
  expect(mayTakeForever(expression)).toBe(false)
})

test('every valid expression gets an answer', () => {
  const written = fc.string({ unit: fc.constantFrom(...'ab(())||**++?{}1,[]^-\\.$:=!<>wsk'), maxLength: 20 })
  fc.assert(
    fc.property(written, fc.constantFrom('', 'i', 'u', 'v'), (source, flags) => {
      try {
        new RegExp(source, flags)
      } catch {
        return
      }
      expect(mayTakeForever(new RegExp(source, flags))).toBeTypeOf('boolean')
    }),
    { numRuns: 2000 },
  )
})
