/** Keeps `auth.users` as Standin's users are, so that triggers and foreign keys of the app work. */
import type { UserChange, UserRow } from '../state/rows.js'
import { type Engine, type RunSql, SqlError } from './engine.js'

/** A user in the columns of Supabase's table. */
const rowOf = (user: UserRow) => ({
  instance_id: '00000000-0000-0000-0000-000000000000',
  id: user.id,
  aud: user.aud,
  role: user.role,
  email: user.email,
  encrypted_password: user.encrypted_password,
  email_confirmed_at: user.email_confirmed_at,
  invited_at: user.invited_at,
  confirmation_sent_at: user.confirmation_sent_at,
  recovery_sent_at: user.recovery_sent_at,
  email_change: user.new_email,
  email_change_sent_at: user.email_change_sent_at,
  last_sign_in_at: user.last_sign_in_at,
  raw_app_meta_data: user.app_metadata,
  raw_user_meta_data: user.user_metadata,
  created_at: user.created_at,
  updated_at: user.updated_at,
  phone: user.phone,
  phone_confirmed_at: user.phone_confirmed_at,
  phone_change: user.new_phone,
  phone_change_sent_at: user.phone_change_sent_at,
  reauthentication_sent_at: user.reauthentication_sent_at,
  banned_until: user.banned_until,
  deleted_at: user.deleted_at,
  is_anonymous: user.is_anonymous,
})

const names = Object.keys(rowOf({} as UserRow))
const listed = (prefix: string) => names.map(name => `${prefix}.${name}`).join(', ')
const given = 'jsonb_populate_record(null::auth.users, $1::jsonb) as given'

const insertion = `insert into auth.users (${names.join(', ')}) select ${listed('given')} from ${given}
  where not exists (select from auth.users where id = given.id)`
const update = `update auth.users as known set ${names.map(name => `${name} = given.${name}`).join(', ')} from ${given}
  where known.id = given.id and (${listed('known')}) is distinct from (${listed('given')})`
const identities = `with given as (select * from jsonb_to_recordset($2::jsonb) as _(identity_id uuid, id text, provider text,
    identity_data jsonb, last_sign_in_at timestamptz, created_at timestamptz, updated_at timestamptz)),
  gone as (delete from auth.identities where user_id = $1::uuid and id not in (select identity_id from given))
  insert into auth.identities (id, user_id, provider_id, provider, identity_data, last_sign_in_at, created_at, updated_at)
  select identity_id, $1::uuid, id, provider, identity_data, last_sign_in_at, created_at, updated_at from given
  on conflict (id) do update set identity_data = excluded.identity_data, updated_at = excluded.updated_at`

/** `before` is called with what is about to happen, in the words of the auth server. */
async function follow(run: RunSql, { id, row }: UserChange, before: (words: string) => void): Promise<void> {
  if (!row) {
    before('deleting user')
    return void (await run({ sql: 'delete from auth.users where id = $1', values: [id] }))
  }
  before('saving new user')
  // Confirmed and signed in afterwards, as at the auth server, so that triggers see two changes.
  const added = { ...rowOf(row), email_confirmed_at: null, phone_confirmed_at: null, last_sign_in_at: null }
  await run({ sql: insertion, values: [JSON.stringify(added)] })
  before('updating user')
  await run(
    { sql: update, values: [JSON.stringify(rowOf(row))] },
    { sql: identities, values: [id, JSON.stringify(row.identities)] },
  )
}

/** Makes the auth server's error, from what it was doing and what the database said. */
export type RefuseUser = (doing: string, hint: string) => Error

/** Applies changes of users, with the rights and the search path of Supabase's auth server. Rejects with the error that `refuse` makes if the database refuses one. */
export async function followUsers(engine: Engine, changes: readonly UserChange[], refuse: RefuseUser): Promise<void> {
  let doing = ''
  try {
    await engine.transaction(async run => {
      await run({ sql: 'set local role supabase_auth_admin' }, { sql: 'set local search_path = auth' })
      for (const change of changes)
        await follow(run, change, words => {
          doing = words
        })
    })
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    const { message, detail, where } = error.fault
    const [context] = where?.split('\n') ?? []
    throw refuse(
      doing,
      [`The database says: ${message}.`, detail, context && `In ${context}.`].filter(Boolean).join(' '),
    )
  }
}
