/** Signs users in for tests. */
import { closed, optional } from '../check/check.js'
import type { Platform } from '../platform.js'
import type { SessionJson } from '../supabase/operations.js'
import { checking, text } from './checked.js'

export interface SignInOptions {
  /** The development user's if not given. */
  readonly email?: string
  /** Checked for existing users, and set for new ones. Without it no password is needed. */
  readonly password?: string
}

/** A signed-in user. */
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

export async function signedIn(
  { forTests }: Pick<Platform, 'forTests'>,
  user: SignInOptions = {},
): Promise<TestSession> {
  return signedInWith(await forTests.traffic.hold(() => forTests.signIn(signInOptions(user))))
}

export function signedInWith(session: SessionJson): TestSession {
  return {
    accessToken: session.access_token,
    refreshToken: session.refresh_token,
    expiresAt: new Date(session.expires_at * 1000),
    user: session.user,
    session,
  }
}
