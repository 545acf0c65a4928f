/** Waits until no requests are under way and no new ones arrive. */
import { closed, optional } from '../check/check.js'
import type { Traffic } from '../http/entrance.js'
import { eventually, pause } from './eventually.js'
import { inputCheck, milliseconds } from './input-check.js'

export interface IdleOptions {
  /** The time without new requests after which the platform is idle, in milliseconds. Default 20. */
  readonly quietMs?: number | undefined
  /** How long to wait for the platform to be idle, in milliseconds. Default 3000. */
  readonly timeoutMs?: number | undefined
}

const QUIET_MS = 20

const optionsOf = inputCheck(
  'idle',
  closed({
    quietMs: optional(milliseconds, 'The time without new requests.'),
    timeoutMs: optional(milliseconds, 'How long to wait for the platform to be idle.'),
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
    find: () => isIdle || undefined,
    watch(changed) {
      void wait().then(() => {
        isIdle = true
        changed()
      })
      return () => {}
    },
    timeoutMs,
    timeoutError: () =>
      new Error(`The platform was not idle within ${timeoutMs} ms: ${underWayInWords(traffic.pending())}.`),
  })
}

function underWayInWords(count: number): string {
  if (count === 0) return 'requests kept coming'
  return count === 1 ? 'a request is still under way' : `${count} requests are still under way`
}
