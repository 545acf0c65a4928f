/** Signs users in for tests. */
import { closed, optional } from '../check/check.js'
import type { Platform } from '../platform.js'
import type { SessionJson } from '../supabase/operations.js'
import { checking, text } from './checked.js'

export interface SignInOptions {
  /** The development user's without it. */
  readonly email?: string
  /** Checked where the user is there, and theirs from now on where they sign up; without it nobody is asked for one. */
  readonly password?: string
}

/** Somebody who has signed in. */
export interface TestSession {
  readonly accessToken: string
  readonly refreshToken: string
  /** When the access token expires. */
  readonly expiresAt: Date
  readonly user: SessionJson['user']
  /** All of it in the form of Supabase Auth, as `setSession` takes it. */
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
