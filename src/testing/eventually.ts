/** Waits until a value is available, and rejects on a timeout. */

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

export const pause = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms))
