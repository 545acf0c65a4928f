/** The life of a part, the steps that all parts take together, and how a part tells others what happens. */

import { createSerialQueue } from './work.js'

export interface ResetOptions {
  /** Resets only this scope; without one, everything. */
  readonly scope?: string | undefined
  /** False to keep users, sessions, keys and messages. */
  readonly state?: boolean | undefined
}

/** A feature of the platform. Parts implement only the steps that they need. `Configured` is what comes of reading a configuration. */
export interface Part<Configured> {
  /** Gets ready for requests, before the port is open. Rejects to refuse the start. */
  open?(): void | Promise<void>
  /**
   * Prepares a new configuration without changing anything yet. Rejects to refuse it. Resolves to a function that applies it and cannot fail.
   */
  prepare?(next: Configured): Promise<() => void>
  /** Restores the state at the start, in one scope or in all. */
  reset?(options: ResetOptions): void | Promise<void>
  /** Releases everything. Work in progress has `graceMs` to end. */
  close?(graceMs: number): unknown
}

export type Parts = ReturnType<typeof createParts>

/** Parts in order: reloads and resets go from first to last, closing from last to first. */
export function createParts<Configured>(parts: readonly Part<Configured>[]) {
  // Two resets at the same time would overwrite each other's changes.
  const resets = createSerialQueue()
  return {
    async open() {
      for (const part of parts) await part.open?.()
    },
    /** Applies a new configuration completely, or not at all. */
    async reload(next: Configured) {
      const applyFunctions: ((() => void) | undefined)[] = []
      for (const part of parts) applyFunctions.push(await part.prepare?.(next))
      for (const apply of applyFunctions) apply?.()
    },
    reset: (options: ResetOptions = {}) =>
      resets(async () => {
        for (const part of parts) await part.reset?.(options)
      }),
    async close(graceMs: number) {
      for (const part of parts.toReversed()) await part.close?.(graceMs)
    },
  }
}

/** At most this many values wait for the first listener, so that they do not fill the memory if there never is one. */
const MOST_PENDING = 500

/** Creates a list of listeners for values. With `isKept`, the first listener also gets the values from before it was added. */
export function createListeners<T = void>({ isKept = false } = {}) {
  const listeners = new Set<(value: T) => void>()
  const pending: T[] = []
  return {
    /** Returns a function that removes the listener. */
    add(listener: (value: T) => void): () => void {
      listeners.add(listener)
      for (const value of pending.splice(0)) listener(value)
      return () => void listeners.delete(listener)
    },
    emit(value: T): void {
      if (isKept && listeners.size === 0 && pending.length < MOST_PENDING) pending.push(value)
      for (const listener of listeners) listener(value)
    },
    isEmpty: () => listeners.size === 0,
  }
}
