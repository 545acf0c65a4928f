import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Paced } from '../../src/core/exchange.js'
import { distributions, type PaceInput, unpaced } from '../../src/core/pace.js'
import { createPacer, type Sink } from '../../src/http/pacer.js'
import { runs } from '../runs.js'

// Time is given: the wheel's timer is vitest's, and the clock is a number that only `pass` and `stall` move.
let clockMs = 0
beforeEach(() => {
  clockMs = 1000
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => void vi.useRealTimers())

const pacerOnClock = () => createPacer({ tickMs: 5, nowMs: () => clockMs })

/** Time goes by as it does on an idle machine. */
function pass(ms: number) {
  for (let i = 0; i < ms; i++) {
    clockMs++
    vi.advanceTimersByTime(1)
  }
}

/** Time goes by while the machine is too busy to notice. */
const stall = (ms: number) => {
  clockMs += ms
}

type Played = PaceInput & Partial<Pick<Paced, 'pieces' | 'promptTokens' | 'seed'>> & { rhythm?: readonly number[] }

const paced = ({ pieces = ['a', 'b', 'c'], promptTokens, seed, rhythm, ...pace }: Played): Paced => ({
  ...{ head: 'head ', before: '<', pieces, after: '>', tail: ' tail' },
  pace: { ...unpaced, ...(pace as object) },
  ...(promptTokens !== undefined && { promptTokens }),
  ...(seed !== undefined && { seed }),
  ...(rhythm && { atMs: rhythm }),
})

/** As many pieces as are asked for, each another one. */
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `${i}`)

interface UpstreamResponse extends Sink {
  readonly writes: { readonly text: string; readonly atMs: number; readonly last: boolean }[]
  full: boolean
  /** All that was written so far. */
  text(): string
  /** When each write came, in milliseconds after the test's start. */
  times(): readonly number[]
}

/** A reader that remembers what it was given and when. */
function reader(): UpstreamResponse {
  const startedMs = clockMs
  const heard: UpstreamResponse = {
    writes: [],
    full: false,
    isFull: () => heard.full,
    write: text => void heard.writes.push({ text, atMs: clockMs - startedMs, last: false }),
    end: text => void heard.writes.push({ text, atMs: clockMs - startedMs, last: true }),
    text: () => heard.writes.map(({ text }) => text).join(''),
    times: () => heard.writes.map(({ atMs }) => atMs),
  }
  return heard
}

const whole = 'head <a><b><c> tail'

test('the head leaves with the first piece and the tail with the last', () => {
  const heard = reader()
  pacerOnClock().play(paced({ firstTokenMs: 50, tokensPerSecond: 10 }), heard)
  pass(1000)
  expect(heard.writes).toEqual([
    { text: 'head <a>', atMs: 50, last: false },
    { text: '<b>', atMs: 150, last: false },
    { text: '<c> tail', atMs: 250, last: true },
  ])
})

test('a stream without a rhythm leaves whole and at once, and needs no timer', () => {
  const heard = reader()
  pacerOnClock().play(paced({}), heard)
  expect(heard.writes).toEqual([{ text: whole, atMs: 0, last: true }])
  expect(vi.getTimerCount()).toBe(0)
})

test('with a pause before the first piece only, everything leaves together after it', () => {
  const heard = reader()
  pacerOnClock().play(paced({ firstTokenMs: 200 }), heard)
  pass(199)
  expect(heard.writes).toEqual([])
  pass(1)
  expect(heard.writes).toEqual([{ text: whole, atMs: 200, last: true }])
})

test('with a speed only, the first piece leaves at once', () => {
  const heard = reader()
  pacerOnClock().play(paced({ tokensPerSecond: 100 }), heard)
  expect(heard.text()).toBe('head <a>')
  pass(100)
  expect(heard.times()).toEqual([0, 10, 20])
})

test('a single piece carries head and tail', () => {
  const heard = reader()
  pacerOnClock().play(paced({ pieces: ['all'], tokensPerSecond: 1 }), heard)
  expect(heard.writes).toEqual([{ text: 'head <all> tail', atMs: 0, last: true }])
})

test('deadlines count from the start of the stream, so that rounding never adds up', () => {
  const heard = reader()
  const pieces = numbered(301)
  pacerOnClock().play(paced({ pieces, tokensPerSecond: 30 }), heard)
  pass(11_000)
  expect(heard.writes).toHaveLength(301)
  // Piece i is due at i / 30 s and leaves with the next turn of the wheel.
  heard.times().forEach((atMs, i) => {
    expect(atMs).toBeGreaterThanOrEqual((i * 1000) / 30 - 1e-6)
    expect(atMs).toBeLessThan((i * 1000) / 30 + 10)
  })
})

test('pieces that are due between two ticks leave in one write', () => {
  const heard = reader()
  const pieces = Array.from({ length: 100 }, () => 'x')
  pacerOnClock().play(paced({ pieces, tokensPerSecond: 1000 }), heard)
  pass(100)
  expect(heard.text()).toBe(`head ${'<x>'.repeat(100)} tail`)
  expect(heard.writes.length).toBeGreaterThan(10)
  expect(heard.writes.length).toBeLessThanOrEqual(21)
})

test('a late tick catches up in one write, and the rest keeps its time', () => {
  const heard = reader()
  pacerOnClock().play(paced({ pieces: ['a', 'b', 'c', 'd', 'e', 'f'], tokensPerSecond: 10 }), heard)
  stall(330)
  pass(5)
  pass(300)
  expect(heard.writes).toEqual([
    { text: 'head <a>', atMs: 0, last: false },
    { text: '<b><c><d>', atMs: 335, last: false },
    { text: '<e>', atMs: 400, last: false },
    { text: '<f> tail', atMs: 500, last: true },
  ])
})

test('a machine that slept for longer than a turn of the wheel ends the stream when it wakes', () => {
  const heard = reader()
  pacerOnClock().play(paced({ tokensPerSecond: 10 }), heard)
  stall(60_000)
  pass(5)
  expect(heard.text()).toBe(whole)
  expect(heard.writes).toHaveLength(2)
})

test('a stream without pieces still has its head and tail', () => {
  const heard = reader()
  pacerOnClock().play(paced({ pieces: [] }), heard)
  pass(10)
  expect(heard.writes).toEqual([{ text: 'head  tail', atMs: 0, last: true }])
})

test('a stream without pieces takes the pause before the first one all the same', () => {
  const heard = reader()
  pacerOnClock().play(paced({ pieces: [], firstTokenMs: 100, tokensPerSecond: 10 }), heard)
  pass(200)
  expect(heard.writes).toEqual([{ text: 'head  tail', atMs: 100, last: true }])
})

test('a deadline that is many turns of the wheel away is kept', () => {
  const heard = reader()
  pacerOnClock().play(paced({ firstTokenMs: 30_000, tokensPerSecond: 0.1 }), heard)
  pass(60_000)
  expect(heard.times()).toEqual([30_000, 40_000, 50_000])
  expect(heard.text()).toBe(whole)
})

test('many streams share one timer, and each keeps its own rhythm', () => {
  const pacer = pacerOnClock()
  const streams = Array.from({ length: 200 }, (_, i) => ({ heard: reader(), firstTokenMs: i * 5 }))
  for (const { heard, firstTokenMs } of streams) pacer.play(paced({ firstTokenMs, tokensPerSecond: 50 }), heard)
  expect(vi.getTimerCount()).toBe(1)
  pass(1200)
  for (const { heard, firstTokenMs } of streams) {
    expect(heard.times()).toEqual([firstTokenMs, firstTokenMs + 20, firstTokenMs + 40])
    expect(heard.text()).toBe(whole)
  }
  expect(vi.getTimerCount()).toBe(0)
})

test('a stream that starts while another plays counts from its own start', () => {
  const pacer = pacerOnClock()
  const early = reader()
  pacer.play(paced({ firstTokenMs: 100, tokensPerSecond: 10 }), early)
  pass(137)
  const late = reader()
  pacer.play(paced({ firstTokenMs: 100, tokensPerSecond: 10 }), late)
  pass(1000)
  expect(early.times()).toEqual([100, 200, 300])
  // Due at 237, 337 and 437 on the wheel of the first, which moves every 5 ms.
  expect(late.times()).toEqual([103, 203, 303])
})

test('a stream that starts after all others have ended has a fresh wheel', () => {
  const pacer = pacerOnClock()
  pacer.play(paced({ tokensPerSecond: 100 }), reader())
  pass(333)
  expect(vi.getTimerCount()).toBe(0)
  const next = reader()
  pacer.play(paced({ firstTokenMs: 50, tokensPerSecond: 100 }), next)
  pass(100)
  expect(next.times()).toEqual([50, 60, 70])
})

test('a stream that starts in the very moment in which the last one ends keeps its rhythm', () => {
  const pacer = pacerOnClock()
  const next = reader()
  const last: Sink = {
    ...reader(),
    end: () => void pacer.play(paced({ firstTokenMs: 50, tokensPerSecond: 100 }), next),
  }
  pacer.play(paced({ firstTokenMs: 1000 }), last)
  pass(1100)
  expect(next.times()).toEqual([1050, 1060, 1070])
})

test('a reader that is behind gets nothing until it has caught up, then all that is due in one write', () => {
  const heard = reader()
  pacerOnClock().play(paced({ pieces: ['a', 'b', 'c', 'd'], tokensPerSecond: 20 }), heard)
  heard.full = true
  pass(120)
  expect(heard.text()).toBe('head <a>')
  heard.full = false
  pass(100)
  expect(heard.writes).toEqual([
    { text: 'head <a>', atMs: 0, last: false },
    { text: '<b><c>', atMs: 125, last: false },
    { text: '<d> tail', atMs: 150, last: true },
  ])
})

test('a reader that is behind from the start gets head and pieces once it is ready', () => {
  const heard = reader()
  heard.full = true
  pacerOnClock().play(paced({}), heard)
  pass(50)
  expect(heard.writes).toEqual([])
  heard.full = false
  pass(5)
  expect(heard.text()).toBe(whole)
})

test('a slow reader does not hold up the others', () => {
  const pacer = pacerOnClock()
  const [slow, quick] = [reader(), reader()]
  slow.full = true
  pacer.play(paced({ tokensPerSecond: 100 }), slow)
  pacer.play(paced({ tokensPerSecond: 100 }), quick)
  pass(50)
  expect(slow.writes).toEqual([])
  expect(quick.times()).toEqual([0, 10, 20])
})

test('a stopped stream writes nothing more, and the timer goes with the last one', () => {
  const pacer = pacerOnClock()
  const [stopped, other] = [reader(), reader()]
  const stop = pacer.play(paced({ tokensPerSecond: 10 }), stopped)
  const stopOther = pacer.play(paced({ tokensPerSecond: 10 }), other)
  pass(50)
  stop()
  pass(100)
  expect(stopped.text()).toBe('head <a>')
  expect(other.text()).toBe('head <a><b>')
  expect(vi.getTimerCount()).toBe(1)
  stopOther()
  expect(vi.getTimerCount()).toBe(0)
  pass(1000)
  expect(other.text()).toBe('head <a><b>')
})

test.each([
  ['the last one', 0],
  ['one of several', 1],
])('a stopped stream lets go of its reader when it is %s', async (_which, others) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const pacer = pacerOnClock()
  for (let i = 0; i < others; i++) pacer.play(paced({ firstTokenMs: 1000 }), reader())
  const startAndStop = () => {
    const heard = reader()
    pacer.play(paced({ firstTokenMs: 1000 }), heard)()
    return new WeakRef(heard)
  }
  const heard = startAndStop()
  // What a WeakRef points to lives at least until the turn has ended.
  await new Promise(resolve => setImmediate(resolve))
  collectGarbage()
  expect(heard.deref()).toBeUndefined()
  // The pacer itself is still there, and could have held it.
  pacer.play(paced({}), reader())
})

test('stopping twice, or after the end, does nothing to the others', () => {
  const pacer = pacerOnClock()
  const other = reader()
  const stop = pacer.play(paced({ tokensPerSecond: 10 }), reader())
  const stopEnded = pacer.play(paced({}), reader())
  pacer.play(paced({ tokensPerSecond: 10 }), other)
  stop()
  stop()
  stopEnded()
  expect(vi.getTimerCount()).toBe(1)
  pass(300)
  expect(other.text()).toBe(whole)
})

test('what was stopped before its wheel stood still does not come back on the next one', () => {
  const pacer = pacerOnClock()
  const stopped = reader()
  pacer.play(paced({ firstTokenMs: 100 }), stopped)()
  const next = reader()
  pacer.play(paced({ firstTokenMs: 100 }), next)
  pass(200)
  expect(stopped.writes).toEqual([])
  expect(next.text()).toBe(whole)
})

test('a reader that is closed while it is written to ends its stream', () => {
  const pacer = pacerOnClock()
  const heard = reader()
  const closing: Sink = {
    ...heard,
    write: text => {
      heard.write(text)
      stop()
    },
  }
  const stop = pacer.play(paced({ firstTokenMs: 10, tokensPerSecond: 100 }), closing)
  pass(100)
  expect(heard.text()).toBe('head <a>')
  expect(vi.getTimerCount()).toBe(0)
})

describe('pauses that vary', () => {
  const pieces = numbered(1001)

  /** The pauses between the pieces of a stream, as an idle machine with a fine wheel plays them, and the one before the first. */
  function pausesOf(pace: Played) {
    const heard = reader()
    createPacer({ tickMs: 1, nowMs: () => clockMs }).play(paced({ pieces, tokensPerSecond: 10, ...pace }), heard)
    while (!heard.writes.at(-1)?.last) pass(1000)
    const [first = 0] = heard.times()
    return { first, pauses: heard.times().flatMap((atMs, i, all) => (i === 0 ? [] : [atMs - (all[i - 1] ?? 0)])) }
  }
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  const spread = (numbers: readonly number[]) => Math.sqrt(mean(numbers.map(number => (number - mean(numbers)) ** 2)))

  test.each([1, 42, 2 ** 31])('uniform: a fifth up or down, evenly, and the mean stays (seed %i)', seed => {
    const { pauses } = pausesOf({ jitter: 0.2, distribution: 'uniform', seed })
    expect(pauses).toHaveLength(1000)
    // The wheel rounds each piece up to a millisecond.
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(79)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(121)
    expect(Math.abs(mean(pauses) - 100)).toBeLessThan(1.5)
    expect(Math.abs(spread(pauses) - 40 / Math.sqrt(12))).toBeLessThan(1)
  })

  test.each([1, 42, 2 ** 31])('lognormal: long pauses among many short ones, and the mean stays (seed %i)', seed => {
    const { pauses } = pausesOf({ jitter: 0.5, distribution: 'lognormal', seed })
    expect(Math.abs(mean(pauses) - 100)).toBeLessThan(5)
    const logarithms = pauses.map(Math.log)
    expect(Math.abs(spread(logarithms) - 0.5)).toBeLessThan(0.05)
    // The median is below the mean, by half the variance of the logarithm.
    expect(Math.abs(mean(logarithms) - (Math.log(100) - 0.125))).toBeLessThan(0.05)
  })

  test('fixed: whatever the jitter, they do not vary', () => {
    const { first, pauses } = pausesOf({
      pieces: numbered(101),
      firstTokenMs: 70,
      jitter: 1,
      distribution: 'fixed',
      seed: 1,
    })
    expect(first).toBe(70)
    expect(new Set(pauses)).toEqual(new Set([100]))
  })

  test('the pause before the first piece varies as the others do', () => {
    const firsts = numbered(100).map(
      seed => pausesOf({ pieces: ['a'], firstTokenMs: 500, jitter: 0.2, seed: Number(seed) }).first,
    )
    expect(Math.min(...firsts)).toBeGreaterThanOrEqual(400)
    expect(Math.min(...firsts)).toBeLessThan(420)
    expect(Math.max(...firsts)).toBeLessThanOrEqual(601)
    expect(Math.max(...firsts)).toBeGreaterThan(580)
    expect(Math.abs(mean(firsts) - 500)).toBeLessThan(15)
  })

  test('the same seed gives the same rhythm, another seed another one', () => {
    const [once, again, other] = [7, 7, 8].map(seed => pausesOf({ pieces: numbered(101), jitter: 0.3, seed }))
    expect(again).toEqual(once)
    expect(other?.pauses).not.toEqual(once?.pauses)
  })
})

describe('a prompt that takes time to read', () => {
  test('delays the first piece, the longer it is, beside the pause that there is anyway', () => {
    const heard = reader()
    const pace = { firstTokenMs: 50, tokensPerSecond: 10, promptTokensPerSecond: 1000 }
    pacerOnClock().play(paced({ ...pace, promptTokens: 250 }), heard)
    pass(1000)
    expect(heard.times()).toEqual([300, 400, 500])
  })

  test('delays nothing when its length is not known', () => {
    const heard = reader()
    pacerOnClock().play(paced({ promptTokensPerSecond: 1 }), heard)
    expect(heard.text()).toBe(whole)
  })
})

describe('streams that share their speed', () => {
  const sharing = { tokensPerSecond: 10, fullSpeedStreams: 2 }
  const play = (pacer: ReturnType<typeof pacerOnClock>, pace: Played) => {
    const heard = reader()
    return { heard, stop: pacer.play(paced({ pieces: numbered(4), ...pace }), heard) }
  }

  test('have their full speed as long as they are not too many', () => {
    const pacer = pacerOnClock()
    const streams = [play(pacer, sharing), play(pacer, sharing)]
    pass(1000)
    for (const { heard } of streams) expect(heard.times()).toEqual([0, 100, 200, 300])
  })

  test('are slower the more of them play', () => {
    const pacer = pacerOnClock()
    const streams = numbered(6).map(() => play(pacer, sharing))
    pass(1000)
    for (const { heard } of streams) expect(heard.times()).toEqual([0, 300, 600, 900])
  })

  test('wait longer for the first piece as well', () => {
    const pacer = pacerOnClock()
    const pace = { ...sharing, firstTokenMs: 100, promptTokensPerSecond: 1000, promptTokens: 50 }
    const streams = numbered(4).map(() => play(pacer, pace))
    pass(1000)
    for (const { heard } of streams) expect(heard.times()).toEqual([300, 500, 700, 900])
  })

  test('get faster again when others leave, soon and not only with their next piece', () => {
    const pacer = pacerOnClock()
    const [stays, ...others] = numbered(200).map(() => play(pacer, sharing))
    // Its next piece would be ten seconds away; a twentieth of that passes.
    pass(500)
    for (const { stop } of others) stop()
    pass(1000)
    // 500 ms of the crowd are 5 of its own; the other 95 go by at full speed, and it hears of it within 50 ms.
    expect(stays?.heard.times()).toEqual([0, expect.toSatisfy(ms => ms >= 595 && ms <= 600), 695, 795])
  })

  test('get slower when others join', () => {
    const pacer = pacerOnClock()
    const first = play(pacer, sharing)
    pass(150)
    for (const _ of numbered(3)) play(pacer, { ...sharing, pieces: numbered(100) })
    pass(1000)
    // At 150 ms half of a pause is over; the other half and the next pause take twice as long.
    expect(first.heard.times()).toEqual([0, 100, 250, 450])
  })

  test('do not slow down those that do not share, but are slowed down by them', () => {
    const pacer = pacerOnClock()
    const alone = numbered(3).map(() => play(pacer, { tokensPerSecond: 10, pieces: numbered(100) }))
    const { heard } = play(pacer, sharing)
    pass(1000)
    expect(heard.times()).toEqual([0, 200, 400, 600])
    for (const { heard } of alone) expect(heard.times().slice(0, 4)).toEqual([0, 100, 200, 300])
  })

  test('each has its own bound', () => {
    const pacer = pacerOnClock()
    const [narrow, wide] = [1, 4].map(fullSpeedStreams => play(pacer, { tokensPerSecond: 10, fullSpeedStreams }))
    pass(1000)
    expect(wide?.heard.times()).toEqual([0, 100, 200, 300])
    // With the other one gone at 300 ms it is alone.
    expect(narrow?.heard.times()).toEqual([0, 200, 350, 450])
  })
})

describe('whatever happens', () => {
  const pace = fc.record({
    firstTokenMs: fc.integer({ min: 0, max: 400 }),
    tokensPerSecond: fc.oneof(fc.constant(0), fc.double({ min: 5, max: 2000, noNaN: true })),
    jitter: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
    distribution: fc.constantFrom(...distributions),
    promptTokensPerSecond: fc.oneof(fc.constant(0), fc.integer({ min: 100, max: 10_000 })),
    promptTokens: fc.nat(50),
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

  /** When each piece left, in order. */
  const timesOfPieces = ({ writes }: UpstreamResponse) =>
    writes.flatMap(({ text, atMs }) => Array.from(text.matchAll(/<\d+>/g), () => atMs))
  const wholeOf = ({ pieces = [] }: Played) => `head ${pieces.map(piece => `<${piece}>`).join('')} tail`

  /** Plays streams while the clock stalls and passes, and readers fall behind, as `happening` says. */
  function playAll(
    streams: readonly Played[],
    happening: readonly { stallMs: number; passMs: number; behind: boolean[] }[],
    tickMs = 5,
  ) {
    const pacer = createPacer({ tickMs, nowMs: () => clockMs })
    const readers = streams.map(played => {
      const heard = reader()
      pacer.play(paced(played), heard)
      return heard
    })
    const writesBefore = readers.map(() => 0)
    for (const { stallMs, passMs, behind } of happening) {
      readers.forEach((heard, i) => {
        heard.full = behind[i] === true
        writesBefore[i] = heard.writes.length
      })
      stall(stallMs)
      pass(passMs)
      readers.forEach((heard, i) => {
        if (heard.full) expect(heard.writes).toHaveLength(writesBefore[i] ?? 0)
      })
    }
    return readers
  }

  test('every piece leaves, in order, never before its time, and none while its reader is behind', () => {
    fc.assert(
      fc.property(fc.array(pace, { minLength: 1, maxLength: 3 }), events, (streams, happening) => {
        // Nothing disturbs these, and their wheel is fine: they leave at most a millisecond after their time.
        const plan = playAll(streams, idle(20_000), 1).map(timesOfPieces)
        const played = playAll(streams, [...happening, ...idle(20_000)])
        played.forEach((heard, i) => {
          expect(heard.text()).toBe(wholeOf(streams[i] ?? {}))
          expect(heard.writes.filter(({ last }) => last)).toEqual(heard.writes.slice(-1))
          timesOfPieces(heard).forEach((atMs, k) => {
            expect(atMs).toBeGreaterThan((plan[i]?.[k] ?? 0) - 1 - 1e-6)
          })
        })
        expect(vi.getTimerCount()).toBe(0)
      }),
      { numRuns: runs(30) },
    )
  })

  test('streams that come and go at any time follow their load: never ahead of it, and soon behind it', () => {
    const comings = fc.array(
      fc.record({
        atMs: fc.nat(1500),
        /** When its client leaves, after it came; most stay. */
        leavesAfterMs: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(1500)),
        fullSpeedStreams: fc.constantFrom(0, 1, 2, 5),
        firstTokenMs: fc.nat(200),
        tokensPerSecond: fc.double({ min: 5, max: 100, noNaN: true }),
        pieces: fc.nat(15).map(numbered),
      }),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(comings, comings => {
        const pacer = pacerOnClock()
        const streams = comings.map(coming => ({
          ...coming,
          ownMs: 0,
          heard: undefined as UpstreamResponse | undefined,
          stop() {},
        }))
        const isPlaying = ({ heard }: { heard: UpstreamResponse | undefined }) =>
          heard !== undefined && !heard.writes.at(-1)?.last
        for (let ms = 0; ms < 3000; ms++) {
          for (const stream of streams.filter(({ atMs }) => atMs === ms)) {
            stream.heard = reader()
            stream.stop = pacer.play(paced(stream), stream.heard)
          }
          for (const stream of streams.filter(
            stream => ms === stream.atMs + stream.leavesAfterMs && isPlaying(stream),
          )) {
            stream.stop()
            // As one that has ended.
            stream.heard?.writes.push({ text: '', atMs: ms, last: true })
          }
          const playing = streams.filter(isPlaying)
          for (const stream of playing)
            stream.ownMs += 1 / Math.max(1, playing.length / (stream.fullSpeedStreams || Infinity))
          const heardBefore = playing.map(({ heard }) => heard?.writes.length)
          pass(1)
          playing.forEach(({ heard, ownMs, firstTokenMs, tokensPerSecond, pieces }, i) => {
            const sent = heard ? timesOfPieces(heard).length : 0
            const plan = (piece: number) => firstTokenMs + (piece * 1000) / tokensPerSecond
            if (heard?.writes.length !== heardBefore[i] && sent > 0)
              expect(ownMs).toBeGreaterThan(plan(sent - 1) - 1e-6)
            if (sent < pieces.length) expect(ownMs).toBeLessThan(plan(sent) + 50 + 10)
          })
        }
      }),
      { numRuns: runs(50) },
    )
  })

  test('all streams stop at any time, and nothing is left of them', () => {
    fc.assert(
      fc.property(fc.array(pace, { minLength: 1, maxLength: 5 }), fc.nat(1000), (streams, ms) => {
        const pacer = pacerOnClock()
        const played = streams.map(stream => {
          const heard = reader()
          return { heard, stop: pacer.play(paced({ ...stream, fullSpeedStreams: 1 }), heard) }
        })
        pass(ms)
        const writes = played.map(({ heard }) => heard.writes.length)
        for (const { stop } of played) stop()
        expect(vi.getTimerCount()).toBe(0)
        pass(1000)
        expect(played.map(({ heard }) => heard.writes.length)).toEqual(writes)
      }),
      { numRuns: runs(50) },
    )
  })
})

describe('a recorded rhythm', () => {
  test('is kept piece by piece, whatever the pauses', () => {
    const heard = reader()
    pacerOnClock().play(paced({ rhythm: [0, 10, 200, 205, 1000], pieces: numbered(5), tokensPerSecond: 1 }), heard)
    pass(2000)
    expect(heard.times()).toEqual([0, 10, 200, 205, 1000])
    expect(heard.text()).toBe('head <0><1><2><3><4> tail')
  })

  test('that is late catches up, and what comes later comes in time', () => {
    const heard = reader()
    pacerOnClock().play(paced({ rhythm: [100, 110, 120, 900], pieces: numbered(4) }), heard)
    stall(500)
    pass(600)
    expect(heard.times().at(-1)).toBe(900)
    expect(heard.text()).toBe('head <0><1><2><3> tail')
  })
})
