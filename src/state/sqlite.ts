/** The state in an SQLite file: persistent, and shared by processes on one machine. */
import { closeSync, openSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type CompiledQuery,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  type SqliteDatabase,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import Libsql from 'libsql'
import { makeFolder, StartError } from '../check/problem.js'
import { createSerialQueue } from '../core/work.js'
import { isCurrent, migrate } from './migrations.js'
import { createSqlStore, type Database } from './sql.js'
import { reportDamage } from './sqlite-log.js'
import type { Store, Trouble } from './store.js'

/** How long to wait for another process that is starting. That takes much less. */
const OPENING_PATIENCE_MS = 3000
const POLL_MS = 250

/** Opens the file, or creates it if it does not exist. Throws a StartError if that fails. */
export async function openSqlite(file: string, warn: (sentence: string) => void): Promise<Store> {
  try {
    createFile(file)
    await reportDamage(file, warn)
    return await open(file)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(cannotKeep(file, error as Failure))
  }
}

async function open(file: string): Promise<Store> {
  // Two connections, because on a single one a reader would see unfinished changes of a writer.
  const writer = new Libsql(file)
  const reader = new Libsql(file)
  const writeDb = new Kysely<Database>({ dialect: sqliteDialect(writer) })
  const readDb = new Kysely<Database>({ dialect: sqliteDialect(reader) })
  let pollTimer: NodeJS.Timeout | undefined

  function close() {
    clearInterval(pollTimer)
    reader.close()
    writer.close()
  }

  try {
    await whenFree(() => prepare(writer), OPENING_PATIENCE_MS)
    reader.exec(`pragma busy_timeout = ${OPENING_PATIENCE_MS}; pragma query_only = on`)
    if (!(await isCurrent(readDb, file))) await migrateFile(writer, writeDb)
  } catch (error) {
    close()
    throw error
  }

  return createSqlStore({
    readDb,
    writeDb,
    // Kysely also queues readers, but wakes all of them whenever one is done.
    inTurn: createSerialQueue(),
    follow(onChange) {
      pollTimer = pollForChanges(writer, onChange)
    },
    troubleOf: error => troubleWith(file, error as Failure),
    async close() {
      checkpoint(writer)
      close()
    },
  })
}

async function migrateFile(writer: SqliteFile, writeDb: Kysely<Database>): Promise<void> {
  // A migration may remove secrets, which must not stay behind in free pages.
  writer.exec('pragma secure_delete = on')
  await writeDb.transaction().execute(transaction => migrate(transaction, { text: 'text' }))
}

/** Creates the file and its folder for this user only, since it contains hashes of passwords and keys. */
function createFile(file: string) {
  const newFolder = makeFolder(path.dirname(file), 0o700)
  // An existing folder may be committed on purpose; its owner decides what it contains.
  if (newFolder !== undefined) writeFileSync(path.join(newFolder, '.gitignore'), '*\n')
  closeSync(openSync(file, 'a', 0o600))
}

function prepare(writer: Libsql.Database) {
  // WAL allows reading while one connection writes. NORMAL passes each commit to the operating system without waiting
  // for the disk: if the process is killed, nothing is lost; only a power failure could lose the last commits.
  writer.exec('pragma busy_timeout = 0; pragma journal_mode = wal; pragma synchronous = normal')
}

/** Writes everything into the main file, so that it can be copied. Skipped if that is not possible at the moment. */
function checkpoint(writer: Libsql.Database) {
  try {
    writer.exec('pragma wal_checkpoint(truncate)')
  } catch {}
}

function pollForChanges(writer: Libsql.Database, onChange: () => void): NodeJS.Timeout {
  let lastVersion = dataVersion(writer)
  const poll = () => {
    const version = dataVersion(writer)
    if (version !== undefined && version !== lastVersion) onChange()
    lastVersion = version ?? lastVersion
  }
  return setInterval(poll, POLL_MS).unref()
}

/** A number that changes when another connection has changed the file; undefined if it cannot be read at the moment. */
function dataVersion(writer: Libsql.Database): number | undefined {
  try {
    const [row] = writer.pragma('data_version') as { data_version: number }[]
    return row?.data_version
  } catch {
    return undefined
  }
}

/** SQLite's errors about its file rather than about a statement. */
const fileErrorCodes = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|BUSY)/

function troubleWith(file: string, error: Partial<Failure>): Trouble | undefined {
  const { code = '', message = '' } = error
  if (!fileErrorCodes.test(code)) return undefined
  const failure = { code, message }
  return { sentence: `The state cannot be kept: ${reason(file, failure)}`, line: cannotKeep(file, failure) }
}

const cannotKeep = (file: string, failure: Failure) => `The state cannot be kept in ${file}: ${reason(file, failure)}`

interface Failure {
  readonly code?: string
  readonly message: string
}

function reason(file: string, { code = '', message }: Failure): string {
  switch (code.replace(/^(SQLITE_(READONLY|CANTOPEN|IOERR|CORRUPT))_.*/, '$1')) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'SQLITE_READONLY':
    case 'SQLITE_CANTOPEN':
      return `this user may not write there (${code}). Allow it, choose another file, or keep nothing with --state memory.`
    case 'ENOSPC':
    case 'EDQUOT':
    case 'SQLITE_FULL':
      return 'its disk is full. Make room there, or choose another file.'
    case 'SQLITE_IOERR':
      return `its disk cannot be read or written (${code}). Look whether it is full or damaged.`
    case 'EISDIR':
      return `it is a folder. Name a file in it, such as ${path.join(file, 'standin.db')}.`
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a part of its path is a file, not a folder. Choose another file.'
    case 'SQLITE_NOTADB':
    case 'SQLITE_CORRUPT':
      return 'it is not an SQLite database, or a damaged one. Move it away, or choose another file.'
    case 'SQLITE_BUSY':
      return 'another program has locked it. Close that program, or choose another file.'
    default:
      if (/^table .* already exists$/.test(message)) return 'it is the database of something else. Choose another file.'
      return `${message}. Choose another file.`
  }
}

/** The file interface of libsql, which is like better-sqlite3's. */
interface SqliteFile extends SqliteDatabase {
  exec(sql: string): unknown
  readonly inTransaction: boolean
}

/** How long a writer waits for the writers of other processes. */
const WRITERS_PATIENCE_MS = 30_000

/** Connects Kysely to an SQLite file through libsql, with a limit on how long a query waits for a lock. */
const sqliteDialect = (file: SqliteFile): Dialect => ({
  createDriver: () => driverFor(file),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createIntrospector: db => new SqliteIntrospector(db),
  createAdapter: () => ({
    supportsMultipleConnections: false,
    supportsTransactionalDdl: true,
    supportsReturning: true,
    // Migrations run in a transaction, and SQLite has a single writer.
    async acquireMigrationLock() {},
    async releaseMigrationLock() {},
  }),
})

// Kysely's driver for SQLite prepares `begin` and `commit` like queries. When the file is busy, libsql leaves such a
// statement unfinished, and the next commit fails. `exec` cleans up after itself.
function driverFor(file: SqliteFile): Driver {
  const connection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      // libsql crashes the whole process for a value that it does not support.
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
    // A full disk ends the transaction by itself. Ending it again would throw an error that hides the cause.
    rollbackTransaction: async () => void (file.inTransaction && file.exec('rollback')),
    async releaseConnection() {},
    destroy: async () => void file.close(),
  }
}

const isCell = (value: unknown) => value === null || typeof value === 'string' || typeof value === 'number'

/** Retries until the file is free. After `patienceMs` it rejects with SQLite's error. */
async function whenFree<T>(attempt: () => T, patienceMs: number): Promise<T> {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error
    }
    // SQLite's own waiting would block the process, including the work that will free the file. The pause is random, so
    // that waiting processes do not collide again and again.
    await pause(1 + Math.random() * 9)
  }
}

/** Whether an error says that another process is writing to the SQLite file. */
const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')
