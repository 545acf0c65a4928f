/** The state in a PostgreSQL database: persistent, and shared by replicas on any machine. */
import { randomUUID } from 'node:crypto'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { StartError } from '../check/problem.js'
import { isCurrent, migrate } from './migrations.js'
import { type AnnouncementListener, listenForAnnouncements } from './notifications.js'
import { addressOf, cannotOpen, troubleWith } from './postgres-trouble.js'
import { createSqlStore, type Database } from './sql.js'
import type { Store } from './store.js'

/** All of our tables are in their own schema, so that they can share a database with the app's tables. */
const SCHEMA = 'standin'
const CHANNEL = 'standin_revoked'
/** An arbitrary number that is not locked elsewhere in this database. */
const WRITERS_LOCK = 7_820_436_159
/**
 * A writer that stops for longer than this, for example because its machine sleeps, is cut off. Otherwise all others
 * would wait for it.
 */
const WRITERS_PATIENCE_MS = 30_000

/** If the database does not answer within this time, callers get an error instead of waiting forever. */
const ANSWER_MS = 10_000

const connectionSettings: pg.ClientConfig = {
  application_name: 'standin',
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
}

/** Connects, and creates the tables if they do not exist. Throws a StartError if that fails. */
export async function openPostgres(url: string): Promise<Store> {
  const address = addressOf(url)
  const settings = { ...connectionSettings, connectionString: url }
  const pool = poolFor(settings)
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) }).withSchema(SCHEMA)
  const ownId = randomUUID()
  let onChange = () => {}
  let announcementListener: AnnouncementListener | undefined

  async function close() {
    announcementListener?.end()
    await pool.end()
  }

  try {
    if (!(await isCurrent(db, `${address.server}/${address.database}`)))
      await migrate(db, { text: sql`text collate "C"`, schema: SCHEMA })
    // Our own listeners have already been notified.
    const onAnnouncement = (announcement?: string) => announcement !== ownId && onChange()
    announcementListener = await listenForAnnouncements({ settings, channel: CHANNEL, onAnnouncement })
  } catch (error) {
    await close()
    throw error instanceof StartError ? error : cannotOpen(error as Error, address)
  }

  return createSqlStore({
    ...{ readDb: db, writeDb: db, lock, close },
    async announce(transaction) {
      await sql`select pg_notify(${CHANNEL}, ${ownId})`.execute(transaction)
    },
    follow(listener) {
      onChange = listener
    },
    troubleOf: error => troubleWith(error as Error, address),
  })
}

function poolFor(settings: pg.ClientConfig): pg.Pool {
  const pool = new pg.Pool({ ...settings, query_timeout: ANSWER_MS })
  // A broken connection is reported here. Its query fails for the caller, and the pool opens another connection.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

async function lock(transaction: Kysely<Database>): Promise<void> {
  const patience = sql`set_config('idle_in_transaction_session_timeout', ${String(WRITERS_PATIENCE_MS)}, true)`
  await sql`select ${patience}, pg_advisory_xact_lock(${WRITERS_LOCK})`.execute(transaction)
}
