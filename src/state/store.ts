/** Turns a store into a state: adds a single writer at a time, an orderly close, and listeners. */
import { hasStopped, stateUnavailable } from '../core/errors.js'
import type { State, Tables } from '../core/state.js'
import { createSerialQueue } from '../core/work.js'

/** Why nothing can be read or written at the moment, although the request is valid. */
export interface Trouble {
  /** For clients: a sentence without paths and credentials. */
  readonly sentence: string
  /** For the log: the cause, and what to do. */
  readonly line: string
}

/** How rows are stored: the part in which the kinds of state differ. */
export interface Store {
  read<T>(work: (tables: Tables) => Promise<T>): Promise<T>
  /**
   * Called for one piece of work at a time. `endedAccess` says whether a session, a user or a key has lost access.
   */
  write<T>(work: (tables: Tables) => Promise<T>): Promise<{ readonly result: T; readonly endedAccess: boolean }>
  /** Calls `onChange` whenever another process may have ended access. */
  follow(onChange: () => void): void
  /** Called once, when nothing is read or written any more. */
  close(): Promise<void>
  /** What an error says about the place where rows are stored; `undefined` for other errors. */
  troubleOf?(error: unknown): Trouble | undefined
}

/** `warn` is called once when the state becomes unusable, and once when it is usable again. */
export function createState(store: Store, warn: (sentence: string) => void = () => {}): State {
  const listeners = new Set<() => void>()
  const inTurn = createSerialQueue()
  const { run, close } = createAccess(store, warn)

  const notify = () => {
    for (const listener of listeners) listener()
  }

  return {
    read: work => run('read', () => store.read(work)),
    write: work =>
      run('write', async () => {
        const { result, endedAccess } = await inTurn(() => store.write(work))
        if (endedAccess) notify()
        return result
      }),
    onRevoked(listener) {
      if (listeners.size === 0) store.follow(notify)
      listeners.add(listener)
    },
    close,
  }
}

/** Runs work on a store until it is closed, which waits for all work to end. */
function createAccess(store: Store, warn: (sentence: string) => void) {
  const running = new Set<Promise<unknown>>()
  const orUnavailable = createGuard(store, warn)
  let closing: Promise<void> | undefined

  async function finish() {
    await Promise.allSettled(running)
    await store.close()
  }

  return {
    async run<T>(kind: 'read' | 'write', work: () => Promise<T>): Promise<T> {
      // A request was still being answered when Standin stopped.
      if (closing) throw hasStopped()
      const promise = work()
      running.add(promise)
      try {
        return await orUnavailable(kind, promise)
      } finally {
        running.delete(promise)
      }
    },
    close() {
      closing ??= finish()
      return closing
    },
  }
}

/** Turns an error of the storage into a 503, and warns when the trouble begins and ends. */
function createGuard({ troubleOf }: Store, warn: (sentence: string) => void) {
  /** What has failed. A full disk can still be read, so a successful read does not end the trouble of a write. */
  let failedKind: 'read' | 'write' | undefined
  return async <T>(kind: 'read' | 'write', work: Promise<T>): Promise<T> => {
    try {
      const result = await work
      if (failedKind !== undefined && (failedKind === 'read' || kind === 'write')) {
        failedKind = undefined
        warn('The state can be used again.')
      }
      return result
    } catch (error) {
      const trouble = troubleOf?.(error)
      if (!trouble) throw error
      if (failedKind === undefined) warn(trouble.line)
      failedKind ??= kind
      throw stateUnavailable(trouble.sentence)
    }
  }
}
