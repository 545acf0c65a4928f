import { setTimeout as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createCounters, WINDOW_MS } from '../../src/limits/counters.js'
import { duration } from '../../src/limits/index.js'

/** Frees what is no longer referenced. */
async function collectGarbage() {
  setFlagsFromString('--expose-gc')
  // The target of a new weak reference is kept until the next turn.
  await turn()
  runInNewContext('gc')()
}

test('an expired window is freed when another credential starts one', async () => {
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
  expect(counters.usedBy('early')).toEqual({ requests: 0, tokens: 0, refused: 0, resetMs: 0 })
})

test('reading the usage of a credential does not start its minute', () => {
  let now = 0
  const counters = createCounters(() => now)
  counters.usedBy('ada')
  now = 30_000
  counters.windowOf('ada').requests++
  expect(counters.usedBy('ada')).toEqual({ requests: 1, tokens: 0, refused: 0, resetMs: WINDOW_MS })
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

test('all() lists usage and refusals, and drops each when it expires; forget() clears them', () => {
  let now = 0
  const counters = createCounters(() => now)
  counters.windowOf('ada').requests++
  now = WINDOW_MS / 2
  counters.windowOf('bob').refused += 2
  const ada = { key: 'ada', requests: 1, tokens: 0, refused: 0, resetMs: WINDOW_MS / 2 }
  const bob = { key: 'bob', requests: 0, tokens: 0, refused: 2, resetMs: WINDOW_MS }
  expect(counters.all()).toEqual([ada, bob])
  now = WINDOW_MS
  expect(counters.all()).toEqual([{ ...bob, resetMs: WINDOW_MS / 2 }])
  counters.forget()
  expect(counters.all()).toEqual([])
})
