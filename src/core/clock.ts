/** Time and chance: the clock by which things expire, random numbers that follow from a seed, and ids. */

/** Years of four digits, since times are compared as text, with room for the longest ban. */
const LATEST_MS = Date.UTC(9000, 0, 1)

/** Whether the clock can be set to this time. */
export const isOnClock = (ms: number) => ms >= 0 && ms <= LATEST_MS

/** A time in milliseconds since 1970. Throws a RangeError for a time that the clock cannot show. */
export function requireClockTime(time: number | Date): number {
  const ms = time instanceof Date ? time.getTime() : time
  if (typeof ms === 'number' && isOnClock(ms)) return ms
  throw new RangeError(`The clock shows times from 1970 to 9000, in milliseconds. It cannot be set to ${String(time)}.`)
}

/** Throws a RangeError unless `ms` is a number of milliseconds by which the clock can move. */
export function requireStep(ms: number): number {
  if (Number.isFinite(ms)) return ms
  throw new RangeError(`The clock moves by milliseconds. It cannot be moved by ${String(ms)}.`)
}

export type Clock = ReturnType<typeof createClock>

/** Creates a clock that tests can set. Times are milliseconds since 1970. `real` returns the real time. */
export function createClock(real: () => number = Date.now) {
  let offsetMs = 0
  let frozenAtMs: number | undefined

  const now = () => frozenAtMs ?? real() + offsetMs

  return {
    now,
    /**
     * Sets the clock to a Date, or to milliseconds since 1970. It then runs on, unless it is frozen. Throws a
     * RangeError for times outside of 1970 to 9000.
     */
    set(time: number | Date): void {
      const ms = requireClockTime(time)
      if (frozenAtMs === undefined) offsetMs = ms - real()
      else frozenAtMs = ms
    },
    /** Moves the clock forward, or backward if `ms` is negative. Throws as `set` does. */
    advance(ms: number): void {
      requireClockTime(now() + requireStep(ms))
      if (frozenAtMs === undefined) offsetMs += ms
      else frozenAtMs += ms
    },
    /** Stops the clock. */
    freeze(): void {
      frozenAtMs = now()
    },
    /** Starts the clock again, from the time at which it was frozen. */
    run(): void {
      if (frozenAtMs === undefined) return
      offsetMs = frozenAtMs - real()
      frozenAtMs = undefined
    },
    /** Returns to the real time, running. */
    reset(): void {
      offsetMs = 0
      frozenAtMs = undefined
    },
    /** `offsetMs` is how far the clock is ahead of the real time; negative if it is behind. */
    state() {
      const realMs = real()
      const ms = frozenAtMs ?? realMs + offsetMs
      return { now: new Date(ms).toISOString(), frozen: frozenAtMs !== undefined, offsetMs: ms - realMs }
    },
  }
}

/** Milliseconds since the process began. Unaffected when a test replaces the clock. */
export const uptimeMs: () => number = performance.now.bind(performance)

/** At most this many pieces of a stream are timed, which is enough to show its pace. */
export const MOST_TIMED_PIECES = 1000

/** Notes that a piece is sent now. */
export function recordTime(piecesAtMs: number[], startMs: number): void {
  if (piecesAtMs.length < MOST_TIMED_PIECES) piecesAtMs.push(Math.round((performance.now() - startMs) * 10) / 10)
}

/**
 * Tommy Ettinger's Mulberry32: evenly distributed from 0 up to, but not including, 1. Cheap to seed, which matters
 * because each stream has its own.
 */
export function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Returns a function that creates ids: `prefix`, then `random` letters and digits (a multiple of four) that stay the
 * same until the process ends, then eight that count up.
 */
export function createIds(prefix: string, random: number): () => string {
  // Not imported, because the dashboard uses this file and browsers do not have the module.
  const { randomBytes } = process.getBuiltinModule('node:crypto')
  const begin =
    prefix +
    randomBytes((random * 3) / 4)
      .toString('base64url')
      .replace(/[-_]/g, 'x')
  let count = 0
  return () => begin + (count++).toString(36).padStart(8, '0')
}
