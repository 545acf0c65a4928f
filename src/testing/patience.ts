/** Waits until something has arrived. On a timeout, reports what arrived instead. */

// Kept from the start, so that a test's fake timers do not affect waiting.
const { setTimeout, clearTimeout } = globalThis

/** Less than the five seconds that runners give a test, so that this error is shown instead of theirs. */
export const PATIENCE_MS = 3000

interface Awaited<T> {
  /** Returns the result once it is available. Called again after each `changed`. */
  readonly look: () => T | undefined | Promise<T | undefined>
  /** Calls back on each change. Returns a function that stops this. */
  readonly watch: (changed: () => void) => () => void
  readonly timeoutMs: number
  readonly tooLate: () => Error | Promise<Error>
}

export async function eventually<T>({ look, watch, timeoutMs, tooLate }: Awaited<T>): Promise<T> {
  let changed = () => {}
  let isLate = false
  const unwatch = watch(() => changed())
  const timer = setTimeout(() => {
    isLate = true
    changed()
  }, timeoutMs)
  try {
    for (;;) {
      const next = new Promise<void>(resolve => {
        changed = resolve
      })
      const found = await look()
      if (found !== undefined) return found
      if (isLate) throw await tooLate()
      await next
    }
  } finally {
    clearTimeout(timer)
    unwatch()
  }
}

export const pause = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms))
