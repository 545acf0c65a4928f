/** Credentials for tests: API keys, created on request or one for each scope, and the sessions of users. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import { newSecret } from '../keys/api-key-form.js'
import { expiresInMs, name } from '../keys/key-for-test.js'
import type { Platform } from '../platform.js'
import type { SessionJson } from '../supabase/operations.js'
import { checking, text } from './checked.js'

export interface KeyOptions {
  /** The owner's address; signed up if unknown. Without it the key belongs to no user. */
  readonly user?: string | undefined
  readonly name?: string | undefined
  /** From now on, by the platform's clock. Negative for an expired key. Without it the key never expires. */
  readonly expiresInMs?: number | undefined
}

export type TestKeys = ReturnType<typeof createKeys>

export const keyOptions = checking(
  'createKey',
  closed({
    user: optional(text, 'The owner of the key.'),
    name: v.optional(name, 'made by a test'),
    expiresInMs: optional(expiresInMs, 'When it expires.'),
  }),
)

export function createKeys({ forTests }: Pick<Platform, 'forTests'>) {
  const ofScopes = new Map<string, string>()
  return {
    async create(wanted: KeyOptions = {}, scope?: string): Promise<string> {
      const options = keyOptions(wanted)
      return (await forTests.traffic.hold(() => forTests.createKey({ scope, ...options }))).key
    },
    /** The key of a scope, returned at once. Requests wait until the key is stored. */
    ofScope(name: string): string {
      const known = ofScopes.get(name)
      if (known !== undefined) return known
      const key = newSecret()
      ofScopes.set(name, key)
      // Fails only after the platform has stopped, when the key is of no use.
      forTests.traffic.hold(() => forTests.createKey({ name: `scope ${name}`, scope: name, key })).catch(() => {})
      return key
    },
  }
}

export interface SignInOptions {
  /** The development user's if not given. */
  readonly email?: string | undefined
  /** Checked for existing users, and set for new ones. Without it no password is needed. */
  readonly password?: string | undefined
}

export interface TestSession {
  readonly accessToken: string
  readonly refreshToken: string
  /** When the access token expires. */
  readonly expiresAt: Date
  readonly user: SessionJson['user']
  /** The whole session in Supabase Auth's format, as `setSession` takes it. */
  readonly session: SessionJson
}

export const signInOptions = checking(
  'signIn',
  closed({ email: optional(text, 'Whose address.'), password: optional(text, 'Their password.') }),
)

export function signedInWith(session: SessionJson): TestSession {
  return {
    accessToken: session.access_token,
    refreshToken: session.refresh_token,
    expiresAt: new Date(session.expires_at * 1000),
    user: session.user,
    session,
  }
}
