/** The clock by which things expire: the real time, until it is set, moved or frozen. */

/** Years of four digits, since times are compared as text, with room for the longest ban. */
const LATEST_MS = Date.UTC(9000, 0, 1)

/** Whether the clock can be set to this time. */
export const isOnClock = (ms: number) => ms >= 0 && ms <= LATEST_MS

/** Milliseconds since 1970. Throws a RangeError for what the clock cannot be set to. */
export function settingOf(time: number | Date): number {
  const ms = time instanceof Date ? time.getTime() : time
  if (typeof ms === 'number' && isOnClock(ms)) return ms
  throw new RangeError(`The clock shows times from 1970 to 9000, in milliseconds. It cannot be set to ${String(time)}.`)
}

/** Milliseconds to move the clock by. Throws a RangeError for anything else. */
export function stepOf(ms: number): number {
  if (Number.isFinite(ms)) return ms
  throw new RangeError(`The clock moves by milliseconds. It cannot be moved by ${String(ms)}.`)
}

export type Clock = ReturnType<typeof createClock>

/** A clock that tests can set. Times are milliseconds since 1970. */
export function createClock(real: () => number = Date.now) {
  let offsetMs = 0
  let frozenAtMs: number | undefined

  const now = () => frozenAtMs ?? real() + offsetMs

  return {
    now,
    /**
     * Sets the clock: to a Date, or milliseconds since 1970. It continues to run from there, or stays there if it is
     * frozen. Throws a RangeError for times outside of 1970 to 9000.
     */
    set(time: number | Date): void {
      const ms = settingOf(time)
      if (frozenAtMs === undefined) offsetMs = ms - real()
      else frozenAtMs = ms
    },
    /** Moves the clock forward, or backward if `ms` is negative. Throws as `set` does. */
    advance(ms: number): void {
      settingOf(now() + stepOf(ms))
      if (frozenAtMs === undefined) offsetMs += ms
      else frozenAtMs += ms
    },
    /** Stops the clock. */
    freeze(): void {
      frozenAtMs = now()
    },
    /** Lets it run again from the time at which it stopped. */
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
    /** `offsetMs` is how far it is ahead of the real time; negative if it is behind. */
    state() {
      const realMs = real()
      const ms = frozenAtMs ?? realMs + offsetMs
      return { now: new Date(ms).toISOString(), frozen: frozenAtMs !== undefined, offsetMs: ms - realMs }
    },
  }
}

/** Milliseconds since the process began. Unaffected when a test replaces the clock. */
export const passedMs: () => number = performance.now.bind(performance)

/** At most this many pieces of a stream are timed. More would add nothing about its rhythm. */
export const MOST_PIECES_TIMED = 1000
