import { setTimeout as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createCounters, WINDOW_MS } from '../../src/limits/counters.js'
import { duration } from '../../src/limits/headers.js'

/** Frees what nobody holds any more. */
async function collectGarbage() {
  setFlagsFromString('--expose-gc')
  // What a weak reference was made of in this turn is held until the next one.
  await turn()
  runInNewContext('gc')()
}

test('of a credential whose minute is over nothing is kept once anybody else comes', async () => {
  let now = 0
  const counters = createCounters(() => now)
  const early = new WeakRef(counters.windowOf('early'))
  now = WINDOW_MS / 2
  const late = new WeakRef(counters.windowOf('late'))
  now = WINDOW_MS
  counters.windowOf('newcomer')
  await collectGarbage()
  expect(early.deref()).toBeUndefined()
  expect(late.deref()).toBeDefined()
  expect(counters.usedBy('early')).toEqual({ requests: 0, tokens: 0, resetMs: 0 })
})

test('looking at what a credential has used begins no minute', () => {
  let now = 0
  const counters = createCounters(() => now)
  counters.usedBy('ada')
  now = 30_000
  counters.windowOf('ada').requests++
  expect(counters.usedBy('ada')).toEqual({ requests: 1, tokens: 0, resetMs: WINDOW_MS })
})

test.each([
  [0, '0s'],
  [-5, '0s'],
  [5.2, '6ms'],
  [999, '999ms'],
  [999.5, '1s'],
  [1200, '1.2s'],
  [59_999.1, '1m0s'],
  [60_000, '1m0s'],
  [61_050, '1m1.05s'],
])('%d milliseconds are written as %s', (ms, written) => {
  expect(duration(ms)).toBe(written)
})
