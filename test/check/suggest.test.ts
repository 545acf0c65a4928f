import { expect, test } from 'vitest'
import { didYouMean } from '../../src/check/suggest.js'
import { didYouMean as suggested } from '../sentences.js'

test('names longer than 200 characters get no suggestion', () => {
  const name = (length: number) => 'm'.repeat(length)
  expect(didYouMean(name(200), [name(199)])).toBe(suggested(name(199)))
  expect(didYouMean(name(201), [name(200)])).toBe('')
})

test('a long name whose end is another one gets no suggestion, whatever its beginning', () => {
  const known = ['RECORDINGS_ON_MISS']
  expect(didYouMean('RECORDINGS_PROMPTS', known)).toBe('')
  expect(didYouMean('RECORDING_ON_MIS', known)).toBe(suggested(known[0] ?? ''))
})
