/** What the dashboard's API sends to its page, as JSON. */

/** What the page has to know before anybody signs in. */
export interface ConfigJson {
  /** The platform's base URL. */
  readonly url: string
  /** What `createClient` takes. */
  readonly auth_url: string
  readonly anon_key: string
  /** Who the auth backend is: Standin, or a live one behind it. */
  readonly auth_mode: 'local' | 'proxy'
  /** Where answers come from. */
  readonly mode: string
  readonly version: string
  readonly models: readonly string[]
  readonly endpoints: readonly EndpointJson[]
  /** The development user, to sign in with at once. */
  readonly sign_in?: { readonly email: string; readonly password: string }
}

export interface EndpointJson {
  readonly method: string
  readonly path: string
  /** Which credentials open it. */
  readonly access: 'anyone' | readonly string[]
}

/** An API key as it may be shown. */
export interface KeyJson {
  readonly id: string
  readonly name: string
  /** The first characters of the secret. */
  readonly start: string
  readonly state: 'active' | 'expired' | 'revoked'
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

/** A key just made, with the secret that is told this once. */
export interface NewKeyJson extends KeyJson {
  readonly key: string
}

/** What is shown of a user. */
export interface PersonJson {
  readonly id: string
  /** Empty where there is none, as `phone`. */
  readonly email: string
  readonly phone: string
  readonly created_at: string
  readonly confirmed_at?: string
  readonly last_sign_in_at?: string
  readonly banned_until?: string
  readonly deleted_at?: string
  readonly is_anonymous: boolean
}

/** A mail or text message that was not sent. */
export interface MessageJson {
  readonly id: string
  readonly channel: 'email' | 'sms'
  readonly recipient: string
  readonly kind: string
  readonly subject: string
  readonly code: string | null
  readonly link: string | null
  readonly created_at: string
}

/** Why a key was refused. */
export type RefusalReason = 'unknown' | 'mistyped' | 'revoked' | 'expired' | 'ownerless'

/** API keys that were refused, all that begin alike and for the same reason together. */
export interface RefusalJson {
  /** The first characters of what was sent. */
  readonly start: string
  readonly reason: RefusalReason
  readonly count: number
  readonly last_at: string
}

/** A listing. */
export interface ListJson<Item> {
  readonly data: readonly Item[]
}

/** One page of a listing. */
export interface PageJson<Item> extends ListJson<Item> {
  /** How many there are on all pages. */
  readonly total: number
}
