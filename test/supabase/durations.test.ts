import { expect, test } from 'vitest'
import { durationIn } from '../../src/supabase/endpoints/admin-params.js'

test.each([
  ['24h', 86_400_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['100ms', 100],
  ['5us', 0.005],
  ['1000000ns', 1],
  ['-2m', -120_000],
  ['0', 0],
])('%s lasts %d ms', (text, ms) => {
  const found = durationIn(text)
  expect('ms' in found && found.ms + 0).toBeCloseTo(ms, 9)
})

test.each([
  ['', 'invalid duration ""'],
  ['a while', 'invalid duration "a while"'],
  ['24', 'missing unit in duration "24"'],
  ['1d', 'unknown unit "d" in duration "1d"'],
  ['1h 30m', 'unknown unit "h " in duration "1h 30m"'],
  ['9999999h', 'invalid duration "9999999h"'],
])('%j is not a duration', (text, mistake) => {
  expect(durationIn(text)).toEqual({ mistake })
})
