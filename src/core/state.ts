/**
 * The state: users, sessions, keys and rows of resources, and how they are read and written. The column names are those
 * of Supabase Auth, where it has such a table.
 */
import * as v from 'valibot'
import { closed, word } from '../check/check.js'
import { isMoment } from '../check/formats.js'
import { isObject, isTooDeep } from './json.js'
import { problemOfHash } from './secrets.js'

/** A time as ISO 8601 text in UTC: sorts chronologically, and is sent to clients unchanged. */
export type Moment = string

/** A JSON object, as the app wrote it. */
export type Json = Readonly<Record<string, unknown>>

/** Lone surrogates cannot be encoded as UTF-8. SQLite ends a text at NUL, and PostgreSQL refuses it. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** The deepest nesting of metadata and rows. The auth backend accepts less. */
const DEEPEST = 1000

const textOf = (what: string) =>
  v.pipe(v.string(what), v.check(isStorableText, `${what} of whole characters, without NUL`))
const text = textOf('a text')
const textOrNull = v.nullable(textOf('a text or null'))
const emailForm = 'an email address in lower case, or null'
/** Addresses are looked up in lower case, so another could never sign in. */
const emailOrNull = v.nullable(
  v.pipe(
    textOf(emailForm),
    v.check(email => email === email.toLowerCase(), emailForm),
  ),
)
const phoneForm = 'the digits of a phone number, or null'
const phoneOrNull = v.nullable(v.pipe(v.string(phoneForm), v.regex(/^\d*$/, phoneForm)))
const yesOrNo = v.boolean('true or false')

// Times are compared as text, so only the format of `toISOString` is allowed.
const isStoredMoment = (written: string) => isMoment(written) && new Date(written).toISOString() === written
const momentAs = (what: string) => v.pipe(v.string(what), v.check(isStoredMoment, what))
const moment = momentAs('a moment such as 2030-01-31T12:00:00.000Z')
const momentOrNull = v.nullable(momentAs('a moment such as 2030-01-31T12:00:00.000Z, or null'))

const json = v.custom<Json>(
  value => isObject(value) && !isTooDeep(value, DEEPEST),
  `an object of at most ${DEEPEST} levels`,
)

const passwordForm = `null, or a hash that Standin can check: its own, or bcrypt, argon2 or Firebase scrypt of an accepted cost`
const passwordHash = v.nullable(
  v.pipe(
    v.string(passwordForm),
    v.check(hash => problemOfHash(hash) === undefined, passwordForm),
  ),
)

const count = v.pipe(v.number('a whole number'), v.safeInteger('a whole number'), v.minValue(0, 'a whole number'))

/** A way in which a user can sign in (an email address, a phone number). */
const identity = closed({
  identity_id: text,
  /** The provider's id for the user; for email and phone, the user's own id. */
  id: text,
  user_id: text,
  identity_data: json,
  provider: word(['email', 'phone']),
  last_sign_in_at: moment,
  created_at: moment,
  updated_at: moment,
  email: v.exactOptional(text),
})

/** An entry of Supabase's `amr`: how and when a user authenticated, in seconds since 1970. */
const amrEntry = closed({ method: text, timestamp: v.number('a number of seconds') })

/**
 * All tables with the schemas of their rows. Types, documents and the storage forms of columns are derived from this;
 * state/migrations.ts creates the columns.
 */
export const rowSchemas = {
  users: closed({
    id: text,
    aud: text,
    role: text,
    /** In lower case; unique. */
    email: emailOrNull,
    /** Digits only; unique. */
    phone: phoneOrNull,
    /** The hash of the password; null for users without one. */
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
    /** A digest of the configured user from which this row was made; null for users created by the app. */
    seed: textOrNull,
    created_at: moment,
    updated_at: moment,
  }),
  sessions: closed({
    id: text,
    user_id: text,
    amr: v.array(amrEntry, 'a list of proofs'),
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
    /**
     * The salt from which the token was derived, along with its parent; null for the first token of a session, and for
     * those of earlier versions.
     */
    salt: v.optional(textOrNull, null),
    revoked: yesOrNo,
    created_at: moment,
    updated_at: moment,
  }),
  one_time_tokens: closed({
    /** The user's id and the type, separated by a space: a user has one token of each type. */
    id: text,
    user_id: text,
    /** The purpose of the token, with Supabase's names. */
    token_type: word([
      'confirmation_token',
      'recovery_token',
      'email_change_token_new',
      'email_change_token_current',
      'phone_change_token',
      'reauthentication_token',
    ]),
    /** SHA-256 of the hash in the link, hex. */
    token_hash: text,
    created_at: moment,
  }),
  /** A PKCE sign-in (RFC 7636) that waits for the app to return. */
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
    /** The owner; null for a configured key without one. */
    user_id: textOrNull,
    name: text,
    /** SHA-256 of the secret, hex; unique. The secret itself is not stored. */
    digest: text,
    /** The first characters of the secret, to recognize keys. */
    start: text,
    /** Whether the configuration created it. */
    seeded: yesOrNo,
    created_at: moment,
    last_used_at: momentOrNull,
    expires_at: momentOrNull,
    revoked_at: momentOrNull,
  }),
  /** Emails and text messages that a live backend would have sent. */
  messages: closed({
    id: text,
    user_id: textOrNull,
    channel: word(['email', 'sms']),
    recipient: text,
    /** The kind of message: signup, recovery, magiclink, invite, email_change, reauthentication, sms, phone_change. */
    kind: text,
    subject: text,
    /** The code to enter; null if there is none. */
    code: textOrNull,
    /** The link to open; null if there is none. */
    link: textOrNull,
    created_at: moment,
  }),
  /** A resource of the configuration, in one scope. */
  resources: closed({
    /** A digest of the scope and the path. */
    id: text,
    scope: text,
    /** As configured, such as `/builder/projects/:projectId/files`. */
    path: text,
    /** A digest of the data file from which the rows were made. */
    seed: text,
    /** The position of the next row. */
    next_position: count,
    /** The id of the next row, if ids are whole numbers. */
    next_id: count,
    created_at: moment,
    updated_at: moment,
  }),
  resource_rows: closed({
    /** A digest of the resource's id and the row's own id. */
    id: text,
    /** The `id` of the resource. */
    resource: text,
    /** The parameters of the path, as a JSON array; empty if the path has none. */
    parent: text,
    /** The user to whom the row belongs; null for none. */
    owner: textOrNull,
    row: json,
    /** Rows are listed in this order. */
    position: count,
    /** A digest of the row in the data file; null for rows that the app created. */
    seed: textOrNull,
    created_at: moment,
    updated_at: moment,
  }),
} as const

export type TableName = keyof typeof rowSchemas

type Values<N extends TableName> = v.InferOutput<(typeof rowSchemas)[N]>
type Row<N extends TableName> = {
  readonly [C in keyof Values<N>]: Values<N>[C] extends readonly (infer Item)[]
    ? readonly Readonly<Item>[]
    : Values<N>[C]
}

// Interfaces, so that compiler messages show their names.
export interface UserRow extends Row<'users'> {}
export interface SessionRow extends Row<'sessions'> {}
export interface RefreshTokenRow extends Row<'refresh_tokens'> {}
export interface OneTimeTokenRow extends Row<'one_time_tokens'> {}
export interface FlowStateRow extends Row<'flow_states'> {}
export interface ApiKeyRow extends Row<'api_keys'> {}
export interface MessageRow extends Row<'messages'> {}
export interface ResourceHead extends Row<'resources'> {}
export interface ResourceRow extends Row<'resource_rows'> {}

export interface Rows {
  readonly users: UserRow
  readonly sessions: SessionRow
  readonly refresh_tokens: RefreshTokenRow
  readonly one_time_tokens: OneTimeTokenRow
  readonly flow_states: FlowStateRow
  readonly api_keys: ApiKeyRow
  readonly messages: MessageRow
  readonly resources: ResourceHead
  readonly resource_rows: ResourceRow
}

export type Identity = UserRow['identities'][number]
export type AmrEntry = SessionRow['amr'][number]
export type OneTimeTokenType = OneTimeTokenRow['token_type']

/** Columns that can be queried by value. */
export type Where<Row> = { readonly [C in keyof Row as Row[C] extends string | boolean | null ? C : never]?: Row[C] }

export interface Page {
  readonly limit?: number
  readonly offset?: number
}

export interface Table<Row> {
  /** The row with this primary key, which is `id`, or `token` for refresh tokens. */
  get(key: string): Promise<Row | undefined>
  /**
   * The rows with all of these values, newest first, and by key if they have the same time. Rows of resources are in
   * the order of their positions.
   */
  find(where: Where<Row>, page?: Page): Promise<readonly Row[]>
  count(where: Where<Row>): Promise<number>
  /** Rejects with a TakenError if the key or a unique value already exists. */
  insert(row: Row): Promise<void>
  /** Changes some columns of one row; does nothing if the row does not exist. Rejects as `insert` does. */
  update(key: string, changes: Partial<Row>): Promise<void>
  /** Removes the rows with all of these values and returns their number. Rows that refer to them stay. */
  remove(where: Where<Row>): Promise<number>
}

export type Tables = { readonly [N in TableName]: Table<Rows[N]> }

/** A unique value already exists. */
export class TakenError extends Error {
  override readonly name = 'TakenError'
}

export interface State {
  /** Reads without changing anything. */
  read<T>(work: (tables: Tables) => Promise<T>): Promise<T>
  /**
   * Changes something. Writers wait for one another, including those of other processes with the same state. The
   * changes of `work` are applied completely, or not at all if it rejects, and are durable when the promise resolves.
   */
  write<T>(work: (tables: Tables) => Promise<T>): Promise<T>
  /**
   * Calls `listener` when access may have ended: a session, user or key was removed, banned or revoked, here (before
   * the `write` resolves) or by another process with the same state (within a second).
   */
  onRevoked(listener: () => void): void
  close(): Promise<void>
}

/** Whether a user may still act: neither deleted nor banned at this time (milliseconds since 1970). */
export const mayAct = (user: UserRow | undefined, nowMs: number): boolean =>
  user !== undefined && user.deleted_at === null && !isBanned(user, nowMs)

export const isBanned = ({ banned_until }: UserRow, nowMs: number) =>
  banned_until !== null && Date.parse(banned_until) > nowMs
