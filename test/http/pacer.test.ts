import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type PaceInput, unpaced } from '../../src/core/pace.js'
import type { PacedBody } from '../../src/core/reply.js'
import { createPacer, type Sink } from '../../src/http/pacer.js'
import { runs } from '../runs.js'

// Time is simulated: vitest fakes the wheel's timer, and only `pass` and `stall` move the clock.
let clockMs = 0
beforeEach(() => {
  clockMs = 1000
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => void vi.useRealTimers())

const pacerOnClock = () => createPacer({ tickMs: 5, nowMs: () => clockMs })

/** Time passes as on an idle machine. */
function pass(ms: number) {
  for (let i = 0; i < ms; i++) {
    clockMs++
    vi.advanceTimersByTime(1)
  }
}

/** Time passes while the machine is too busy to run timers. */
const stall = (ms: number) => {
  clockMs += ms
}

type Played = PaceInput & Partial<Pick<PacedBody, 'pieces' | 'seed'>> & { rhythm?: readonly number[] }

const paced = ({ pieces = ['a', 'b', 'c'], seed, rhythm, ...pace }: Played): PacedBody => ({
  ...{ head: 'head ', before: '<', pieces, after: '>', tail: ' tail' },
  pace: { ...unpaced, ...(pace as object) },
  ...(seed !== undefined && { seed }),
  ...(rhythm && { atMs: rhythm }),
})

/** `count` different pieces. */
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `${i}`)

interface RecordedSink extends Sink {
  readonly writes: { readonly text: string; readonly atMs: number; readonly last: boolean }[]
  full: boolean
  /** Everything written so far. */
  text(): string
  /** When each write came, in milliseconds since the reader was created. */
  times(): readonly number[]
}

/** A reader that records what it receives, and when. */
function reader(): RecordedSink {
  const startedMs = clockMs
  const sink: RecordedSink = {
    writes: [],
    full: false,
    isFull: () => sink.full,
    write: text => void sink.writes.push({ text, atMs: clockMs - startedMs, last: false }),
    end: text => void sink.writes.push({ text, atMs: clockMs - startedMs, last: true }),
    text: () => sink.writes.map(({ text }) => text).join(''),
    times: () => sink.writes.map(({ atMs }) => atMs),
  }
  return sink
}

const whole = 'head <a><b><c> tail'

test('an unpaced stream is sent immediately in one write, without a timer', () => {
  const sink = reader()
  pacerOnClock().play(paced({}), sink)
  expect(sink.writes).toEqual([{ text: whole, atMs: 0, last: true }])
  expect(vi.getTimerCount()).toBe(0)
})

test('many streams share one timer, and each keeps its own pace', () => {
  const pacer = pacerOnClock()
  const streams = Array.from({ length: 200 }, (_, i) => ({ sink: reader(), firstTokenMs: i * 5 }))
  for (const { sink, firstTokenMs } of streams) pacer.play(paced({ firstTokenMs, tokensPerSecond: 50 }), sink)
  expect(vi.getTimerCount()).toBe(1)
  pass(1200)
  for (const { sink, firstTokenMs } of streams) {
    expect(sink.times()).toEqual([firstTokenMs, firstTokenMs + 20, firstTokenMs + 40])
    expect(sink.text()).toBe(whole)
  }
  expect(vi.getTimerCount()).toBe(0)
})

describe('pauses that vary', () => {
  const pieces = numbered(1001)

  /** The pauses between pieces, as played on an idle machine with a wheel of 1 ms. */
  function pausesOf(pace: Played) {
    const sink = reader()
    createPacer({ tickMs: 1, nowMs: () => clockMs }).play(paced({ pieces, tokensPerSecond: 10, ...pace }), sink)
    while (!sink.writes.at(-1)?.last) pass(1000)
    return sink.times().flatMap((atMs, i, all) => (i === 0 ? [] : [atMs - (all[i - 1] ?? 0)]))
  }
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  const spread = (numbers: readonly number[]) => Math.sqrt(mean(numbers.map(number => (number - mean(numbers)) ** 2)))

  test('evenly spread up to a fifth above and below the same mean', () => {
    const pauses = pausesOf({ jitter: 0.2, seed: 42 })
    expect(pauses).toHaveLength(1000)
    // The wheel rounds each piece up to a millisecond.
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(79)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(121)
    expect(Math.abs(mean(pauses) - 100)).toBeLessThan(1.5)
    expect(Math.abs(spread(pauses) - 40 / Math.sqrt(12))).toBeLessThan(1)
  })

  test('the same seed gives the same pauses, and another seed gives different ones', () => {
    const [once, again, other] = [7, 7, 8].map(seed => pausesOf({ pieces: numbered(101), jitter: 0.3, seed }))
    expect(again).toEqual(once)
    expect(other).not.toEqual(once)
  })
})

describe('with any pace, load and reader', () => {
  const pace = fc.record({
    firstTokenMs: fc.integer({ min: 0, max: 400 }),
    tokensPerSecond: fc.oneof(fc.constant(0), fc.double({ min: 5, max: 2000, noNaN: true })),
    jitter: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
    seed: fc.integer(),
    pieces: fc.nat(30).map(numbered),
  })
  const events = fc.array(
    fc.record({
      stallMs: fc.oneof(fc.constant(0), fc.nat(300)),
      passMs: fc.nat(100),
      /** Which readers are behind from then on. */
      behind: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    }),
    { maxLength: 20 },
  )
  const idle = (ms: number) => [{ stallMs: 0, passMs: ms, behind: [false, false, false] }]

  /** When each piece was sent, in order. */
  const timesOfPieces = ({ writes }: RecordedSink) =>
    writes.flatMap(({ text, atMs }) => Array.from(text.matchAll(/<\d+>/g), () => atMs))
  const wholeOf = ({ pieces = [] }: Played) => `head ${pieces.map(piece => `<${piece}>`).join('')} tail`

  /** Plays streams while, step by step, the machine stalls, time passes and readers fall behind. */
  function playAll(
    streams: readonly Played[],
    steps: readonly { stallMs: number; passMs: number; behind: boolean[] }[],
    tickMs = 5,
  ) {
    const pacer = createPacer({ tickMs, nowMs: () => clockMs })
    const readers = streams.map(played => {
      const sink = reader()
      pacer.play(paced(played), sink)
      return sink
    })
    const writesBefore = readers.map(() => 0)
    for (const { stallMs, passMs, behind } of steps) {
      readers.forEach((sink, i) => {
        sink.full = behind[i] === true
        writesBefore[i] = sink.writes.length
      })
      stall(stallMs)
      pass(passMs)
      readers.forEach((sink, i) => {
        if (sink.full) expect(sink.writes).toHaveLength(writesBefore[i] ?? 0)
      })
    }
    return readers
  }

  test('every piece is sent, in order, never early, and never while its reader is behind', () => {
    fc.assert(
      fc.property(fc.array(pace, { minLength: 1, maxLength: 3 }), events, (streams, steps) => {
        // Undisturbed and on a fine wheel: each piece is at most a millisecond late.
        const plan = playAll(streams, idle(20_000), 1).map(timesOfPieces)
        const played = playAll(streams, [...steps, ...idle(20_000)])
        played.forEach((sink, i) => {
          expect(sink.text()).toBe(wholeOf(streams[i] ?? {}))
          expect(sink.writes.filter(({ last }) => last)).toEqual(sink.writes.slice(-1))
          timesOfPieces(sink).forEach((atMs, k) => {
            expect(atMs).toBeGreaterThan((plan[i]?.[k] ?? 0) - 1 - 1e-6)
          })
        })
        expect(vi.getTimerCount()).toBe(0)
      }),
      { numRuns: runs(30) },
    )
  })

  test('all streams can stop at any time, and leave nothing behind', () => {
    fc.assert(
      fc.property(fc.array(pace, { minLength: 1, maxLength: 5 }), fc.nat(1000), (streams, ms) => {
        const pacer = pacerOnClock()
        const played = streams.map(stream => {
          const sink = reader()
          return { sink, stop: pacer.play(paced(stream), sink) }
        })
        pass(ms)
        const writes = played.map(({ sink }) => sink.writes.length)
        for (const { stop } of played) stop()
        expect(vi.getTimerCount()).toBe(0)
        pass(1000)
        expect(played.map(({ sink }) => sink.writes.length)).toEqual(writes)
      }),
      { numRuns: runs(50) },
    )
  })
})

test('a recorded rhythm is kept piece by piece, whatever the configured pace', () => {
  const sink = reader()
  pacerOnClock().play(paced({ rhythm: [0, 10, 200, 205, 1000], pieces: numbered(5), tokensPerSecond: 1 }), sink)
  pass(2000)
  expect(sink.times()).toEqual([0, 10, 200, 205, 1000])
  expect(sink.text()).toBe('head <0><1><2><3><4> tail')
})
