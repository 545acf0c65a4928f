/** The state in an SQLite file: kept when the process ends, shared by processes on one machine. */
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
import { createTurns } from '../core/work.js'
import { isCurrent, migrate } from './migrations.js'
import { createSqlStore, type Database } from './sql.js'
import { reportDamage } from './sqlite-log.js'
import type { Store, Trouble } from './store.js'

/** How long another process may take over its own start; far more than it needs. */
const OPENING_PATIENCE_MS = 3000
const LOOK_EVERY_MS = 250

/** Opens the file, and makes it when it is not there. Throws a StartError when that cannot be done. */
export async function openSqlite(file: string, warn: (sentence: string) => void): Promise<Store> {
  try {
    makeRoomFor(file)
    await reportDamage(file, warn)
    return await open(file)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(cannotKeep(file, error as Failure))
  }
}

async function open(file: string): Promise<Store> {
  // Two connections, since on one of them a reader would see what a writer has not finished yet.
  const writer = new Libsql(file)
  const reader = new Libsql(file)
  const writing = new Kysely<Database>({ dialect: sqliteDialect(writer) })
  const reading = new Kysely<Database>({ dialect: sqliteDialect(reader) })
  let looks: NodeJS.Timeout | undefined

  function close() {
    clearInterval(looks)
    reader.close()
    writer.close()
  }

  try {
    await whenFree(() => prepare(writer), OPENING_PATIENCE_MS)
    reader.exec(`pragma busy_timeout = ${OPENING_PATIENCE_MS}; pragma query_only = on`)
    if (!(await isCurrent(reading, file))) await migrateFile(writer, writing)
  } catch (error) {
    close()
    throw error
  }

  return createSqlStore({
    reading,
    writing,
    // Kysely has them wait too, but wakes all of them each time one is done.
    inTurn: createTurns(),
    follow(tell) {
      looks = lookForChanges(writer, tell)
    },
    troubleOf: error => troubleWith(file, error as Failure),
    async close() {
      gather(writer)
      close()
    },
  })
}

async function migrateFile(writer: SqliteFile, writing: Kysely<Database>): Promise<void> {
  // A migration may remove secrets, which must not stay behind in free pages.
  writer.exec('pragma secure_delete = on')
  await writing.transaction().execute(transaction => migrate(transaction, { text: 'text' }))
}

/** Makes the file, and the folder that it needs, for this user alone: hashes of passwords and keys are in it. */
function makeRoomFor(file: string) {
  const made = makeFolder(path.dirname(file), 0o700)
  // A folder that was there may be committed on purpose; its owner decides what is in it.
  if (made !== undefined) writeFileSync(path.join(made, '.gitignore'), '*\n')
  closeSync(openSync(file, 'a', 0o600))
}

function prepare(writer: Libsql.Database) {
  // WAL lets others read while one writes. NORMAL hands each commit to the operating system and does not wait for the disk: a
  // process that is killed loses nothing, only a power cut could take the last commits along.
  writer.exec('pragma busy_timeout = 0; pragma journal_mode = wal; pragma synchronous = normal')
}

/** Puts everything into the one file, so that it can be copied; does without where that cannot be done just now. */
function gather(writer: Libsql.Database) {
  try {
    writer.exec('pragma wal_checkpoint(truncate)')
  } catch {}
}

function lookForChanges(writer: Libsql.Database, tell: () => void): NodeJS.Timeout {
  let seen = dataVersion(writer)
  const look = () => {
    const now = dataVersion(writer)
    if (now !== undefined && now !== seen) tell()
    seen = now ?? seen
  }
  return setInterval(look, LOOK_EVERY_MS).unref()
}

/** A number that changes when another connection has changed the file; undefined when that cannot be read just now. */
function dataVersion(writer: Libsql.Database): number | undefined {
  try {
    const [row] = writer.pragma('data_version') as { data_version: number }[]
    return row?.data_version
  } catch {
    return undefined
  }
}

/** SQLite's errors about its file rather than about a statement. */
const ofTheFile = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|BUSY)/

function troubleWith(file: string, error: Partial<Failure>): Trouble | undefined {
  const { code = '', message = '' } = error
  if (!ofTheFile.test(code)) return undefined
  const failure = { code, message }
  return { said: `The state cannot be kept: ${reason(file, failure)}`, line: cannotKeep(file, failure) }
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

/** What libsql, like better-sqlite3, makes of a file. */
export interface SqliteFile extends SqliteDatabase {
  exec(sql: string): unknown
  readonly inTransaction: boolean
}

/** How long a writer waits for those of other processes. */
const WRITERS_PATIENCE_MS = 30_000

/** Connects Kysely to an SQLite file through libsql, and says how long a query may wait for a lock. */
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
