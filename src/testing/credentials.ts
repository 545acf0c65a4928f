/** Credentials for tests: API keys and sessions of users. */
import * as v from 'valibot'
import { closed, optional, word } from '../check/forms.js'
import { testKeyExpiry, testKeyName } from '../keys/api-keys.js'
import type { SessionJson } from '../supabase/operations.js'
import { idTokenProviders, providerNames } from '../supabase/providers.js'
import { aText, inputCheck } from './input-check.js'

export interface KeyOptions {
  /** The owner's email address. An unknown user is signed up. Without it, the key belongs to no user. */
  readonly user?: string | undefined
  readonly name?: string | undefined
  /** When the key expires, counted from now by the platform's clock; negative for an expired key. By default it never expires. */
  readonly expiresInMs?: number | undefined
}

export const keyOptions = inputCheck(
  'createKey',
  closed({
    user: optional(aText, 'The owner of the key.'),
    name: v.optional(testKeyName, 'made by a test'),
    expiresInMs: optional(testKeyExpiry, 'When it expires.'),
  }),
)

export interface SignInOptions {
  /** By default the development user's. */
  readonly email?: string | undefined
  /** Checked for existing users, and set for new ones. Without it, the password is not checked. */
  readonly password?: string | undefined
}

export interface TestSession {
  readonly accessToken: string
  readonly refreshToken: string
  /** When the access token expires. */
  readonly expiresAt: Date
  readonly user: SessionJson['user']
  /** The session in Supabase Auth's format, for `setSession`. */
  readonly session: SessionJson
}

export const signInOptions = inputCheck(
  'signIn',
  closed({ email: optional(aText, 'The email address.'), password: optional(aText, 'The password.') }),
)

/** By default the account has the development user's address. */
export type AccountOptions = Pick<SignInOptions, 'email'>

export const accountOptions = inputCheck(
  'signInWith',
  closed({ provider: word(providerNames), email: optional(aText, 'The email address of the account.') }),
)

/** Whose ID token to create. */
export interface IdTokenOptions extends AccountOptions {
  /** What the app sends beside the token, which has its hash. */
  readonly nonce?: string | undefined
}

export const idTokenOptions = inputCheck(
  'idToken',
  closed({
    provider: word(idTokenProviders),
    email: optional(aText, 'The email address of the account.'),
    nonce: optional(aText, 'What the app sends beside the token.'),
  }),
)

export function testSessionOf(session: SessionJson): TestSession {
  return {
    accessToken: session.access_token,
    refreshToken: session.refresh_token,
    expiresAt: new Date(session.expires_at * 1000),
    user: session.user,
    session,
  }
}
