/** What happened: every exchange ends up here, and whoever follows is told. */
import type { Exchange } from '../core/exchange.js'

export interface Journal {
  /** Takes an exchange whose answer has left, or never will. */
  add(exchange: Exchange): void
  /** Calls `listener` for each exchange from now on; what it gives back ends that. */
  follow(listener: (exchange: Exchange) => void): () => void
}

/** Keeps nothing itself: without a follower an exchange costs nothing and is gone. */
export function createJournal(): Journal {
  const listeners = new Set<(exchange: Exchange) => void>()
  return {
    add(exchange) {
      for (const listener of listeners) listener(exchange)
    },
    follow(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
