import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Outcome } from '../../src/core/exchange.js'
import { createTally } from '../../src/journal/index.js'
import { createSeconds, MOST_SECONDS } from '../../src/journal/tally.js'
import { exchangeWith } from '../exchanges.js'

const ended = (status: number, complete = true) =>
  exchangeWith({ outcome: { status, complete, answeredBy: undefined, error: undefined } satisfies Outcome })

test('p50 and p95 are accurate within a tenth for any durations', () => {
  const times = fc.array(fc.double({ min: 0.05, max: 3_600_000, noNaN: true }), { minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(times, durationsMs => {
      const tally = createTally()
      for (const durationMs of durationsMs) tally.add(ended(200), durationMs)
      const { requests, p50Ms, p95Ms } = tally.take()
      const exact = (part: number) =>
        durationsMs.toSorted((a, b) => a - b)[Math.ceil(durationsMs.length * part) - 1] ?? Number.NaN
      expect(requests).toBe(durationsMs.length)
      expect(Math.abs((p50Ms ?? 0) / exact(0.5) - 1)).toBeLessThan(0.1)
      expect(Math.abs((p95Ms ?? 0) / exact(0.95) - 1)).toBeLessThan(0.1)
    }),
  )
})

test('refused, failed, cut and unanswered requests are errors; taking the tally resets it', () => {
  const tally = createTally()
  for (const exchange of [ended(200), ended(404), ended(503), ended(200, false), ended(0), exchangeWith()]) {
    tally.add(exchange, 1)
  }
  expect(tally.take()).toMatchObject({ requests: 6, errors: 5 })
  expect(tally.take()).toEqual({ requests: 0, errors: 0, p50Ms: null, p95Ms: null })
})

test('the last two minutes are kept second by second, quiet ones included, without a timer', () => {
  const seconds = createSeconds()
  const requestsAt = (nowMs: number) => seconds.last(nowMs).map(({ requests }) => requests)
  expect(requestsAt(5000)).toEqual([])
  seconds.add(ended(200), 5, 5000)
  seconds.add(ended(404), 5, 5999)
  seconds.add(ended(200), 5, 8000)
  expect(requestsAt(8500)).toEqual([2, 0, 0, 1])
  expect(seconds.last(8500)[0]).toMatchObject({ errors: 1, p50Ms: expect.any(Number) })
  const lastMs = (MOST_SECONDS + 6) * 1000
  expect(requestsAt(lastMs).filter(requests => requests > 0)).toEqual([1])
  expect(requestsAt(lastMs + 3000)).toEqual([])
})
