/** Counts what each credential has used: in the minute that began with its first request, and at this moment. */

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

/** Nothing is kept for a credential whose window is over and whose streams have ended. */
export function createCounters(nowMs: () => number) {
  const windows = new Map<string, LimitWindow>()
  const streams = new Map<string, number>()

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

  /** The number of open streams of a credential. */
  const streamsOf = (key: string) => streams.get(key) ?? 0

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
    streamsOf,
    /** Counts a stream. Returns a function that removes it from the count once. */
    openStream(key: string): () => void {
      let isCounted = true
      streams.set(key, streamsOf(key) + 1)
      return () => {
        if (!isCounted) return
        isCounted = false
        if (streamsOf(key) > 1) streams.set(key, streamsOf(key) - 1)
        else streams.delete(key)
      }
    },
    /** All credentials with a count at this moment. */
    all() {
      removeEnded()
      const keys = new Set([...windows.keys(), ...streams.keys()])
      return [...keys].map(key => ({ key, ...usedBy(key), streams: streamsOf(key) }))
    },
    /** Resets what was used. Open streams stay counted. */
    forget: () => windows.clear(),
  }
}
