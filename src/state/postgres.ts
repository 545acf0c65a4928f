/** The state in a PostgreSQL database (persistent, and shared by replicas on any machine), and why it could not be used. */
import pg from 'pg'
import { StartError } from '../check/problem.js'
import { createSerialQueue } from '../core/work.js'
import { migrate } from './migrations.js'
import type { Database, Query, Trouble } from './tables.js'

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

interface Failure {
  readonly code?: string
  readonly message: string
}

const cannotOpen = (error: Failure, address: Address) => new StartError(postgresProblem(error, address))

/**
 * Errors of the connection, the server or the database rather than of a statement: system errors, and SQLSTATE classes.
 */
const serverErrorCodes = /^(E[A-Z]+|08...|25006|28...|3D...|53...|57...|58...|XX...)$/
const connectionErrors = /terminated|timeout|connection|not queryable/i

/** What an error says about the database as a whole; `undefined` for errors of a single statement, and other errors. */
function troubleWith(error: Failure, address: Address): Trouble | undefined {
  const { code, message } = error
  if (!(code === undefined ? connectionErrors.test(message) : serverErrorCodes.test(code))) return undefined
  const { server, database } = address
  return {
    sentence: `The database of the state ("${database}" in PostgreSQL at ${server}) cannot be used at the moment. Try again later.`,
    line: postgresProblem(error, address),
  }
}

function postgresProblem({ code = '', message }: Failure, { server, user, database }: Address): string {
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return `No PostgreSQL answers at ${server}. Start it, or correct the host and port in the URL of the state.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host of ${server} is not known. Correct it in the URL of the state.`
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `PostgreSQL at ${server} cannot be reached (${code}). Check the host, the port and any firewall.`
    case '28P01':
      return `PostgreSQL at ${server} refuses the password of the user "${user}". Correct it in the URL of the state.`
    case '3D000':
      return `PostgreSQL at ${server} has no database "${database}". Create it, or correct the URL of the state.`
    case '42501':
      if (/ for (schema|table) /.test(message))
        return `The user "${user}" may not use the schema "standin" in the database "${database}" (${message}). Grant USAGE and CREATE on the schema, and ALL on its tables.`
      return `The user "${user}" may not create a schema in the database "${database}" (${message}). Grant CREATE on it.`
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return `The certificate of PostgreSQL at ${server} is not trusted (${code}). Add sslrootcert=FILE or sslmode=no-verify to the URL of the state.`
  }
  if (message.includes('password must be a string')) {
    return `PostgreSQL at ${server} asks for a password. Add it to the URL of the state: postgres://user:password@host/database.`
  }
  if (message.includes('timeout')) {
    return `PostgreSQL at ${server} did not answer in time. Check the host, the port and any firewall.`
  }
  return `PostgreSQL at ${server} cannot keep the state: ${message}.`
}

/** The address of a database and its user, without the password. */
interface Address {
  /** Host and port, or the folder of a socket. */
  readonly server: string
  readonly user: string
  readonly database: string
}

/** Throws a StartError if the URL cannot be parsed. */
export function addressOf(url: string): Address {
  // A password with one of these characters ends the host too early: parts of it would be taken for the port or the
  // database, and shown.
  const afterHost = url.replace(/^\w+:\/\/[^/?#]*/, '')
  if (/[@#]/.test(afterHost)) throw unreadableUrl()
  const { host, port, user = '', database = '' } = parseUrl(url)
  return { server: host.startsWith('/') ? host : `${host}:${port}`, user, database }
}

function parseUrl(url: string): pg.Client {
  try {
    return new pg.Client({ connectionString: url })
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    // The URL may name certificate files.
    if (path !== undefined)
      throw new StartError(`The PostgreSQL URL of the state names ${path}, which cannot be read (${code}).`)
    throw unreadableUrl()
  }
}

const unreadableUrl = () =>
  new StartError(
    'The PostgreSQL URL of the state cannot be read. Write postgres://user:password@host:5432/database, and percent-encode what ' +
      'is neither a letter nor a digit in the password.',
  )
