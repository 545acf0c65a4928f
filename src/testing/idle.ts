/** Whether an app still asks, and waiting until it does not. */
import type { Traffic } from '../platform/traffic.js'
import { eventually, pause } from './patience.js'

export interface IdleOptions {
  /** For how long nothing more may come; 20 without it. */
  readonly quietMs?: number
  /** How long to wait for that; 3000 without it. */
  readonly timeoutMs?: number
}

const QUIET_MS = 20

export async function untilIdle(
  traffic: Traffic,
  { quietMs = QUIET_MS, timeoutMs = 3000 }: IdleOptions = {},
): Promise<void> {
  let changed = () => {}
  const wait = async () => {
    for (;;) {
      await traffic.quiet()
      const before = traffic.begun()
      if (quietMs > 0) await pause(quietMs)
      if (traffic.begun() === before) return
    }
  }
  let isIdle = false
  void wait().then(() => {
    isIdle = true
    changed()
  })
  await eventually({
    look: () => (isIdle ? true : undefined),
    watch(tell) {
      changed = tell
      return () => {}
    },
    timeoutMs,
    tooLate: () => new Error(`The platform was not idle within ${timeoutMs} ms: ${inWords(traffic.underWay())}.`),
  })
}

/**
 * From when on requests are new, on the clock of `performance.now()`: those that are under way now are not. Where none is, every one to come
 * is new, whatever a test does to that clock.
 */
export const startOfNew = (traffic: Traffic): number => (traffic.underWay() === 0 ? 0 : performance.now())

function inWords(count: number): string {
  if (count === 0) return 'requests kept coming'
  return count === 1 ? 'a request is still under way' : `${count} requests are still under way`
}
