/** Opens a state (in memory, in an SQLite file or in PostgreSQL) with one writer at a time, and copies and restores all of its rows. */
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { StartError } from '../check/problem.js'
import { hasStopped, stateUnavailable } from '../core/errors.js'
import { createListeners } from '../core/part.js'
import { createSerialQueue } from '../core/work.js'
import type { Rows, State, TableName, Tables, UserChange } from './rows.js'
import { openFile, openMemory } from './sqlite.js'
import { type AnyTable, type Database, tableNames, tablesIn } from './tables.js'

type StateKind = 'memory' | 'file' | 'postgres'

/** Which kind of state a setting means; undefined if it is invalid. */
function stateKindOf(setting: string): StateKind | undefined {
  if (setting === 'memory') return 'memory'
  if (/^file:./.test(setting)) return 'file'
  if (/^postgres(ql)?:\/\/./.test(setting)) return 'postgres'
  return undefined
}

export interface StateDependencies {
  /** The folder for relative paths. */
  readonly dir: string
  /** Called with a sentence when the state becomes unusable, and when it is usable again. */
  readonly warn?: ((sentence: string) => void) | undefined
}

/** Opens `memory`, `file:PATH` or `postgres://…`. If that fails, rejects with a StartError that says what to do. */
export async function openState(setting: string, { dir, warn = () => {} }: StateDependencies): Promise<State> {
  return createState(await openDatabase(setting, dir), warn)
}

/** Rejects with the StartError of `openState` for an address that nobody can open. Connects to nothing. */
export async function requireAddress(setting: string): Promise<void> {
  if (stateKindOf(setting) === 'postgres') (await import('./postgres.js')).addressOf(setting)
}

async function openDatabase(setting: string, dir: string): Promise<Database> {
  switch (stateKindOf(setting)) {
    case 'memory':
      return openMemory()
    case 'file':
      return openFile(path.resolve(dir, setting.slice('file:'.length)))
    case 'postgres': {
      // Loaded on demand, since most platforms do not use it.
      const { openPostgres } = await import('./postgres.js')
      return openPostgres(setting)
    }
    case undefined:
      throw new StartError('The state is kept in "memory", "file:PATH" or "postgres://user:password@host/database".')
  }
}

/** The rows of all tables, newest first. */
export type Snapshot = { readonly [N in TableName]: readonly Rows[N][] }

const anyTable = (tables: Tables, name: TableName) => tables[name] as unknown as AnyTable

/** Returns all rows as of one moment. */
export const snapshotOf = (state: State): Promise<Snapshot> =>
  state.read(async tables => {
    const rows = await Promise.all(tableNames.map(async name => [name, await anyTable(tables, name).find({})] as const))
    return Object.fromEntries(rows) as unknown as Snapshot
  })

/** Replaces the rows of each table. Returns whether anything changed. */
export async function restoreRows(tables: Tables, snapshot: Snapshot): Promise<boolean> {
  let isChanged = false
  for (const name of tableNames) {
    const table = anyTable(tables, name)
    if (isDeepStrictEqual(await table.find({}), snapshot[name])) continue
    isChanged = true
    await table.remove({})
    // Oldest first, in the order in which they were created.
    for (const row of snapshot[name].toReversed()) await table.insert({ ...row })
  }
  return isChanged
}

/** How often listeners are told to look again, because another process may have ended access. */
const LOOK_AGAIN_MS = 250

/** `warn` is called once when the state becomes unusable, and once when it is usable again. */
function createState(database: Database, warn: (sentence: string) => void): State {
  const revoked = createListeners()
  const inTurn = createSerialQueue()
  const { schema, isShared } = database
  const { run, close } = createAccess(database, warn)
  let follow: ((changes: readonly UserChange[]) => Promise<void>) | undefined
  let timer: NodeJS.Timeout | undefined

  return {
    read: work => run('read', () => database.transaction('read', query => work(tablesIn(query, schema, () => {})))),
    followUsers(next) {
      follow = next
    },
    write: (work, { isQuiet = false } = {}) =>
      run('write', async () => {
        let mayHaveEnded = false
        const result = await inTurn(() =>
          database.transaction('write', async query => {
            const tables = tablesIn(query, schema, () => {
              mayHaveEnded = true
            })
            return follow && !isQuiet ? followed(tables, work, follow) : work(tables)
          }),
        )
        if (mayHaveEnded) revoked.emit()
        return result
      }),
    onRevoked(listener) {
      revoked.add(listener)
      if (isShared) timer ??= setInterval(revoked.emit, LOOK_AGAIN_MS).unref()
    },
    close() {
      clearInterval(timer)
      return close()
    },
  }
}

/** Tells of the users that the work has changed, as they are then. */
async function followed<T>(
  tables: Tables,
  work: (tables: Tables) => Promise<T>,
  follow: (changes: readonly UserChange[]) => Promise<void>,
): Promise<T> {
  const { users } = tables
  const changed = new Set<string>()
  const result = await work({
    ...tables,
    users: {
      get: id => users.get(id),
      find: (where, page) => users.find(where, page),
      count: where => users.count(where),
      async insert(row) {
        await users.insert(row)
        changed.add(row.id)
      },
      async update(id, changes) {
        await users.update(id, changes)
        changed.add(id)
      },
      async remove(where) {
        for (const { id } of await users.find(where)) changed.add(id)
        return users.remove(where)
      },
    },
  })
  if (changed.size > 0)
    await follow(await Promise.all([...changed].map(async id => ({ id, row: await users.get(id) }))))
  return result
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
