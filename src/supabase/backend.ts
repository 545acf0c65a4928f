/** What every part of the auth backend works with. */
import type { Origins } from '../core/origins.js'
import type { MessageRow, Moment, State, UserRow } from '../state/rows.js'
import type { ProviderName } from './providers.js'
import type { Payload, Tokens } from './tokens.js'

/** The settings of the backend, with the names and meanings that Supabase Auth gives them. */
export interface AuthSettings {
  /** Lifetime of user tokens, in seconds. */
  readonly jwtExp: number
  readonly siteUrl: string
  /** Globs of the addresses that links may redirect to. */
  readonly uriAllowList: readonly string[]
  /** The backend's URL in links; empty for its own. */
  readonly apiExternalUrl: string
  readonly disableSignup: boolean
  /** The other ways to sign in, each with the address of the account to use without asking. */
  readonly external: {
    readonly [P in ProviderName | 'phone' | 'anonymous_users']?: boolean | { readonly account?: string | undefined }
  }
  /** Whether new email addresses and phone numbers need no confirmation. */
  readonly mailerAutoconfirm: boolean
  /** The code in every email and text message; empty for a new one each time. */
  readonly testOtp: string
  /** In bytes. */
  readonly passwordMinLength: number
}

export interface TokenToSign {
  readonly user: UserRow
  readonly claims: Payload
  /** How the user got it: `password`, `otp`, `token_refresh` and so on. */
  readonly method: string
  readonly ipAddress: string | undefined
}

/** Returns the claims to sign. Rejects with the error for the client. */
export type AccessTokenHook = (token: TokenToSign) => Promise<Payload>

export interface Backend {
  readonly state: State
  readonly tokens: Tokens
  /** Changes the claims of each user token before it is signed. */
  readonly accessTokenHook?: AccessTokenHook | undefined
  readonly settings: AuthSettings
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The backend's own URL: `http://127.0.0.1:4100/auth/v1`. */
  readonly url: () => string
  /** The origins from which admins may call. */
  readonly origins: Pick<Origins, 'requireOwnAdmin'>
  /** Called with each message that was added to the outbox. */
  readonly announce: (message: MessageRow) => void
  /** Whether a user belongs to another test than the requests of this scope. */
  readonly isOfOtherTest?: (scope: string, user: Pick<UserRow, 'id' | 'email'>) => boolean
}

export type TokenBackend = Omit<Backend, 'state'> & Partial<Pick<Backend, 'state'>>

/** The current time of the backend. */
export const momentOf = ({ now }: Pick<Backend, 'now'>): Moment => new Date(now()).toISOString()

/** The base URL of links, and the issuer of tokens. */
export const externalUrl = ({ settings, url }: TokenBackend) =>
  settings.apiExternalUrl.replace(/(?<!\/)\/+$/, '') || url()
