/**
 * The state: users, sessions, keys and rows of resources, and how they are read and written. The column names are those
 * of Supabase Auth, where it has such a table.
 */

/** A time as ISO 8601 text in UTC: sorts chronologically, and is sent to clients unchanged. */
export type Moment = string

/** A JSON object, as the app wrote it. */
export type Json = Readonly<Record<string, unknown>>

/** Lone surrogates cannot be encoded as UTF-8. SQLite ends a text at NUL, and PostgreSQL refuses it. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** A way in which a user can sign in (an email address, a phone number, an account at another provider). */
export interface Identity {
  readonly identity_id: string
  /** The provider's id for the user; for email and phone, the user's own id. */
  readonly id: string
  readonly user_id: string
  readonly identity_data: Json
  /** email, phone, or another provider, such as github. */
  readonly provider: string
  readonly last_sign_in_at: Moment
  readonly created_at: Moment
  readonly updated_at: Moment
  readonly email?: string
}

export interface UserRow {
  readonly id: string
  readonly aud: string
  readonly role: string
  /** In lower case; unique. */
  readonly email: string | null
  /** Digits only; unique. */
  readonly phone: string | null
  /** The hash of the password; null for users without one. */
  readonly encrypted_password: string | null
  readonly email_confirmed_at: Moment | null
  readonly phone_confirmed_at: Moment | null
  readonly invited_at: Moment | null
  readonly confirmation_sent_at: Moment | null
  readonly recovery_sent_at: Moment | null
  readonly new_email: string | null
  readonly email_change_sent_at: Moment | null
  /** How many of the two addresses have confirmed a change. */
  readonly email_change_confirm_status: 0 | 1
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
  /** A digest of the configured user from which this row was made; null for users created by the app. */
  readonly seed: string | null
  readonly created_at: Moment
  readonly updated_at: Moment
}

export interface SessionRow {
  readonly id: string
  readonly user_id: string
  /** Supabase's `amr`: how and when the user authenticated, in seconds since 1970. */
  readonly amr: readonly { readonly method: string; readonly timestamp: number }[]
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
  /**
   * The salt from which the token was derived, along with its parent; null for the first token of a session, and for
   * those of earlier versions.
   */
  readonly salt: string | null
  readonly revoked: boolean
  readonly created_at: Moment
  readonly updated_at: Moment
}

/** The purpose of a token, with Supabase's names. */
export type OneTimeTokenType =
  | 'confirmation_token'
  | 'recovery_token'
  | 'email_change_token_new'
  | 'email_change_token_current'
  | 'phone_change_token'
  | 'reauthentication_token'

export interface OneTimeTokenRow {
  /** The user's id and the type, separated by a space: a user has one token of each type. */
  readonly id: string
  readonly user_id: string
  readonly token_type: OneTimeTokenType
  /** SHA-256 of the hash in the link, hex. */
  readonly token_hash: string
  readonly created_at: Moment
}

/** Which user has an account at another provider. Only for finding them: their identities are in their row. */
export interface IdentityOwnerRow {
  /** The provider and its id for the user, separated by a space. */
  readonly id: string
  readonly user_id: string
  readonly email: string
  readonly created_at: Moment
}

/** A sign-in that waits for the app to return with its verifier (PKCE, RFC 7636), or for the user to choose an account. */
export interface FlowStateRow {
  readonly id: string
  /** Null until the user has chosen an account. */
  readonly user_id: string | null
  /** SHA-256 of the code, hex. */
  readonly auth_code: string
  /** Empty without PKCE. */
  readonly code_challenge: string
  readonly code_challenge_method: string
  readonly authentication_method: string
  readonly created_at: Moment
  readonly auth_code_issued_at: Moment | null
  /** The other provider; null for a link in an email, as are the next two. */
  readonly provider: string | null
  /** Where the browser returns to. */
  readonly redirect_to: string | null
  /** The user to whom the account will be linked; null for a sign-in. */
  readonly linking_user_id: string | null
  /** Whether the app gets a refresh token of the provider. */
  readonly is_offline: boolean
}

export interface ApiKeyRow {
  readonly id: string
  /** The owner; null for a configured key without one. */
  readonly user_id: string | null
  readonly name: string
  /** SHA-256 of the secret, hex; unique. The secret itself is not stored. */
  readonly digest: string
  /** The first characters of the secret, to recognize keys. */
  readonly start: string
  /** Whether the configuration created it. */
  readonly seeded: boolean
  readonly created_at: Moment
  readonly last_used_at: Moment | null
  readonly expires_at: Moment | null
  readonly revoked_at: Moment | null
}

/** An email or text message that a live backend would have sent. */
export interface MessageRow {
  readonly id: string
  readonly user_id: string | null
  readonly channel: 'email' | 'sms'
  readonly recipient: string
  /** The kind of message: signup, recovery, magiclink, invite, email_change, reauthentication, sms, phone_change. */
  readonly kind: string
  readonly subject: string
  /** The code to enter; null if there is none. */
  readonly code: string | null
  /** The link to open; null if there is none. */
  readonly link: string | null
  readonly created_at: Moment
  /** When its code or link was used; null if it was not. */
  readonly used_at: Moment | null
}

export interface ResourceHead {
  /** A digest of the scope and the path. */
  readonly id: string
  readonly scope: string
  /** As configured, such as `/builder/projects/:projectId/files`. */
  readonly path: string
  /** A digest of the data file from which the rows were made. */
  readonly seed: string
  /** The position of the next row. */
  readonly next_position: number
  /** The id of the next row, if ids are whole numbers. */
  readonly next_id: number
  readonly created_at: Moment
  readonly updated_at: Moment
}

export interface ResourceRow {
  /** A digest of the resource's id and the row's own id. */
  readonly id: string
  /** The `id` of the resource. */
  readonly resource: string
  /** The parameters of the path, as a JSON array; empty if the path has none. */
  readonly parent: string
  /** The user to whom the row belongs; null for none. */
  readonly owner: string | null
  readonly row: Json
  /** Rows are listed in this order. */
  readonly position: number
  /** A digest of the row in the data file; null for rows that the app created. */
  readonly seed: string | null
  readonly created_at: Moment
  readonly updated_at: Moment
}

/** The rows of each table; state/migrations.ts creates the columns. */
export interface Rows {
  readonly users: UserRow
  readonly sessions: SessionRow
  readonly refresh_tokens: RefreshTokenRow
  readonly one_time_tokens: OneTimeTokenRow
  readonly flow_states: FlowStateRow
  readonly identity_owners: IdentityOwnerRow
  readonly api_keys: ApiKeyRow
  readonly messages: MessageRow
  readonly resources: ResourceHead
  readonly resource_rows: ResourceRow
}

export type TableName = keyof Rows

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

export class TakenError extends Error {
  override readonly name = 'TakenError'
}

export interface WriteOptions {
  /** Who follows changes of users is not told of these. */
  readonly isQuiet?: boolean
}

/** A user after a change; without a row, one who was removed. */
export interface UserChange {
  readonly id: string
  readonly row: UserRow | undefined
}

export interface State {
  read<T>(work: (tables: Tables) => Promise<T>): Promise<T>
  /**
   * Changes something. Writers wait for one another, including those of other processes with the same state. The
   * changes of `work` are applied completely, or not at all if it rejects, and are durable when the promise resolves.
   */
  write<T>(work: (tables: Tables) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Calls `follow` with the users that a `write` has changed, before it is applied. If that rejects, nothing is applied. */
  followUsers(follow: ((changes: readonly UserChange[]) => Promise<void>) | undefined): void
  /**
   * Calls `listener` when access may have ended: before a `write` resolves that removed, banned or revoked a session,
   * user or key, and four times a second if other processes may do so in the same state.
   */
  onRevoked(listener: () => void): void
  close(): Promise<void>
}

/** Whether a user may still act: neither deleted nor banned at this time (milliseconds since 1970). */
export const mayAct = (user: UserRow | undefined, nowMs: number): boolean =>
  user !== undefined && user.deleted_at === null && !isBanned(user, nowMs)

export const isBanned = ({ banned_until }: UserRow, nowMs: number) =>
  banned_until !== null && Date.parse(banned_until) > nowMs
