/** Creates and changes the tables of a database, version by version. */
import type { ColumnDataType, ColumnDefinitionBuilder, Kysely, RawBuilder } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { StartError } from '../check/problem.js'
import { tablesWithSecrets, withDigests } from './shapes.js'
import type { Database } from './sql.js'

const TABLE = 'standin_migrations'

/** The text type of this database, sorted by bytes, whatever the locale. */
type TextColumn = ColumnDataType | RawBuilder<unknown>

interface Target {
  readonly text: TextColumn
  readonly schema?: string
}

/**
 * Whether nothing has to be migrated, which is the case at most starts. Throws a StartError if a newer version has used
 * the database.
 */
export async function isCurrent(db: Kysely<Database>, place: string): Promise<boolean> {
  const known = Object.keys(migrations('text'))
  const applied = await appliedMigrations(db)
  if (applied.every(name => known.includes(name))) return applied.length === known.length
  throw new StartError(
    `The state in ${place} is from a newer version of Standin. Update Standin, or choose another place.`,
  )
}

/** Migrates a database to this version of Standin. Other processes may do the same at the same time. */
export async function migrate(db: Kysely<Database>, { text, schema }: Target): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations(text) },
    migrationTableName: TABLE,
    migrationLockTableName: `${TABLE}_lock`,
    ...(schema && { migrationTableSchema: schema }),
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

async function appliedMigrations(db: Kysely<Database>): Promise<readonly string[]> {
  try {
    const rows = await db.selectFrom(TABLE).select('name').execute()
    return rows.map(({ name }) => String(name))
  } catch (error) {
    if (isNoSuchTable(error as { code?: unknown; message: string })) return []
    throw error
  }
}

const isNoSuchTable = ({ code, message }: { readonly code?: unknown; readonly message: string }) =>
  code === '42P01' || message.includes('no such table')

// A released migration is never changed, since existing databases have already run it. Add a new one instead.
const migrations = (text: TextColumn): Record<string, Migration> => ({
  '001-users-sessions-keys': { up: db => makeTables(db, text, firstTables, firstIndexes) },
  '002-digests-of-secrets': { up: db => hashSecrets(db, text) },
  '003-resources': { up: db => makeTables(db, text, resourceTables, resourceIndexes) },
})

/** A database that may not have the columns of this version yet. */
type AnyDatabase = Parameters<Migration['up']>[0]

/** The kinds of columns. JSON is stored as text, which preserves the order of keys, and NUL. */
const kinds = {
  key: column => column.notNull().primaryKey(),
  text: column => column.notNull(),
  'unique text': column => column.notNull().unique(),
  'text or null': column => column,
  'unique text or null': column => column.unique(),
  json: column => column.notNull(),
  number: column => column.notNull(),
  // 0 or 1.
  boolean: column => column.notNull(),
} as const satisfies Record<string, (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder>

type Columns = Readonly<Record<string, keyof typeof kinds>>

type NewTables = Readonly<Record<string, Columns>>

const firstTables: NewTables = {
  users: {
    id: 'key',
    aud: 'text',
    role: 'text',
    email: 'unique text or null',
    phone: 'unique text or null',
    encrypted_password: 'text or null',
    email_confirmed_at: 'text or null',
    phone_confirmed_at: 'text or null',
    invited_at: 'text or null',
    confirmation_sent_at: 'text or null',
    recovery_sent_at: 'text or null',
    new_email: 'text or null',
    email_change_sent_at: 'text or null',
    email_change_confirm_status: 'number',
    new_phone: 'text or null',
    phone_change_sent_at: 'text or null',
    reauthentication_sent_at: 'text or null',
    last_sign_in_at: 'text or null',
    app_metadata: 'json',
    user_metadata: 'json',
    identities: 'json',
    is_anonymous: 'boolean',
    banned_until: 'text or null',
    deleted_at: 'text or null',
    seed: 'text or null',
    created_at: 'text',
    updated_at: 'text',
  },
  sessions: { id: 'key', user_id: 'text', amr: 'json', created_at: 'text', refreshed_at: 'text or null' },
  refresh_tokens: {
    token: 'key',
    session_id: 'text',
    user_id: 'text',
    parent: 'text or null',
    revoked: 'boolean',
    created_at: 'text',
    updated_at: 'text',
  },
  one_time_tokens: { id: 'key', user_id: 'text', token_type: 'text', token_hash: 'text', created_at: 'text' },
  flow_states: {
    id: 'key',
    user_id: 'text or null',
    auth_code: 'text',
    code_challenge: 'text',
    code_challenge_method: 'text',
    authentication_method: 'text',
    created_at: 'text',
    auth_code_issued_at: 'text or null',
  },
  api_keys: {
    id: 'key',
    user_id: 'text or null',
    name: 'text',
    digest: 'unique text',
    start: 'text',
    seeded: 'boolean',
    created_at: 'text',
    last_used_at: 'text or null',
    expires_at: 'text or null',
    revoked_at: 'text or null',
  },
  messages: {
    id: 'key',
    user_id: 'text or null',
    channel: 'text',
    recipient: 'text',
    kind: 'text',
    subject: 'text',
    code: 'text or null',
    link: 'text or null',
    created_at: 'text',
  },
}

type NewIndexes = readonly (readonly [table: string, ...columns: string[]])[]

const firstIndexes: NewIndexes = [
  ['users', 'created_at desc', 'id'],
  ['users', 'new_email'],
  ['users', 'new_phone'],
  ['sessions', 'user_id'],
  ['refresh_tokens', 'session_id'],
  ['refresh_tokens', 'user_id'],
  ['refresh_tokens', 'parent'],
  ['one_time_tokens', 'user_id'],
  ['one_time_tokens', 'token_hash'],
  ['flow_states', 'user_id'],
  ['flow_states', 'auth_code'],
  ['api_keys', 'user_id'],
  ['messages', 'created_at desc', 'id'],
]

const resourceTables: NewTables = {
  resources: {
    id: 'key',
    scope: 'text',
    path: 'text',
    seed: 'text',
    next_position: 'number',
    next_id: 'number',
    created_at: 'text',
    updated_at: 'text',
  },
  resource_rows: {
    id: 'key',
    resource: 'text',
    parent: 'text',
    owner: 'text or null',
    row: 'json',
    position: 'number',
    seed: 'text or null',
    created_at: 'text',
    updated_at: 'text',
  },
}

const resourceIndexes: NewIndexes = [
  ['resources', 'scope'],
  ['resources', 'path'],
  ['resource_rows', 'resource', 'parent', 'position'],
  ['resource_rows', 'owner'],
]

async function makeTables(db: AnyDatabase, text: TextColumn, tables: NewTables, indexes: NewIndexes): Promise<void> {
  for (const [name, columns] of Object.entries(tables)) {
    let table = db.schema.createTable(name)
    for (const [column, kind] of Object.entries(columns)) {
      const isNumber = kind === 'number' || kind === 'boolean'
      table = table.addColumn(column, isNumber ? 'integer' : text, kinds[kind])
    }
    await table.execute()
  }
  for (const [table, ...columns] of indexes) {
    const name = `${table}_${columns[0]?.split(' ')[0]}`
    await db.schema.createIndex(name).on(table).columns(columns).execute()
  }
}

async function hashSecrets(db: AnyDatabase, text: TextColumn): Promise<void> {
  await db.schema.alterTable('refresh_tokens').addColumn('salt', text).execute()
  for (const table of tablesWithSecrets) {
    const rows = await db.selectFrom(table).selectAll().execute()
    await db.deleteFrom(table).execute()
    for (let i = 0; i < rows.length; i += ROWS_AT_ONCE) {
      const slice = rows.slice(i, i + ROWS_AT_ONCE).map(row => withDigests(table, row))
      await db.insertInto(table).values(slice).execute()
    }
  }
}

/** SQLite accepts at most 32,766 values in one statement. */
const ROWS_AT_ONCE = 1000
