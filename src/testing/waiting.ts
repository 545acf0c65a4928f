/** Waits until a value is available, or until a platform is idle, and rejects on a timeout. */
import { closed, optional } from '../check/forms.js'
import type { Traffic } from '../http/entrance.js'
import { inputCheck, milliseconds } from './input-check.js'

// Saved before a test can install fake timers, so that these do not affect waiting.
const { setTimeout, clearTimeout } = globalThis

/** Less than the five seconds after which test runners stop a test, so that this error is shown instead of theirs. */
export const DEFAULT_TIMEOUT_MS = 3000

interface WaitInput<T> {
  /** Returns the value if it is available. Called at once, and again after each change. */
  readonly find: () => T | undefined | Promise<T | undefined>
  /** Calls back on each change. Returns a function that stops this. */
  readonly watch: (changed: () => void) => () => void
  readonly timeoutMs: number
  readonly timeoutError: () => Error | Promise<Error>
}

export async function eventually<T>({ find: look, watch, timeoutMs, timeoutError: tooLate }: WaitInput<T>): Promise<T> {
  let changed = () => {}
  let isTimedOut = false
  const unwatch = watch(() => changed())
  const timer = setTimeout(() => {
    isTimedOut = true
    changed()
  }, timeoutMs)
  try {
    for (;;) {
      const next = new Promise<void>(resolve => {
        changed = resolve
      })
      const found = await look()
      if (found !== undefined) return found
      if (isTimedOut) throw await tooLate()
      await next
    }
  } finally {
    clearTimeout(timer)
    unwatch()
  }
}

const pause = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms))

export interface IdleOptions {
  /** The time without new requests after which the platform is idle, in milliseconds. Default 20. */
  readonly quietMs?: number | undefined
  /** How long to wait for the platform to be idle, in milliseconds. Default 3000. */
  readonly timeoutMs?: number | undefined
}

const QUIET_MS = 20

const idleOptions = inputCheck(
  'idle',
  closed({
    quietMs: optional(milliseconds, 'The time without new requests.'),
    timeoutMs: optional(milliseconds, 'How long to wait for the platform to be idle.'),
  }),
)

/** `held` lists the holds at which requests wait, for the error. */
export async function untilIdle(
  traffic: Traffic,
  options: IdleOptions = {},
  held: () => readonly string[] = () => [],
): Promise<void> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, quietMs = Math.min(QUIET_MS, timeoutMs / 2) } = idleOptions(options)
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const reason = underWayInWords(traffic.pending())
      const waiting = held().map(title => ` A request waits at ${title}.`)
      reject(new Error(`The platform was not idle within ${timeoutMs} ms: ${reason}.${waiting.join('')}`))
    }, timeoutMs)
  })
  await Promise.race([untilQuiet(traffic, quietMs), tooLate]).finally(() => clearTimeout(timer))
}

async function untilQuiet(traffic: Traffic, quietMs: number): Promise<void> {
  for (;;) {
    await traffic.idle()
    const before = traffic.started()
    if (quietMs > 0) await pause(quietMs)
    if (traffic.started() === before) return
  }
}

function underWayInWords(count: number): string {
  if (count === 0) return 'requests kept coming'
  return count === 1 ? 'a request is still under way' : `${count} requests are still under way`
}
