/** The time that everything which expires goes by: the real one, until it is set, moved or frozen. */

/** How a clock stands. */
export interface ClockState {
  /** What it shows, as ISO 8601 text in UTC. */
  readonly now: string
  /** Whether it stands still. */
  readonly frozen: boolean
  /** How far it is ahead of the real time; negative behind it. */
  readonly offsetMs: number
}

/** A clock that tests may turn. Times are milliseconds since 1970. */
export interface Clock {
  now(): number
  /** Puts it to a moment, from which it runs on, or stays there if it is frozen. Throws a RangeError beyond 1970 to 9000. */
  set(ms: number): void
  /** Moves it on, or back where `ms` is negative. Throws as `set` does. */
  advance(ms: number): void
  /** Has it stand still. */
  freeze(): void
  /** Has it run on from where it stands. */
  run(): void
  /** Makes it the real time again, running. */
  reset(): void
  state(): ClockState
}

/** Years of four digits, with room for the longest ban behind them: moments are compared as text. */
const LATEST_MS = Date.UTC(9000, 0, 1)

/** Whether a clock can show this time. */
export const isOnClock = (ms: number) => ms >= 0 && ms <= LATEST_MS

function requireOnClock(ms: number): void {
  if (!isOnClock(ms)) throw new RangeError(`The clock shows moments from 1970 to 9000, and ${ms} ms is none.`)
}

export function createClock(real: () => number = Date.now): Clock {
  let offsetMs = 0
  let frozenAtMs: number | undefined

  const now = () => frozenAtMs ?? real() + offsetMs

  return {
    now,
    set(ms) {
      requireOnClock(ms)
      if (frozenAtMs === undefined) offsetMs = ms - real()
      else frozenAtMs = ms
    },
    advance(ms) {
      requireOnClock(now() + ms)
      if (frozenAtMs === undefined) offsetMs += ms
      else frozenAtMs += ms
    },
    freeze() {
      frozenAtMs = now()
    },
    run() {
      if (frozenAtMs === undefined) return
      offsetMs = frozenAtMs - real()
      frozenAtMs = undefined
    },
    reset() {
      offsetMs = 0
      frozenAtMs = undefined
    },
    state() {
      const realMs = real()
      const ms = frozenAtMs ?? realMs + offsetMs
      return { now: new Date(ms).toISOString(), frozen: frozenAtMs !== undefined, offsetMs: ms - realMs }
    },
  }
}

/** Milliseconds since the process began. It goes on where a test has replaced the clock. */
export const passedMs: () => number = performance.now.bind(performance)

/** At most this many pieces of a stream are timed: more say nothing new about its rhythm. */
export const MOST_PIECES_TIMED = 1000
