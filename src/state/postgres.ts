/** The state in a PostgreSQL database: persistent, and shared by replicas on any machine. */
import pg from 'pg'
import { StartError } from '../check/problem.js'
import { createSerialQueue } from '../core/work.js'
import type { Database, Query } from './database.js'
import { migrate } from './migrations.js'
import { addressOf, cannotOpen, troubleWith } from './postgres-trouble.js'

/** All of our tables are in their own schema, so that they can share a database with the app's tables. */
const SCHEMA = 'standin'
/** An arbitrary number that is not locked elsewhere in this database. */
const WRITERS_LOCK = 7_820_436_159
/**
 * A writer that stops for longer than this, for example because its machine sleeps, is cut off. Otherwise all others
 * would wait for it.
 */
const WRITERS_PATIENCE_MS = 30_000

/** If the database does not answer within this time, callers get an error instead of waiting forever. */
const ANSWER_MS = 10_000

/** Connects, and creates the tables if they do not exist. Throws a StartError if that fails. */
export async function openPostgres(url: string): Promise<Database> {
  const address = addressOf(url)
  const pool = poolFor(url)

  const database: Database = {
    schema: `${SCHEMA}.`,
    isShared: true,
    transaction: (kind, work) => inTransaction(pool, beginnings[kind], work),
    close: () => pool.end(),
    troubleOf: error => troubleWith(error as Error, address),
  }

  try {
    const place = `${address.server}/${address.database}`
    await migrate(database, { place, text: 'text collate "C"', prepare: createSchema })
    return database
  } catch (error) {
    await database.close()
    throw error instanceof StartError ? error : cannotOpen(error as Error, address)
  }
}

function poolFor(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    application_name: 'standin',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  // A broken connection is reported here. Its query fails for the caller, and the pool opens another connection.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

const beginnings = {
  // A snapshot: changes committed in the meantime are not visible.
  read: 'begin isolation level repeatable read read only',
  // A stricter level would see the rows from before the wait, and not those of the writer that it waited for.
  write:
    `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${WRITERS_PATIENCE_MS}; ` +
    `select pg_advisory_xact_lock(${WRITERS_LOCK})`,
}

async function inTransaction<T>(pool: pg.Pool, beginning: string, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  // Work may ask for several things at once, but a connection answers one at a time.
  const inTurn = createSerialQueue()
  const query: Query = (sql, values = []) => inTurn(async () => (await client.query(numbered(sql), [...values])).rows)
  try {
    await client.query(beginning)
    const result = await work(query)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    // If the connection is lost, this fails as well and would hide the real error.
    await client.query('rollback').then(
      () => client.release(),
      failure => client.release(failure),
    )
    throw error
  }
}

/** PostgreSQL's placeholders have numbers. */
function numbered(sql: string): string {
  let n = 0
  return sql.replaceAll('?', () => `$${++n}`)
}

async function createSchema(query: Query): Promise<void> {
  // Asking for it first, since whoever may use an existing schema may not be allowed to create one.
  const existing = await query('select 1 from pg_namespace where nspname = ?', [SCHEMA])
  if (existing.length === 0) await query(`create schema ${SCHEMA}`)
}
