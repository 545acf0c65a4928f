/** What every part of the auth backend works with. */
import type { Origins } from '../core/origins.js'
import type { MessageRow, Moment, State } from '../core/state.js'
import type { Tokens } from './tokens.js'

/** How the backend behaves; named as Supabase Auth names its settings, and meant as there. */
export interface AuthSettings {
  /** Lifetime of user tokens, in seconds. */
  readonly jwtExp: number
  /** The `iss` of user tokens; empty for the backend's own address, `none` for no `iss` at all. */
  readonly jwtIssuer: string
  readonly jwtAdminRoles: readonly string[]
  readonly siteUrl: string
  /** Globs of addresses that links may lead back to. */
  readonly uriAllowList: readonly string[]
  /** The address of the backend in links; empty for its own. */
  readonly apiExternalUrl: string
  readonly disableSignup: boolean
  readonly externalEmailEnabled: boolean
  readonly externalPhoneEnabled: boolean
  readonly externalAnonymousUsersEnabled: boolean
  readonly mailerAutoconfirm: boolean
  readonly smsAutoconfirm: boolean
  /** How long codes and links hold, in seconds. */
  readonly mailerOtpExp: number
  readonly mailerOtpLength: number
  readonly mailerSecureEmailChangeEnabled: boolean
  /** The code of every mail and text message; empty for a new one each time. */
  readonly testOtp: string
  /** In bytes. */
  readonly passwordMinLength: number
  /** Sets of characters: a password must have one of each. Supabase's form, separated by colons. */
  readonly passwordRequiredCharacters: string
  readonly securityRefreshTokenRotationEnabled: boolean
  /** How long a refresh token that was replaced may be used again, in seconds. */
  readonly securityRefreshTokenReuseInterval: number
  readonly securityUpdatePasswordRequireReauthentication: boolean
}

export interface Backend {
  readonly state: () => Promise<State>
  readonly tokens: () => Promise<Tokens>
  readonly settings: AuthSettings
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The backend's own address: `http://127.0.0.1:4100/auth/v1`. */
  readonly url: () => string
  /** From where admins may ask. */
  readonly origins: Pick<Origins, 'requireOwnAdmin'>
  /** Called with each message that was put into the outbox. */
  readonly announce: (message: MessageRow) => void
}

/** The moment it is. */
export const momentOf = ({ now }: Pick<Backend, 'now'>): Moment => new Date(now()).toISOString()

/** The address that links lead to. */
export const externalUrl = ({ settings, url }: Backend) => settings.apiExternalUrl.replace(/\/+$/, '') || url()

/** The issuer of the tokens; `undefined` where they name none. */
export function issuerOf({ settings: { jwtIssuer }, url }: Backend): string | undefined {
  return jwtIssuer === 'none' ? undefined : jwtIssuer || url()
}
