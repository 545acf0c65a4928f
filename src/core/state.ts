/** What is kept of users, sessions and keys, and how it is read and written. The names of columns are those of Supabase Auth. */

/** A moment as ISO 8601 text in UTC: sorts as time does, and goes onto the wire as it is. */
export type Moment = string

/** A JSON object, as the app wrote it. */
export type Json = Readonly<Record<string, unknown>>

/** A way in which a user is known (an e-mail address, a phone number). */
export interface Identity {
  readonly identity_id: string
  /** What the provider calls the user; for e-mail and phone that is the user's own id. */
  readonly id: string
  readonly user_id: string
  readonly identity_data: Json
  readonly provider: 'email' | 'phone'
  readonly last_sign_in_at: Moment
  readonly created_at: Moment
  readonly updated_at: Moment
  readonly email?: string
}

export interface UserRow {
  readonly id: string
  readonly aud: string
  readonly role: string
  /** In small letters; unique. */
  readonly email: string | null
  /** Digits alone; unique. */
  readonly phone: string | null
  /** The hash of the password; null for those who have none. */
  readonly encrypted_password: string | null
  readonly email_confirmed_at: Moment | null
  readonly phone_confirmed_at: Moment | null
  readonly invited_at: Moment | null
  readonly confirmation_sent_at: Moment | null
  readonly recovery_sent_at: Moment | null
  readonly new_email: string | null
  readonly email_change_sent_at: Moment | null
  /** How many of the two addresses have confirmed a change: 0 or 1. */
  readonly email_change_confirm_status: number
  readonly new_phone: string | null
  readonly phone_change_sent_at: Moment | null
  readonly reauthentication_sent_at: Moment | null
  readonly last_sign_in_at: Moment | null
  readonly app_metadata: Json
  readonly user_metadata: Json
  readonly identities: readonly Identity[]
  readonly is_anonymous: boolean
  readonly banned_until: Moment | null
  readonly deleted_at: Moment | null
  /** A digest of the configured user that this row was made from; null for users of the app's own making. */
  readonly seed: string | null
  readonly created_at: Moment
  readonly updated_at: Moment
}

/** How a user proved who they are, and when (seconds since 1970, as tokens have it). */
export interface Proof {
  readonly method: string
  readonly timestamp: number
}

export interface SessionRow {
  readonly id: string
  readonly user_id: string
  readonly amr: readonly Proof[]
  readonly created_at: Moment
  readonly refreshed_at: Moment | null
}

export interface RefreshTokenRow {
  /** SHA-256 of the token, hex. */
  readonly token: string
  readonly session_id: string
  readonly user_id: string
  /** SHA-256 of the token that this one replaced. */
  readonly parent: string | null
  /** What the token was derived from besides its parent; null for the first of a session, and for those of earlier versions. */
  readonly salt: string | null
  readonly revoked: boolean
  readonly created_at: Moment
  readonly updated_at: Moment
}

/** What a one-time token is good for; the names are Supabase's. */
export type OneTimeTokenType =
  | 'confirmation_token'
  | 'recovery_token'
  | 'email_change_token_new'
  | 'email_change_token_current'
  | 'phone_change_token'
  | 'reauthentication_token'

export interface OneTimeTokenRow {
  /** The user's id and the type, with a space between: a user has one token of each type. */
  readonly id: string
  readonly user_id: string
  readonly token_type: OneTimeTokenType
  /** SHA-256 of what the link carries, hex. */
  readonly token_hash: string
  readonly created_at: Moment
}

/** Half of a sign-in with PKCE (RFC 7636), waiting for the other half. */
export interface FlowStateRow {
  readonly id: string
  readonly user_id: string | null
  /** SHA-256 of the code, hex. */
  readonly auth_code: string
  readonly code_challenge: string
  readonly code_challenge_method: string
  readonly authentication_method: string
  readonly created_at: Moment
  readonly auth_code_issued_at: Moment | null
}

export interface ApiKeyRow {
  readonly id: string
  /** Whose it is; null for a configured key without an owner. */
  readonly user_id: string | null
  readonly name: string
  /** SHA-256 of the secret, hex; unique. The secret itself is kept nowhere. */
  readonly digest: string
  /** The first characters of the secret, to recognize keys by. */
  readonly start: string
  /** Whether the configuration made it. */
  readonly seeded: boolean
  readonly created_at: Moment
  readonly last_used_at: Moment | null
  readonly expires_at: Moment | null
  readonly revoked_at: Moment | null
}

/** A mail or a text message that a live backend would have sent. */
export interface MessageRow {
  readonly id: string
  readonly user_id: string | null
  readonly channel: 'email' | 'sms'
  readonly recipient: string
  /** What it is about: signup, recovery, magiclink, invite, email_change, reauthentication, sms, phone_change. */
  readonly kind: string
  readonly subject: string
  /** The code to type in; null where there is none. */
  readonly code: string | null
  /** The link to follow; null where there is none. */
  readonly link: string | null
  readonly created_at: Moment
}

/** Half of a surrogate pair has no UTF-8. NUL is where SQLite ends a text, and PostgreSQL takes none. */
export const isKeepable = (text: string): boolean => !(text.includes('\0') || /\p{Surrogate}/u.test(text))

/** Every table with what a row of it is. */
export interface Rows {
  readonly users: UserRow
  readonly sessions: SessionRow
  readonly refresh_tokens: RefreshTokenRow
  readonly one_time_tokens: OneTimeTokenRow
  readonly flow_states: FlowStateRow
  readonly api_keys: ApiKeyRow
  readonly messages: MessageRow
}

export type TableName = keyof Rows

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
