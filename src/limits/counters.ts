/** What each credential has used: in the minute that began with its first request, and at this moment. */

export const WINDOW_MS = 60_000

/** A minute of one credential. */
export interface Window {
  /** On the clock of the counters. */
  readonly endsMs: number
  requests: number
  tokens: number
}

/** What a credential has used, and when all of it is there again. */
export interface Used {
  readonly requests: number
  readonly tokens: number
  readonly resetMs: number
}

export interface Counters {
  /** The window of a credential: the one that is open, or a new one that begins now. */
  windowOf(key: string): Window
  /** What a credential has used of its window; looking opens none. */
  usedBy(key: string): Used
  /** How many streams of a credential are open. */
  streamsOf(key: string): number
  /** Opens a stream; what it gives back closes it. Closing twice does nothing. */
  openStream(key: string): () => void
}

/** A window that ends later has not begun yet: the clock was moved back, and it counts for nothing. */
const isOpen = ({ endsMs }: Window, nowMs: number) => endsMs > nowMs && endsMs <= nowMs + WINDOW_MS

/** Makes the counters. Nothing is kept of a credential whose window is over and whose streams have ended. */
export function createCounters(nowMs: () => number): Counters {
  /** In the order in which they end, since all are of one length and each new one stands last. */
  const windows = new Map<string, Window>()
  const streams = new Map<string, number>()

  function forgetEnded(now: number) {
    for (const [key, window] of windows) {
      if (isOpen(window, now)) return
      windows.delete(key)
    }
  }

  const streamsOf = (key: string) => streams.get(key) ?? 0

  return {
    windowOf(key) {
      const now = nowMs()
      forgetEnded(now)
      const open = windows.get(key)
      if (open && isOpen(open, now)) return open
      windows.delete(key)
      const fresh = { endsMs: now + WINDOW_MS, requests: 0, tokens: 0 }
      windows.set(key, fresh)
      return fresh
    },
    usedBy(key) {
      const now = nowMs()
      const window = windows.get(key)
      if (!window || !isOpen(window, now)) return nothing
      const { requests, tokens, endsMs } = window
      return { requests, tokens, resetMs: endsMs - now }
    },
    streamsOf,
    openStream(key) {
      let isOpen = true
      streams.set(key, streamsOf(key) + 1)
      return () => {
        if (!isOpen) return
        isOpen = false
        const left = streamsOf(key) - 1
        if (left > 0) streams.set(key, left)
        else streams.delete(key)
      }
    },
  }
}

const nothing: Used = { requests: 0, tokens: 0, resetMs: 0 }
