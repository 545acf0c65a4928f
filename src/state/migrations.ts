/** Creates and changes the tables of a database, version by version. */
import { StartError } from '../check/problem.js'
import { type Cell, type Database, insertion, type Query } from './tables.js'

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
  { name: '001-users-sessions-keys', up: (step: Step) => runAll(usersSessionsKeys, step) },
  { name: '002-digests-of-secrets', up: removePlainSecrets },
  { name: '003-resources', up: (step: Step) => runAll(resources, step) },
  { name: '004-other-providers', up: (step: Step) => runAll(otherProviders, step) },
  { name: '005-used-messages', up: addUsedAt },
]

// TEXT stands for the text type of the database. JSON is stored as text, which preserves the order of keys, and NUL.
// Booleans are 0 or 1.
const usersSessionsKeys = `
  create table users (
    id TEXT not null primary key, aud TEXT not null, role TEXT not null, email TEXT unique, phone TEXT unique,
    encrypted_password TEXT, email_confirmed_at TEXT, phone_confirmed_at TEXT, invited_at TEXT,
    confirmation_sent_at TEXT, recovery_sent_at TEXT, new_email TEXT, email_change_sent_at TEXT,
    email_change_confirm_status integer not null, new_phone TEXT, phone_change_sent_at TEXT,
    reauthentication_sent_at TEXT, last_sign_in_at TEXT, app_metadata TEXT not null, user_metadata TEXT not null,
    identities TEXT not null, is_anonymous integer not null, banned_until TEXT, deleted_at TEXT, seed TEXT,
    created_at TEXT not null, updated_at TEXT not null
  );
  create table sessions (
    id TEXT not null primary key, user_id TEXT not null, amr TEXT not null, created_at TEXT not null, refreshed_at TEXT
  );
  create table refresh_tokens (
    token TEXT not null primary key, session_id TEXT not null, user_id TEXT not null, parent TEXT,
    revoked integer not null, created_at TEXT not null, updated_at TEXT not null
  );
  create table one_time_tokens (
    id TEXT not null primary key, user_id TEXT not null, token_type TEXT not null, token_hash TEXT not null,
    created_at TEXT not null
  );
  create table flow_states (
    id TEXT not null primary key, user_id TEXT, auth_code TEXT not null, code_challenge TEXT not null,
    code_challenge_method TEXT not null, authentication_method TEXT not null, created_at TEXT not null,
    auth_code_issued_at TEXT
  );
  create table api_keys (
    id TEXT not null primary key, user_id TEXT, name TEXT not null, digest TEXT not null unique, start TEXT not null,
    seeded integer not null, created_at TEXT not null, last_used_at TEXT, expires_at TEXT, revoked_at TEXT
  );
  create table messages (
    id TEXT not null primary key, user_id TEXT, channel TEXT not null, recipient TEXT not null, kind TEXT not null,
    subject TEXT not null, code TEXT, link TEXT, created_at TEXT not null
  );
  create index users_created_at on users (created_at desc, id);
  create index users_new_email on users (new_email);
  create index users_new_phone on users (new_phone);
  create index sessions_user_id on sessions (user_id);
  create index refresh_tokens_session_id on refresh_tokens (session_id);
  create index refresh_tokens_user_id on refresh_tokens (user_id);
  create index refresh_tokens_parent on refresh_tokens (parent);
  create index one_time_tokens_user_id on one_time_tokens (user_id);
  create index one_time_tokens_token_hash on one_time_tokens (token_hash);
  create index flow_states_user_id on flow_states (user_id);
  create index flow_states_auth_code on flow_states (auth_code);
  create index api_keys_user_id on api_keys (user_id);
  create index messages_created_at on messages (created_at desc, id)`

const resources = `
  create table resources (
    id TEXT not null primary key, scope TEXT not null, path TEXT not null, seed TEXT not null,
    next_position integer not null, next_id integer not null, created_at TEXT not null, updated_at TEXT not null
  );
  create table resource_rows (
    id TEXT not null primary key, resource TEXT not null, parent TEXT not null, owner TEXT, "row" TEXT not null,
    "position" integer not null, seed TEXT, created_at TEXT not null, updated_at TEXT not null
  );
  create index resources_scope on resources (scope);
  create index resources_path on resources (path);
  create index resource_rows_resource on resource_rows (resource, parent, "position");
  create index resource_rows_owner on resource_rows (owner)`

const otherProviders = `
  create table identity_owners (
    id TEXT not null primary key, user_id TEXT not null, email TEXT not null, created_at TEXT not null
  );
  create index identity_owners_user_id on identity_owners (user_id);
  create index identity_owners_email on identity_owners (email);
  alter table flow_states add column provider TEXT;
  alter table flow_states add column redirect_to TEXT;
  alter table flow_states add column linking_user_id TEXT;
  alter table flow_states add column is_offline integer not null default 0`

async function runAll(statements: string, { query, schema, text }: Step): Promise<void> {
  const inSchema = statements.replaceAll(/(?<=(?:create|alter) table | on )/g, schema).replaceAll('TEXT', text)
  for (const statement of inSchema.split(';')) await query(statement)
}

/** The first version stored these secrets in clear, so they are removed: users of its states sign in again. */
async function removePlainSecrets({ query, schema, text }: Step): Promise<void> {
  await query(`alter table ${schema}refresh_tokens add column salt ${text}`)
  for (const table of ['refresh_tokens', 'one_time_tokens', 'flow_states']) await query(`delete from ${schema}${table}`)
}

async function addUsedAt({ query, schema, text }: Step): Promise<void> {
  await query(`alter table ${schema}messages add column used_at ${text}`)
}
