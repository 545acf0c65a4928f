/** Lets Kysely speak to an SQLite file through libsql. */
import {
  type CompiledQuery,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type Libsql from 'libsql'
import { whenFree } from './patience.js'

/** How long a writer waits for those of other processes. */
const WRITERS_PATIENCE_MS = 30_000

export const libsqlDialect = (database: Libsql.Database): Dialect => ({
  createDriver: () => driverFor(database),
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
function driverFor(database: Libsql.Database): Driver {
  const connection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const statement = database.prepare(sql)
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
      if (accessMode === 'read only') return void database.exec('begin')
      await whenFree(() => database.exec('begin immediate'), WRITERS_PATIENCE_MS)
    },
    commitTransaction: async () => void database.exec('commit'),
    rollbackTransaction: async () => void database.exec('rollback'),
    async releaseConnection() {},
    destroy: async () => void database.close(),
  }
}
