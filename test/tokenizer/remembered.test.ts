import { expect, test, vi } from 'vitest'
import { remembered } from '../../src/tokenizer/remembered.js'

const lengths = (bounds: { characters: number; texts: number }) => {
  const find = vi.fn((text: string) => text.length)
  return { find, lengthOf: remembered(find, bounds) }
}

test('what comes again is not worked out again', () => {
  const { find, lengthOf } = lengths({ characters: 100, texts: 10 })
  expect(['hello', '', 'hello', '', 'hello'].map(lengthOf)).toEqual([5, 0, 5, 0, 5])
  expect(find).toHaveBeenCalledTimes(2)
})

test('beyond so many texts the one that was not asked for longest is forgotten', () => {
  const { find, lengthOf } = lengths({ characters: 100, texts: 2 })
  for (const text of ['a', 'b', 'a', 'c']) lengthOf(text)
  find.mockClear()
  for (const text of ['a', 'c', 'b']) lengthOf(text)
  expect(find.mock.calls).toEqual([['b']])
})

test('beyond so many characters too, and a text that is longer than that is never kept', () => {
  const { find, lengthOf } = lengths({ characters: 10, texts: 10 })
  for (const text of ['12345', 'abcde', 'x', 'longer than all', 'longer than all']) lengthOf(text)
  expect(find).toHaveBeenCalledTimes(5)
  find.mockClear()
  for (const text of ['abcde', 'x', '12345']) lengthOf(text)
  expect(find.mock.calls).toEqual([['12345']])
})
