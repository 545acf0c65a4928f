/** Counts for each credential, in the minute that began with the first thing that was counted. */

export const WINDOW_MS = 60_000

interface Ending {
  /** On the clock of the windows. */
  readonly endsMs: number
}

export interface Windows<W extends Ending> {
  /** The window of a credential: the one that is open, or a new one that begins now. */
  open(key: string): W
  /** The one that is open; looking opens none. */
  find(key: string): W | undefined
  /** Those that are open, by their credentials. */
  all(): readonly (readonly [key: string, window: W])[]
  clear(): void
}

/** A window that ends later has not begun yet: the clock was moved back, and it counts for nothing. */
const isOpen = ({ endsMs }: Ending, nowMs: number) => endsMs > nowMs && endsMs <= nowMs + WINDOW_MS

/** Makes windows. Nothing is kept of one that is over. */
export function createWindows<W extends Ending>(nowMs: () => number, begin: (endsMs: number) => W): Windows<W> {
  /** In the order in which they end, since all are of one length and each new one stands last. */
  const windows = new Map<string, W>()

  function forgetEnded(now: number) {
    for (const [key, window] of windows) {
      if (isOpen(window, now)) return
      windows.delete(key)
    }
  }

  function openAt(key: string, now: number): W | undefined {
    const window = windows.get(key)
    return window && isOpen(window, now) ? window : undefined
  }

  return {
    open(key) {
      const now = nowMs()
      forgetEnded(now)
      const open = openAt(key, now)
      if (open) return open
      windows.delete(key)
      const fresh = begin(now + WINDOW_MS)
      windows.set(key, fresh)
      return fresh
    },
    find: key => openAt(key, nowMs()),
    all() {
      const now = nowMs()
      return [...windows].filter(([, window]) => isOpen(window, now))
    },
    clear: () => windows.clear(),
  }
}
