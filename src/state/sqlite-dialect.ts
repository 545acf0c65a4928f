/** Connects Kysely to an SQLite file through libsql, and says how long a query may wait for a lock. */
import { setTimeout as pause } from 'node:timers/promises'
import {
  type CompiledQuery,
  type Dialect,
  type Driver,
  type QueryResult,
  type SqliteDatabase,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'

/** What libsql, like better-sqlite3, makes of a file. */
export interface SqliteFile extends SqliteDatabase {
  exec(sql: string): unknown
  readonly inTransaction: boolean
}

/** How long a writer waits for those of other processes. */
const WRITERS_PATIENCE_MS = 30_000

export const sqliteDialect = (file: SqliteFile): Dialect => ({
  createDriver: () => driverFor(file),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createIntrospector: db => new SqliteIntrospector(db),
  createAdapter: () => ({
    supportsMultipleConnections: false,
    supportsTransactionalDdl: true,
    supportsReturning: true,
    // Migrations run in a transaction, and SQLite has one writer.
    async acquireMigrationLock() {},
    async releaseMigrationLock() {},
  }),
})

// Kysely has a driver for SQLite, but it prepares `begin` and `commit` like queries. When the file is busy, libsql leaves such a
// statement half done, and then the next commit fails. `exec` tidies up after itself.
function driverFor(file: SqliteFile): Driver {
  const connection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      // libsql ends the whole process over a value that it does not know.
      if (!parameters.every(isCell)) throw new TypeError('SQLite keeps text, numbers and null.')
      const statement = file.prepare(sql)
      if (statement.reader) return { rows: statement.all(parameters) as R[] }
      return { rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) }
    },
    // biome-ignore lint/correctness/useYield: no query is streamed here.
    async *streamQuery(): AsyncGenerator<never> {
      throw new Error('Not needed here.')
    },
  }
  return {
    async init() {},
    acquireConnection: async () => connection,
    async beginTransaction(_connection, { accessMode }) {
      if (accessMode === 'read only') return void file.exec('begin')
      await whenFree(() => file.exec('begin immediate'), WRITERS_PATIENCE_MS)
    },
    commitTransaction: async () => void file.exec('commit'),
    // A full disk ends a transaction by itself, and to end it again would be an error in place of the cause.
    rollbackTransaction: async () => void (file.inTransaction && file.exec('rollback')),
    async releaseConnection() {},
    destroy: async () => void file.close(),
  }
}

const isCell = (value: unknown) => value === null || typeof value === 'string' || typeof value === 'number'

/** Tries until the file is free; after `patienceMs` it rejects with what SQLite says. */
export async function whenFree<T>(attempt: () => T, patienceMs: number): Promise<T> {
  const givesUpAt = performance.now() + patienceMs
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() > givesUpAt) throw error
    }
    // SQLite's own waiting would stop the whole process, and with it the work in it that is to free the file. By chance, so that
    // processes that wait do not keep meeting.
    await pause(1 + Math.random() * 9)
  }
}

/** Waits for an SQLite file that another process is writing to. */
export const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')
