/** The state in SQLite: in a file, which persists and is shared by processes on one machine, or in memory. */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { makeFolder, StartError } from '../check/problem.js'
import { createSerialQueue } from '../core/work.js'
import { migrate } from './migrations.js'
import type { Database, Query, Trouble } from './tables.js'

/** How long to wait for another process that is starting. That takes much less. */
const OPENING_PATIENCE_MS = 3000
/** How long a writer waits for the writers of other processes. */
const WRITERS_PATIENCE_MS = 30_000

const sqlite = loadSqlite()

/** Opens a database in memory, which is gone when it is closed. */
export async function openMemory(): Promise<Database> {
  const connection = new sqlite.DatabaseSync(':memory:')
  const inTurn = createSerialQueue()
  const database: Database = {
    schema: '',
    isShared: false,
    // Only this connection sees the database, so readers and writers take turns.
    transaction: (kind, work) =>
      inTurn(() => {
        connection.exec(`pragma query_only = ${kind === 'read'}`)
        return inTransaction(connection, work)
      }),
    close: async () => connection.close(),
    troubleOf: () => undefined,
  }
  await migrate(database, { place: 'memory' })
  return database
}

/** Opens the file, or creates it if it does not exist. Throws a StartError if that fails. */
export async function openFile(file: string): Promise<Database> {
  try {
    createFile(file)
    return await open(file)
  } catch (error) {
    throw error instanceof StartError ? error : new StartError(cannotKeep(file, error as Failure))
  }
}

// WAL allows reading while one connection writes. NORMAL passes each commit to the operating system without waiting
// for the disk: if the process is killed, nothing is lost; only a power failure could lose the last commits.
const WRITER_SETTINGS = 'pragma busy_timeout = 0; pragma journal_mode = wal; pragma synchronous = normal'

async function open(file: string): Promise<Database> {
  // Two connections, because on a single one a reader would see unfinished changes of a writer.
  const writer = new sqlite.DatabaseSync(file)
  const reader = new sqlite.DatabaseSync(file)
  const readersInTurn = createSerialQueue()

  async function close() {
    reader.close()
    writer.close()
  }

  const database: Database = {
    schema: '',
    isShared: true,
    async transaction(kind, work) {
      if (kind === 'read') return readersInTurn(() => inTransaction(reader, work))
      return inTransaction(writer, work, () => whenFree(() => writer.exec('begin immediate'), WRITERS_PATIENCE_MS))
    },
    async close() {
      // Writes everything into the main file, so that it can be copied. Not possible while another process uses it.
      ignoringErrors(() => writer.exec('pragma wal_checkpoint(truncate)'))
      await close()
    },
    troubleOf: error => troubleWith(file, error as Failure),
  }

  try {
    await whenFree(() => writer.exec(WRITER_SETTINGS), OPENING_PATIENCE_MS)
    reader.exec(`pragma busy_timeout = ${OPENING_PATIENCE_MS}; pragma query_only = on`)
    await migrate(database, {
      place: file,
      // A migration may remove secrets, which must not stay behind in free pages.
      prepare: query => query('pragma secure_delete = on'),
    })
    return database
  } catch (error) {
    await close()
    throw error
  }
}

/** Creates the file and its folder for this user only, since it contains hashes of passwords and keys. */
function createFile(file: string) {
  const newFolder = makeFolder(path.dirname(file), 0o700)
  // An existing folder may be committed on purpose; its owner decides what it contains.
  if (newFolder !== undefined) writeFileSync(path.join(newFolder, '.gitignore'), '*\n')
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === 0) throw new StartError(inFile(file, DAMAGED))
  if (size === undefined) placeNewFile(file)
}

/** Puts a new database in its place as a whole, so that an empty file is never one that a process is just creating, or was killed over. */
function placeNewFile(file: string): void {
  const draft = `${file}.${randomUUID()}.tmp`
  try {
    closeSync(openSync(draft, 'wx', 0o600))
    const database = new sqlite.DatabaseSync(draft)
    database.exec('pragma user_version = 0')
    database.close()
    placeUnlessTaken(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** If another process is faster, its file stays. */
function placeUnlessTaken(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch {
    // Some file systems have no links.
    if (!existsSync(file)) copyFileSync(draft, file, constants.COPYFILE_EXCL)
  }
}

async function inTransaction<T>(
  connection: DatabaseSync,
  work: (query: Query) => Promise<T>,
  begin: () => void | Promise<void> = () => connection.exec('begin'),
): Promise<T> {
  await begin()
  try {
    const result = await work(async (sql, values = []) => connection.prepare(sql).all(...values) as never)
    connection.exec('commit')
    return result
  } catch (error) {
    // A full disk ends the transaction by itself. Then this fails, which would hide the cause.
    ignoringErrors(() => connection.exec('rollback'))
    throw error
  }
}

function ignoringErrors(attempt: () => void): void {
  try {
    attempt()
  } catch {}
}

/** An error of SQLite, or of the file system. */
interface Failure {
  readonly message: string
  readonly code?: string
  /** SQLite's number of the error, such as 261: the last eight bits are its kind. */
  readonly errcode?: number
  readonly errstr?: string
}

const DAMAGED = 'it is not a database of Standin, or a damaged one. Move it away, or choose another file.'

/** SQLite's errors about its file rather than about a statement: https://www.sqlite.org/rescode.html */
const kinds = { locked: [5, 6], unusable: [8, 10, 13, 14], damaged: [11, 26] } as const

const isOf = (kind: keyof typeof kinds, { errcode = 0 }: Failure) =>
  (kinds[kind] as readonly number[]).includes(errcode & 0xff)

function troubleWith(file: string, failure: Failure): Trouble | undefined {
  if (!isOf('locked', failure) && !isOf('unusable', failure) && !isOf('damaged', failure)) return undefined
  return { sentence: `The state cannot be kept: ${reason(failure)}`, line: cannotKeep(file, failure) }
}

const inFile = (file: string, why: string) => `The state cannot be kept in ${file}: ${why}`

const cannotKeep = (file: string, failure: Failure) => inFile(file, reason(failure))

function reason(failure: Failure): string {
  if (isOf('locked', failure)) return 'another program has locked it. Close that program, or choose another file.'
  if (isOf('damaged', failure) || / already exists$/.test(failure.message)) return DAMAGED
  // The path is already in the sentence.
  const cause = failure.errstr ?? failure.message.split(',', 1)[0]
  return `it cannot be opened or written (${cause}). Allow it, make room on the disk, choose another file, or keep nothing with --state memory.`
}

/** Retries until the file is free. After `patienceMs` it rejects with SQLite's error. */
async function whenFree(attempt: () => void, patienceMs: number): Promise<void> {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isOf('locked', error as Failure) || performance.now() > deadlineMs) throw error
    }
    // SQLite's own waiting would block the process, including the work that will free the file. The pause is random, so
    // that waiting processes do not collide again and again.
    await pause(1 + Math.random() * 9)
  }
}

/**
 * Loads `node:sqlite`. Node 22 then warns that it is experimental, which does not help whoever runs Standin, so the
 * listeners, one of which prints warnings, do not hear of it. They hear of every other warning.
 */
export function loadSqlite() {
  const listeners = process.rawListeners('warning')
  const passOn = (warning: Error) => {
    if (!warning.message.startsWith('SQLite is an experimental feature'))
      for (const listener of listeners) listener.call(process, warning)
  }
  process.removeAllListeners('warning').on('warning', passOn)
  const loaded = process.getBuiltinModule('node:sqlite')
  // The warning is emitted in the next tick, before this.
  process.nextTick(() => {
    process.off('warning', passOn)
    for (const listener of listeners) process.on('warning', listener as (warning: Error) => void)
  })
  return loaded
}
