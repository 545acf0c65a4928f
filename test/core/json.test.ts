import { expect, test } from 'vitest'
import { exactJsonBody, parseExact, stringifyExact } from '../../src/core/json.js'

test('long integers keep their digits', () => {
  const text = `{"a":[1186398424392011776,-${'9'.repeat(500)}],"b":"1186398424392011776","c":12}`
  expect(stringifyExact(parseExact(text))).toBe(text)
  expect(parseExact('1186398424392011776')).toBe(1186398424392011776n)
})

test('numbers with more than 500 digits are read as by JSON.parse', () => {
  for (const digits of ['9'.repeat(501), `-${'9'.repeat(600)}`, '1e400'])
    expect(parseExact(digits)).toBe(JSON.parse(digits))
})

test('a body with many long numbers is read in slices', () => {
  const numbers = Array.from({ length: 1000 }, (_, i) => `${10n ** 30n + BigInt(i)}`)
  const reading = exactJsonBody(Buffer.from(`[${numbers.join()}]`))
  let pauses = 0
  let step = reading.next()
  for (; !step.done; step = reading.next()) pauses++
  expect(pauses).toBeGreaterThan(numbers.length)
  expect(stringifyExact(step.value)).toBe(`[${numbers.join()}]`)
})
