/** Counts what each credential has used: in the minute that began with its first request, and at this moment. */

/** A minute of one credential. */
export interface LimitWindow {
  readonly endsMs: number
  requests: number
  tokens: number
}

export type Counters = ReturnType<typeof createCounters>
/** What one credential has used, for display. */
export type LimitUsage = ReturnType<Counters['all']>[number]

/** Nothing is kept for a credential whose window is over and whose streams have ended. */
export function createCounters(nowMs: () => number) {
  const windows = createWindows<LimitWindow>(nowMs, endsMs => ({ endsMs, requests: 0, tokens: 0 }))
  const refusals = createWindows(nowMs, endsMs => ({ endsMs, count: 0 }))
  const streams = new Map<string, number>()

  /** The number of open streams of a credential. */
  const streamsOf = (key: string) => streams.get(key) ?? 0

  /** What a credential has used, and when its limit is fully available again. Does not open a window. */
  function usedBy(key: string) {
    const window = windows.find(key)
    if (!window) return noUsage
    const { requests, tokens, endsMs } = window
    return { requests, tokens, resetMs: endsMs - nowMs() }
  }

  return {
    windowOf: windows.open,
    usedBy,
    /** Counts a request over the limit. */
    refuse: (key: string) => void refusals.open(key).count++,
    streamsOf,
    openStream: (key: string) => openStream(streams, key),
    /** All credentials with a count at this moment; refusals are those of the minute that began with the first one. */
    all() {
      const keys = [windows.all(), refusals.all(), [...streams]].flat().map(([key]) => key)
      return [...new Set(keys)].map(key => ({
        key,
        ...usedBy(key),
        streams: streamsOf(key),
        refused: refusals.find(key)?.count ?? 0,
      }))
    },
    /** Resets what was used. Open streams stay counted. */
    forget() {
      windows.clear()
      refusals.clear()
    },
  }
}

const noUsage = { requests: 0, tokens: 0, resetMs: 0 }

/** Counts a stream. Returns a function that removes it from the count once. */
function openStream(streams: Map<string, number>, key: string): () => void {
  let isOpen = true
  const openCount = () => streams.get(key) ?? 0
  streams.set(key, openCount() + 1)
  return () => {
    if (!isOpen) return
    isOpen = false
    const left = openCount() - 1
    if (left > 0) streams.set(key, left)
    else streams.delete(key)
  }
}

/** How long a window lasts. */
export const WINDOW_MS = 60_000

interface AnyWindow {
  /** On the clock of the windows. */
  readonly endsMs: number
}

/** A window that ends too late has not begun yet, because the clock was moved back. It does not count. */
const isOpen = ({ endsMs }: AnyWindow, nowMs: number) => endsMs > nowMs && endsMs <= nowMs + WINDOW_MS

/** The windows of all credentials. Each begins with the first count, and is removed when it is over. */
function createWindows<W extends AnyWindow>(nowMs: () => number, begin: (endsMs: number) => W) {
  /** In the order in which they end, since all have the same length and new ones are added at the end. */
  const windows = new Map<string, W>()

  function removeEnded(now: number) {
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
    /** The open window of a credential, or a new one that begins now. */
    open(key: string): W {
      const now = nowMs()
      removeEnded(now)
      const current = openAt(key, now)
      if (current) return current
      windows.delete(key)
      const created = begin(now + WINDOW_MS)
      windows.set(key, created)
      return created
    },
    find: (key: string) => openAt(key, nowMs()),
    all() {
      const now = nowMs()
      return [...windows].filter(([, window]) => isOpen(window, now))
    },
    clear: () => windows.clear(),
  }
}
