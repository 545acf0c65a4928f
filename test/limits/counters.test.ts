import { setTimeout as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createCounters, WINDOW_MS } from '../../src/limits/counters.js'
import { duration } from '../../src/limits/index.js'

/** Frees what is no longer referenced. */
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

test('all that is known of credentials is told, and forgotten when its time is over', () => {
  let now = 0
  const counters = createCounters(() => now)
  counters.windowOf('ada').requests++
  const close = counters.openStream('bob')
  now = WINDOW_MS / 2
  counters.refuse('bob')
  counters.refuse('bob')
  const ada = { key: 'ada', requests: 1, tokens: 0, streams: 0, refused: 0, resetMs: WINDOW_MS / 2 }
  const bob = { key: 'bob', requests: 0, tokens: 0, streams: 1, refused: 2, resetMs: 0 }
  expect(counters.all()).toEqual([ada, bob])
  now = WINDOW_MS
  expect(counters.all()).toEqual([bob])
  now = WINDOW_MS * 2
  expect(counters.all()).toEqual([{ ...bob, refused: 0 }])
  close()
  expect(counters.all()).toEqual([])
})

test('what was used can be forgotten; streams stay open', () => {
  const counters = createCounters(() => 0)
  counters.windowOf('ada').tokens += 7
  counters.refuse('ada')
  const close = counters.openStream('ada')
  counters.forget()
  expect(counters.all()).toEqual([{ key: 'ada', requests: 0, tokens: 0, streams: 1, refused: 0, resetMs: 0 }])
  close()
  expect(counters.all()).toEqual([])
})
