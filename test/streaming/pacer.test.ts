import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Paced } from '../../src/core/exchange.js'
import { unpaced } from '../../src/core/pace.js'
import { createPacer, type Sink } from '../../src/streaming/pacer.js'

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

const paced = ({ pieces = ['a', 'b', 'c'], firstTokenMs = 0, tokensPerSecond = 0 }): Paced => ({
  head: 'head ',
  before: '<',
  pieces,
  after: '>',
  tail: ' tail',
  pace: { ...unpaced, firstTokenMs, tokensPerSecond },
})

interface Heard extends Sink {
  readonly writes: { readonly text: string; readonly atMs: number; readonly last: boolean }[]
  full: boolean
  /** All that was written so far. */
  text(): string
  /** When each write came, in milliseconds after the test's start. */
  times(): readonly number[]
}

/** A reader that remembers what it was given and when. */
function reader(): Heard {
  const startedMs = clockMs
  const heard: Heard = {
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
  const pieces = Array.from({ length: 301 }, (_, i) => `${i} `)
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

test('a stopped stream lets go of its reader', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const pacer = pacerOnClock()
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
