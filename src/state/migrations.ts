/** The tables of a database, in the order in which versions of Standin made and changed them. */
import type { ColumnDataType, ColumnDefinitionBuilder, Kysely, RawBuilder } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { StartError } from '../check/problem.js'
import { tablesWithSecrets, withDigests } from './shapes.js'
import type { Database } from './sql.js'

const TABLE = 'standin_migrations'

/** What text is in this database: ordered by its bytes, whatever its language. */
export type TextColumn = ColumnDataType | RawBuilder<unknown>

interface Target {
  readonly text: TextColumn
  readonly schema?: string
}

/** Whether nothing needs to be made or changed: so it is for most starts. Throws a StartError when a newer version was there. */
export async function isCurrent(db: Kysely<Database>, place: string): Promise<boolean> {
  const known = Object.keys(migrations('text'))
  const applied = await appliedTo(db)
  if (applied.every(name => known.includes(name))) return applied.length === known.length
  throw new StartError(
    `The state in ${place} is that of a newer version of Standin. Update Standin, or choose another place.`,
  )
}

/** Makes a database what this version of Standin expects; others may do the same at the same moment. */
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

type Define = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder
type Column = readonly [type: TextColumn, define: Define]

// A migration that was released is never changed, only followed by another one: databases out there have been through it.
function migrations(text: TextColumn): Record<string, Migration> {
  const key: Column = [text, column => column.notNull().primaryKey()]
  const words: Column = [text, column => column.notNull()]
  const uniqueWords: Column = [text, column => column.notNull().unique()]
  const wordsOrNull: Column = [text, column => column]
  const uniqueOrNull: Column = [text, column => column.unique()]
  const number: Column = ['integer', column => column.notNull()]
  // 0 or 1.
  const yesOrNo = number
  // As text, which keeps the order of keys, and NUL, as they were written.
  const json = words

  return {
    '001-users-sessions-keys': {
      async up(db) {
        const table = async (name: string, columns: Record<string, Column>) => {
          let table = db.schema.createTable(name)
          for (const [column, [type, define]] of Object.entries(columns)) table = table.addColumn(column, type, define)
          await table.execute()
        }
        const index = (table: string, ...columns: string[]) =>
          db.schema
            .createIndex(`${table}_${columns[0]?.split(' ')[0]}`)
            .on(table)
            .columns(columns)
            .execute()

        await table('users', {
          id: key,
          aud: words,
          role: words,
          email: uniqueOrNull,
          phone: uniqueOrNull,
          encrypted_password: wordsOrNull,
          email_confirmed_at: wordsOrNull,
          phone_confirmed_at: wordsOrNull,
          invited_at: wordsOrNull,
          confirmation_sent_at: wordsOrNull,
          recovery_sent_at: wordsOrNull,
          new_email: wordsOrNull,
          email_change_sent_at: wordsOrNull,
          email_change_confirm_status: number,
          new_phone: wordsOrNull,
          phone_change_sent_at: wordsOrNull,
          reauthentication_sent_at: wordsOrNull,
          last_sign_in_at: wordsOrNull,
          app_metadata: json,
          user_metadata: json,
          identities: json,
          is_anonymous: yesOrNo,
          banned_until: wordsOrNull,
          deleted_at: wordsOrNull,
          seed: wordsOrNull,
          created_at: words,
          updated_at: words,
        })
        await index('users', 'created_at desc', 'id')
        await index('users', 'new_email')
        await index('users', 'new_phone')

        await table('sessions', { id: key, user_id: words, amr: json, created_at: words, refreshed_at: wordsOrNull })
        await index('sessions', 'user_id')

        await table('refresh_tokens', {
          token: key,
          session_id: words,
          user_id: words,
          parent: wordsOrNull,
          revoked: yesOrNo,
          created_at: words,
          updated_at: words,
        })
        await index('refresh_tokens', 'session_id')
        await index('refresh_tokens', 'user_id')
        await index('refresh_tokens', 'parent')

        await table('one_time_tokens', {
          id: key,
          user_id: words,
          token_type: words,
          token_hash: words,
          created_at: words,
        })
        await index('one_time_tokens', 'user_id')
        await index('one_time_tokens', 'token_hash')

        await table('flow_states', {
          id: key,
          user_id: wordsOrNull,
          auth_code: words,
          code_challenge: words,
          code_challenge_method: words,
          authentication_method: words,
          created_at: words,
          auth_code_issued_at: wordsOrNull,
        })
        await index('flow_states', 'user_id')
        await index('flow_states', 'auth_code')

        await table('api_keys', {
          id: key,
          user_id: wordsOrNull,
          name: words,
          digest: uniqueWords,
          start: words,
          seeded: yesOrNo,
          created_at: words,
          last_used_at: wordsOrNull,
          expires_at: wordsOrNull,
          revoked_at: wordsOrNull,
        })
        await index('api_keys', 'user_id')

        await table('messages', {
          id: key,
          user_id: wordsOrNull,
          channel: words,
          recipient: words,
          kind: words,
          subject: words,
          code: wordsOrNull,
          link: wordsOrNull,
          created_at: words,
        })
        await index('messages', 'created_at desc', 'id')
      },
    },
    '002-digests-of-secrets': {
      async up(db) {
        await db.schema.alterTable('refresh_tokens').addColumn('salt', text).execute()
        for (const table of tablesWithSecrets) {
          const rows = await db.selectFrom(table).selectAll().execute()
          await db.deleteFrom(table).execute()
          for (let i = 0; i < rows.length; i += ROWS_AT_ONCE) {
            const some = rows.slice(i, i + ROWS_AT_ONCE).map(row => withDigests(table, row))
            await db.insertInto(table).values(some).execute()
          }
        }
      },
    },
  }
}

/** SQLite takes no more than 32,766 values in one statement. */
const ROWS_AT_ONCE = 1000
