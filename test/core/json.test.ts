import { expect, test } from 'vitest'
import { parseExact, stringifyExact } from '../../src/core/json.js'

test('long integers keep their digits', () => {
  const text = `{"a":[1186398424392011776,-${'9'.repeat(500)}],"b":"1186398424392011776","c":12}`
  expect(stringifyExact(parseExact(text))).toBe(text)
  expect(parseExact('1186398424392011776')).toBe(1186398424392011776n)
})

test('numbers with more than 500 digits are read as by JSON.parse', () => {
  for (const digits of ['9'.repeat(501), `-${'9'.repeat(600)}`, '1e400'])
    expect(parseExact(digits)).toBe(JSON.parse(digits))
})
