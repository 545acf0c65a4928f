/** Waits until no requests are under way and no new ones arrive. */
import { closed, optional } from '../check/check.js'
import type { Traffic } from '../http/entrance.js'
import { checking, milliseconds } from './checked.js'
import { eventually, pause } from './patience.js'

export interface IdleOptions {
  /** How long no new request may arrive, in milliseconds. Default 20. */
  readonly quietMs?: number | undefined
  /** How long to wait for that, in milliseconds. Default 3000. */
  readonly timeoutMs?: number | undefined
}

const QUIET_MS = 20

const optionsOf = checking(
  'idle',
  closed({
    quietMs: optional(milliseconds, 'How long no new request may arrive.'),
    timeoutMs: optional(milliseconds, 'How long to wait for that.'),
  }),
)

export async function untilIdle(traffic: Traffic, options: IdleOptions = {}): Promise<void> {
  const { timeoutMs = 3000, quietMs = Math.min(QUIET_MS, timeoutMs / 2) } = optionsOf(options)
  const wait = async () => {
    for (;;) {
      await traffic.idle()
      const before = traffic.started()
      if (quietMs > 0) await pause(quietMs)
      if (traffic.started() === before) return
    }
  }
  let isIdle = false
  await eventually({
    look: () => isIdle || undefined,
    watch(changed) {
      void wait().then(() => {
        isIdle = true
        changed()
      })
      return () => {}
    },
    timeoutMs,
    tooLate: () => new Error(`The platform was not idle within ${timeoutMs} ms: ${inWords(traffic.pending())}.`),
  })
}

function inWords(count: number): string {
  if (count === 0) return 'requests kept coming'
  return count === 1 ? 'a request is still under way' : `${count} requests are still under way`
}
