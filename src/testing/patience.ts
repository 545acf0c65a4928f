/** Waits until something is there, and says in the end what came instead. */

// Those of the start: a test may have put others in their place, by which nothing here goes.
const { setTimeout, clearTimeout } = globalThis

/** Less than the five seconds after which runners give a test up, so that it is this that says what was waited for. */
export const PATIENCE_MS = 3000

interface Awaited<T> {
  /** What is waited for, if it is there. It is asked again after each `changed`. */
  readonly look: () => T | undefined | Promise<T | undefined>
  /** Calls back whenever there may be more; what it gives back ends that. */
  readonly watch: (changed: () => void) => () => void
  readonly timeoutMs: number
  /** What to reject with. */
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
