/** Turns a store, which knows how rows are kept, into a state: one writer at a time, an orderly end, and listeners that are told. */
import type { State, Tables } from '../core/state.js'
import { createTurns } from './turns.js'

/** How rows are kept: the part in which the kinds of state differ. */
export interface Store {
  read<T>(work: (tables: Tables) => Promise<T>): Promise<T>
  /** Called for one piece of work at a time. `closed` tells whether it closed doors. */
  write<T>(work: (tables: Tables) => Promise<T>): Promise<{ readonly result: T; readonly closed: boolean }>
  /** Calls `tell` from now on when another process may have closed doors. */
  follow(tell: () => void): void
  /** Called once, when nothing is read or written any more. */
  close(): Promise<void>
}

export function createState(store: Store): State {
  const listeners = new Set<() => void>()
  const running = new Set<Promise<unknown>>()
  const inTurn = createTurns()
  let end: Promise<void> | undefined

  const tell = () => {
    for (const listener of listeners) listener()
  }

  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (end) throw new Error('The state is closed.')
    const promise = work()
    running.add(promise)
    try {
      return await promise
    } finally {
      running.delete(promise)
    }
  }

  async function finish() {
    await Promise.allSettled(running)
    await store.close()
  }

  return {
    read: work => run(() => store.read(work)),
    write: work =>
      run(async () => {
        const { result, closed } = await inTurn(() => store.write(work))
        if (closed) tell()
        return result
      }),
    onRevoked(listener) {
      if (listeners.size === 0) store.follow(tell)
      listeners.add(listener)
    },
    close() {
      end ??= finish()
      return end
    },
  }
}
