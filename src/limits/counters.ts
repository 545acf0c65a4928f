/** Counts what each credential has used: in the minute that began with its first request. */

/** A minute of one credential. */
export interface LimitWindow {
  readonly endsMs: number
  requests: number
  tokens: number
  /** Requests over a limit. */
  refused: number
}

export type Counters = ReturnType<typeof createCounters>
/** What one credential has used, for display. */
export type LimitUsage = ReturnType<Counters['all']>[number]

/** How long a window lasts. */
export const WINDOW_MS = 60_000

/** Nothing is kept for a credential whose window is over. */
export function createCounters(nowMs: () => number) {
  const windows = new Map<string, LimitWindow>()

  /** A window that ends too late has not begun yet, because the clock was moved back. It does not count. */
  const isOpen = ({ endsMs }: LimitWindow) => endsMs > nowMs() && endsMs <= nowMs() + WINDOW_MS

  function removeEnded(): void {
    for (const [key, window] of windows) if (!isOpen(window)) windows.delete(key)
  }

  /** What a credential has used, and when its limit is fully available again. Does not open a window. */
  function usedBy(key: string) {
    const window = windows.get(key)
    if (!window || !isOpen(window)) return { requests: 0, tokens: 0, refused: 0, resetMs: 0 }
    const { requests, tokens, refused, endsMs } = window
    return { requests, tokens, refused, resetMs: endsMs - nowMs() }
  }

  return {
    /** The open window of a credential, or a new one that begins now. */
    windowOf(key: string): LimitWindow {
      const current = windows.get(key)
      if (current && isOpen(current)) return current
      removeEnded()
      const created = { endsMs: nowMs() + WINDOW_MS, requests: 0, tokens: 0, refused: 0 }
      windows.set(key, created)
      return created
    },
    usedBy,
    /** All credentials with a count at this moment. */
    all() {
      removeEnded()
      return [...windows.keys()].map(key => ({ key, ...usedBy(key) }))
    },
    /** Resets what was used. */
    forget: () => windows.clear(),
  }
}
