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
  const applied = await appliedTo(db)
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

async function appliedTo(db: Kysely<Database>): Promise<readonly string[]> {
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
  '002-digests-of-secrets': { up: db => keepDigests(db, text) },
  '003-resources': { up: db => makeTables(db, text, resourceTables, resourceIndexes) },
})

/** A database whose columns may not be those of this version yet. */
type BeingMigrated = Parameters<Migration['up']>[0]

/** The kinds of columns. JSON is stored as text, which preserves the order of keys, and NUL. */
const kinds = {
  key: column => column.notNull().primaryKey(),
  words: column => column.notNull(),
  'unique words': column => column.notNull().unique(),
  'words or null': column => column,
  'unique or null': column => column.unique(),
  json: column => column.notNull(),
  number: column => column.notNull(),
  // 0 or 1.
  'yes or no': column => column.notNull(),
} as const satisfies Record<string, (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder>

type Columns = Readonly<Record<string, keyof typeof kinds>>

type NewTables = Readonly<Record<string, Columns>>

const firstTables: NewTables = {
  users: {
    id: 'key',
    aud: 'words',
    role: 'words',
    email: 'unique or null',
    phone: 'unique or null',
    encrypted_password: 'words or null',
    email_confirmed_at: 'words or null',
    phone_confirmed_at: 'words or null',
    invited_at: 'words or null',
    confirmation_sent_at: 'words or null',
    recovery_sent_at: 'words or null',
    new_email: 'words or null',
    email_change_sent_at: 'words or null',
    email_change_confirm_status: 'number',
    new_phone: 'words or null',
    phone_change_sent_at: 'words or null',
    reauthentication_sent_at: 'words or null',
    last_sign_in_at: 'words or null',
    app_metadata: 'json',
    user_metadata: 'json',
    identities: 'json',
    is_anonymous: 'yes or no',
    banned_until: 'words or null',
    deleted_at: 'words or null',
    seed: 'words or null',
    created_at: 'words',
    updated_at: 'words',
  },
  sessions: { id: 'key', user_id: 'words', amr: 'json', created_at: 'words', refreshed_at: 'words or null' },
  refresh_tokens: {
    token: 'key',
    session_id: 'words',
    user_id: 'words',
    parent: 'words or null',
    revoked: 'yes or no',
    created_at: 'words',
    updated_at: 'words',
  },
  one_time_tokens: { id: 'key', user_id: 'words', token_type: 'words', token_hash: 'words', created_at: 'words' },
  flow_states: {
    id: 'key',
    user_id: 'words or null',
    auth_code: 'words',
    code_challenge: 'words',
    code_challenge_method: 'words',
    authentication_method: 'words',
    created_at: 'words',
    auth_code_issued_at: 'words or null',
  },
  api_keys: {
    id: 'key',
    user_id: 'words or null',
    name: 'words',
    digest: 'unique words',
    start: 'words',
    seeded: 'yes or no',
    created_at: 'words',
    last_used_at: 'words or null',
    expires_at: 'words or null',
    revoked_at: 'words or null',
  },
  messages: {
    id: 'key',
    user_id: 'words or null',
    channel: 'words',
    recipient: 'words',
    kind: 'words',
    subject: 'words',
    code: 'words or null',
    link: 'words or null',
    created_at: 'words',
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
    scope: 'words',
    path: 'words',
    seed: 'words',
    next_position: 'number',
    next_id: 'number',
    created_at: 'words',
    updated_at: 'words',
  },
  resource_rows: {
    id: 'key',
    resource: 'words',
    parent: 'words',
    owner: 'words or null',
    row: 'json',
    position: 'number',
    seed: 'words or null',
    created_at: 'words',
    updated_at: 'words',
  },
}

const resourceIndexes: NewIndexes = [
  ['resources', 'scope'],
  ['resources', 'path'],
  ['resource_rows', 'resource', 'parent', 'position'],
  ['resource_rows', 'owner'],
]

async function makeTables(db: BeingMigrated, text: TextColumn, tables: NewTables, indexes: NewIndexes): Promise<void> {
  for (const [name, columns] of Object.entries(tables)) {
    let table = db.schema.createTable(name)
    for (const [column, kind] of Object.entries(columns)) {
      const isNumber = kind === 'number' || kind === 'yes or no'
      table = table.addColumn(column, isNumber ? 'integer' : text, kinds[kind])
    }
    await table.execute()
  }
  for (const [table, ...columns] of indexes) {
    const name = `${table}_${columns[0]?.split(' ')[0]}`
    await db.schema.createIndex(name).on(table).columns(columns).execute()
  }
}

async function keepDigests(db: BeingMigrated, text: TextColumn): Promise<void> {
  await db.schema.alterTable('refresh_tokens').addColumn('salt', text).execute()
  for (const table of tablesWithSecrets) {
    const rows = await db.selectFrom(table).selectAll().execute()
    await db.deleteFrom(table).execute()
    for (let i = 0; i < rows.length; i += ROWS_AT_ONCE) {
      const some = rows.slice(i, i + ROWS_AT_ONCE).map(row => withDigests(table, row))
      await db.insertInto(table).values(some).execute()
    }
  }
}

/** SQLite accepts at most 32,766 values in one statement. */
const ROWS_AT_ONCE = 1000
