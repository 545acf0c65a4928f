/** Turns a database into a state: adds tables, a single writer at a time, an orderly close, and listeners. */
import { hasStopped, stateUnavailable } from '../core/errors.js'
import { createSerialQueue } from '../core/work.js'
import type { Database, Query } from './database.js'
import type { State, Tables } from './rows.js'
import { readOnlyTablesIn, tablesIn, watchAccess } from './tables.js'

/** How often listeners are told to look again, because another process may have ended access. */
const LOOK_AGAIN_MS = 250

/** `warn` is called once when the state becomes unusable, and once when it is usable again. */
export function createState(database: Database, warn: (sentence: string) => void): State {
  const listeners = new Set<() => void>()
  const inTurn = createSerialQueue()
  const { schema, isShared } = database
  const { run, close } = createAccess(database, warn)
  let timer: NodeJS.Timeout | undefined

  const notify = () => {
    for (const listener of listeners) listener()
  }

  async function writing<T>(query: Query, work: (tables: Tables) => Promise<T>) {
    const watched = watchAccess(tablesIn(query, schema))
    return { result: await work(watched.tables), endedAccess: watched.endedAccess }
  }

  return {
    read: work => run('read', () => database.transaction('read', query => work(readOnlyTablesIn(query, schema)))),
    write: work =>
      run('write', async () => {
        const { result, endedAccess } = await inTurn(() => database.transaction('write', query => writing(query, work)))
        if (endedAccess) notify()
        return result
      }),
    onRevoked(listener) {
      listeners.add(listener)
      if (isShared) timer ??= setInterval(notify, LOOK_AGAIN_MS).unref()
    },
    close() {
      clearInterval(timer)
      return close()
    },
  }
}

/** Runs work on a database until it is closed, which waits for all work to end. */
function createAccess(database: Database, warn: (sentence: string) => void) {
  const running = new Set<Promise<unknown>>()
  const orUnavailable = createGuard(database, warn)
  let closing: Promise<void> | undefined

  async function finish() {
    await Promise.allSettled(running)
    await database.close()
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
function createGuard({ troubleOf }: Database, warn: (sentence: string) => void) {
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
      const trouble = troubleOf(error)
      if (!trouble) throw error
      if (failedKind === undefined) warn(trouble.line)
      failedKind ??= kind
      throw stateUnavailable(trouble.sentence)
    }
  }
}
