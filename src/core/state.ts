/** What is kept of users, sessions and keys, and how it is read and written. The names of columns are those of Supabase Auth. */
import * as v from 'valibot'
import { closed, word } from '../check/check.js'
import { problemOfHash } from './secrets.js'

/** A moment as ISO 8601 text in UTC: sorts as time does, and goes onto the wire as it is. */
export type Moment = string

/** A JSON object, as the app wrote it. */
export type Json = Readonly<Record<string, unknown>>

/** Half of a surrogate pair has no UTF-8. NUL is where SQLite ends a text, and PostgreSQL takes none. */
export const isKeepable = (text: string): boolean => !(text.includes('\0') || /\p{Surrogate}/u.test(text))

/** Real metadata is never deeper; the auth backend takes less. */
const DEEPEST = 1000

const words = (what: string) => v.pipe(v.string(what), v.check(isKeepable, `${what} of whole characters, without NUL`))
const text = words('a text')
const textOrNull = v.nullable(words('a text or null'))
const yesOrNo = v.boolean('true or false')

// Compared as text, so that one form is the only one.
const isMoment = (written: string) => {
  const ms = Date.parse(written)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === written
}
const momentSaid = (what: string) => v.pipe(v.string(what), v.check(isMoment, what))
const moment = momentSaid('a moment such as 2030-01-31T12:00:00.000Z')
const momentOrNull = v.nullable(momentSaid('a moment such as 2030-01-31T12:00:00.000Z, or null'))

const isShallow = (value: unknown, depth = 0): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth < DEEPEST && Object.values(value).every(inside => isShallow(inside, depth + 1)))

const json = v.custom<Json>(
  value => typeof value === 'object' && value !== null && !Array.isArray(value) && isShallow(value),
  `an object of at most ${DEEPEST} levels`,
)

const passwordSaid = `null, or a hash that Standin can check: its own, or bcrypt, argon2 or Firebase scrypt of an accepted cost`
const passwordHash = v.nullable(
  v.pipe(
    v.string(passwordSaid),
    v.check(hash => problemOfHash(hash) === undefined, passwordSaid),
  ),
)

/** A way in which a user is known (an e-mail address, a phone number). */
const identity = closed({
  identity_id: text,
  /** What the provider calls the user; for e-mail and phone that is the user's own id. */
  id: text,
  user_id: text,
  identity_data: json,
  provider: word(['email', 'phone']),
  last_sign_in_at: moment,
  created_at: moment,
  updated_at: moment,
  email: v.exactOptional(text),
})

/** How a user proved who they are, and when (seconds since 1970, as tokens have it). */
const proof = closed({ method: text, timestamp: v.number('a number of seconds') })

/** Every table with what a row of it is. Types, documents and the forms in which columns are kept follow from this; state/migrations.ts makes the columns. */
export const rowSchemas = {
  users: closed({
    id: text,
    aud: text,
    role: text,
    /** In small letters; unique. */
    email: textOrNull,
    /** Digits alone; unique. */
    phone: textOrNull,
    /** The hash of the password; null for those who have none. */
    encrypted_password: passwordHash,
    email_confirmed_at: momentOrNull,
    phone_confirmed_at: momentOrNull,
    invited_at: momentOrNull,
    confirmation_sent_at: momentOrNull,
    recovery_sent_at: momentOrNull,
    new_email: textOrNull,
    email_change_sent_at: momentOrNull,
    /** How many of the two addresses have confirmed a change. */
    email_change_confirm_status: v.picklist([0, 1], '0 or 1'),
    new_phone: textOrNull,
    phone_change_sent_at: momentOrNull,
    reauthentication_sent_at: momentOrNull,
    last_sign_in_at: momentOrNull,
    app_metadata: json,
    user_metadata: json,
    identities: v.array(identity, 'a list of identities'),
    is_anonymous: yesOrNo,
    banned_until: momentOrNull,
    deleted_at: momentOrNull,
    /** A digest of the configured user that this row was made from; null for users of the app's own making. */
    seed: textOrNull,
    created_at: moment,
    updated_at: moment,
  }),
  sessions: closed({
    id: text,
    user_id: text,
    amr: v.array(proof, 'a list of proofs'),
    created_at: moment,
    refreshed_at: momentOrNull,
  }),
  refresh_tokens: closed({
    /** SHA-256 of the token, hex. */
    token: text,
    session_id: text,
    user_id: text,
    /** SHA-256 of the token that this one replaced. */
    parent: textOrNull,
    /** What the token was derived from besides its parent; null for the first of a session, and for those of earlier versions. */
    salt: v.optional(textOrNull, null),
    revoked: yesOrNo,
    created_at: moment,
    updated_at: moment,
  }),
  one_time_tokens: closed({
    /** The user's id and the type, with a space between: a user has one token of each type. */
    id: text,
    user_id: text,
    /** What it is good for; the names are Supabase's. */
    token_type: word([
      'confirmation_token',
      'recovery_token',
      'email_change_token_new',
      'email_change_token_current',
      'phone_change_token',
      'reauthentication_token',
    ]),
    /** SHA-256 of what the link carries, hex. */
    token_hash: text,
    created_at: moment,
  }),
  /** Half of a sign-in with PKCE (RFC 7636), waiting for the other half. */
  flow_states: closed({
    id: text,
    user_id: textOrNull,
    /** SHA-256 of the code, hex. */
    auth_code: text,
    code_challenge: text,
    code_challenge_method: text,
    authentication_method: text,
    created_at: moment,
    auth_code_issued_at: momentOrNull,
  }),
  api_keys: closed({
    id: text,
    /** Whose it is; null for a configured key without an owner. */
    user_id: textOrNull,
    name: text,
    /** SHA-256 of the secret, hex; unique. The secret itself is kept nowhere. */
    digest: text,
    /** The first characters of the secret, to recognize keys by. */
    start: text,
    /** Whether the configuration made it. */
    seeded: yesOrNo,
    created_at: moment,
    last_used_at: momentOrNull,
    expires_at: momentOrNull,
    revoked_at: momentOrNull,
  }),
  /** Mails and text messages that a live backend would have sent. */
  messages: closed({
    id: text,
    user_id: textOrNull,
    channel: word(['email', 'sms']),
    recipient: text,
    /** What it is about: signup, recovery, magiclink, invite, email_change, reauthentication, sms, phone_change. */
    kind: text,
    subject: text,
    /** The code to type in; null where there is none. */
    code: textOrNull,
    /** The link to follow; null where there is none. */
    link: textOrNull,
    created_at: moment,
  }),
} as const

export type TableName = keyof typeof rowSchemas

type Values<N extends TableName> = v.InferOutput<(typeof rowSchemas)[N]>
type Row<N extends TableName> = {
  readonly [C in keyof Values<N>]: Values<N>[C] extends readonly (infer Item)[]
    ? readonly Readonly<Item>[]
    : Values<N>[C]
}

// Interfaces, so that messages of the compiler name them.
export interface UserRow extends Row<'users'> {}
export interface SessionRow extends Row<'sessions'> {}
export interface RefreshTokenRow extends Row<'refresh_tokens'> {}
export interface OneTimeTokenRow extends Row<'one_time_tokens'> {}
export interface FlowStateRow extends Row<'flow_states'> {}
export interface ApiKeyRow extends Row<'api_keys'> {}
export interface MessageRow extends Row<'messages'> {}

export interface Rows {
  readonly users: UserRow
  readonly sessions: SessionRow
  readonly refresh_tokens: RefreshTokenRow
  readonly one_time_tokens: OneTimeTokenRow
  readonly flow_states: FlowStateRow
  readonly api_keys: ApiKeyRow
  readonly messages: MessageRow
}

export type Identity = UserRow['identities'][number]
export type Proof = SessionRow['amr'][number]
export type OneTimeTokenType = OneTimeTokenRow['token_type']

/** Columns that can be asked for by their value. */
export type Where<Row> = { readonly [C in keyof Row as Row[C] extends string | boolean | null ? C : never]?: Row[C] }

export interface Page {
  readonly limit?: number
  readonly offset?: number
}

export interface Table<Row> {
  /** The row with this primary key: `id`, or `token` of a refresh token. */
  get(key: string): Promise<Row | undefined>
  /** The rows that have all of these values, the newest first; rows of one moment in the order of their keys. */
  find(where: Where<Row>, page?: Page): Promise<readonly Row[]>
  count(where: Where<Row>): Promise<number>
  /** Rejects with a TakenError when the key or a unique value is there already. */
  insert(row: Row): Promise<void>
  /** Changes some columns of one row; does nothing when the row is not there. Rejects as `insert` does. */
  update(key: string, changes: Partial<Row>): Promise<void>
  /** Removes the rows that have all of these values; gives back how many there were. Rows that belong to them stay. */
  remove(where: Where<Row>): Promise<number>
}

export type Tables = { readonly [N in TableName]: Table<Rows[N]> }

/** A value that may be there only once is there already. */
export class TakenError extends Error {
  override readonly name = 'TakenError'
}

export interface State {
  /** Looks without changing anything. */
  read<T>(work: (tables: Tables) => Promise<T>): Promise<T>
  /**
   * Changes something. Writers wait for one another, those of other processes on the same state included; what `work` does is
   * there as a whole or not at all (it rejected), and is kept for good when the promise resolves.
   */
  write<T>(work: (tables: Tables) => Promise<T>): Promise<T>
  /**
   * Calls `listener` when something that gave access may do so no longer: a session, a user or a key was removed, banned or
   * revoked, here (before the `write` that did it resolves) or by another process on the same state (within a second).
   */
  onRevoked(listener: () => void): void
  close(): Promise<void>
}

/** Whether a user may still act: not deleted, not banned at this moment (milliseconds since 1970). */
export const mayAct = (user: UserRow | undefined, nowMs: number): boolean =>
  user !== undefined && user.deleted_at === null && !isBanned(user, nowMs)

export const isBanned = ({ banned_until }: UserRow, nowMs: number) =>
  banned_until !== null && Date.parse(banned_until) > nowMs
