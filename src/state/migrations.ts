/** Creates and changes the tables of a database, version by version. */
import { StartError } from '../check/problem.js'
import { digestOf } from '../core/secrets.js'
import type { Cell, CellRow, Database, Query } from './database.js'
import { insertion } from './tables.js'

interface Target {
  /** The place of the database, for people. */
  readonly place: string
  /** The text type of this database, sorted by bytes, whatever the locale. */
  readonly text?: string
  /** Called before anything is changed, in the same transaction. */
  prepare?(query: Query): Promise<unknown>
}

/**
 * Migrates a database to this version of Standin. Other processes may do the same at the same time. Throws a StartError
 * if a newer version has used the database.
 */
export async function migrate(database: Database, { place, text = 'text', prepare }: Target): Promise<void> {
  const { schema } = database
  const table = `${schema}standin_migrations`
  const appliedBy = async (query: Query) => (await query(`select name from ${table}`)).map(({ name }) => name)
  const applied = await database.transaction('read', appliedBy).catch(noneIfMissing)
  if (applied.some(name => !migrations.some(known => known.name === name))) {
    throw new StartError(
      `The state in ${place} is from a newer version of Standin. Update Standin, or choose another place.`,
    )
  }
  // So it is at most starts.
  if (applied.length === migrations.length) return
  await database.transaction('write', async query => {
    await prepare?.(query)
    await query(
      `create table if not exists ${table} (name varchar(255) not null primary key, timestamp varchar(255) not null)`,
    )
    const applied = await appliedBy(query)
    for (const { name, up } of migrations.filter(({ name }) => !applied.includes(name))) {
      await up({ query, schema, text })
      const row = { name, timestamp: new Date().toISOString() }
      await query(insertion(table, row), Object.values(row))
    }
  })
}

/** A new database has no table of migrations yet. */
function noneIfMissing(error: { readonly code?: unknown; readonly message: string }): Cell[] {
  if (error.code === '42P01' || error.message.startsWith('no such table')) return []
  throw error
}

interface Step {
  readonly query: Query
  readonly schema: string
  readonly text: string
}

// A released migration is never changed, since existing databases have already run it. Add a new one instead.
const migrations = [
  { name: '001-users-sessions-keys', up: (step: Step) => makeTables(step, firstTables, firstIndexes) },
  { name: '002-digests-of-secrets', up: hashSecrets },
  { name: '003-resources', up: (step: Step) => makeTables(step, resourceTables, resourceIndexes) },
]

/** The kinds of columns. JSON is stored as text, which preserves the order of keys, and NUL. */
const kinds = {
  key: 'TEXT not null primary key',
  text: 'TEXT not null',
  'unique text': 'TEXT not null unique',
  'text or null': 'TEXT',
  'unique text or null': 'TEXT unique',
  json: 'TEXT not null',
  number: 'integer not null',
  // 0 or 1.
  boolean: 'integer not null',
} as const

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

async function makeTables({ query, schema, text }: Step, tables: NewTables, indexes: NewIndexes): Promise<void> {
  for (const [name, columns] of Object.entries(tables)) {
    const definitions = Object.entries(columns).map(
      ([column, kind]) => `"${column}" ${kinds[kind].replace('TEXT', text)}`,
    )
    await query(`create table ${schema}${name} (${definitions.join(', ')})`)
  }
  for (const [table, ...columns] of indexes) {
    const name = `${table}_${columns[0]?.split(' ')[0]}`
    await query(`create index ${name} on ${schema}${table} (${columns.join(', ')})`)
  }
}

const refreshToken = /^[a-z0-9]{12}$/

/** The formats of secrets in clear, as the first version stored them. */
const plainSecrets: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  refresh_tokens: { token: refreshToken, parent: refreshToken },
  one_time_tokens: { token_hash: /^(pkce_)?[\da-f]{56}$/ },
  flow_states: { auth_code: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/ },
}

async function hashSecrets({ query, schema, text }: Step): Promise<void> {
  await query(`alter table ${schema}refresh_tokens add column salt ${text}`)
  for (const [name, formats] of Object.entries(plainSecrets)) {
    const table = `${schema}${name}`
    const rows = await query(`delete from ${table} returning *`)
    for (const row of rows) {
      const hashed = withDigests(row, formats)
      await query(insertion(table, hashed), Object.values(hashed))
    }
  }
}

/** Replaces secrets in clear by digests. */
function withDigests(row: CellRow, formats: Readonly<Record<string, RegExp>>): CellRow {
  const columns = Object.entries(row).map(([column, value]) => {
    const isSecret = typeof value === 'string' && formats[column]?.test(value)
    return [column, isSecret ? digestOf(value) : value]
  })
  return Object.fromEntries(columns)
}
