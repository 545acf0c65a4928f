/**
 * Identifies the callers of the auth backend and checks their access: users by their token, admins by the service key.
 */
import { isBanned, type SessionRow, type UserRow } from '../core/state.js'
import type { Backend } from './backend.js'
import {
  badJwt,
  missingSub,
  noAuthorization,
  notAdmin,
  sessionNotUuid,
  sessionOfTokenNotFound,
  subNotUuid,
  userBanned,
  userOfTokenNotFound,
  validationFailed,
} from './errors.js'
import { TokenRefusal, triedToken } from './token-refusal.js'
import type { Claims } from './tokens.js'

/** The holder of a user token. */
export interface SignedIn {
  readonly user: UserRow
  /** The session of the token; tokens minted for tests have none. */
  readonly session: SessionRow | undefined
  readonly claims: Claims
}

export const isUuid = (text: string) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text)

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/**
 * Returns the user of the token. Rejects like Supabase: with a 401 without a token, and a 403 for one that is invalid
 * or expired.
 */
export async function authenticate(backend: Backend, authorization: string | undefined): Promise<SignedIn> {
  return holderOf(backend, await claimsOf(backend, authorization))
}

async function holderOf(backend: Backend, claims: Claims): Promise<SignedIn> {
  const { sub = '', session_id } = claims
  if (sub === '') throw missingSub()
  if (!isUuid(sub)) throw subNotUuid()
  const sessionId = session_id === '' || session_id === NIL_UUID ? undefined : session_id
  if (sessionId !== undefined && !isUuid(sessionId)) throw sessionNotUuid()
  const { user, session } = await backend.state.read(async ({ users, sessions }) => ({
    user: await users.get(sub.toLowerCase()),
    session: sessionId === undefined ? undefined : await sessions.get(sessionId.toLowerCase()),
  }))
  if (!user || user.deleted_at !== null) throw userOfTokenNotFound(triedToken('user', claims))
  if (isBanned(user, backend.now())) throw userBanned(403, undefined, triedToken('user', claims))
  if (sessionId !== undefined && session?.user_id !== user.id)
    throw sessionOfTokenNotFound(triedToken('session', claims))
  return { user, session, claims }
}

/** Supabase's default. */
const adminRoles: readonly (string | undefined)[] = ['service_role', 'supabase_admin']

/** Returns if the token is an admin's. Rejects as `authenticate` does, and with a 403 for any other token. */
export async function requireAdmin(backend: Backend, authorization: string | undefined): Promise<void> {
  const claims = await claimsOf(backend, authorization)
  // The service key belongs to no user. For a signed-in admin, the session must still exist.
  if (claims.session_id !== undefined) await holderOf(backend, claims)
  if (!adminRoles.includes(claims.role)) throw notAdmin(undefined, triedToken('role', claims))
}

/** Throws a 400 for a user token without an audience, or with another one than `requested` (the header X-JWT-AUD). */
export function requireAudience({ aud }: Claims, requested: string | undefined): void {
  const first = Array.isArray(aud) ? aud[0] : aud
  if (!first || (requested && requested !== first))
    throw validationFailed("Token audience doesn't match request audience")
}

async function claimsOf(backend: Backend, authorization: string | undefined): Promise<Claims> {
  const token = /^bearer (\S+$)/i.exec(authorization ?? '')?.[1]
  if (token === undefined) throw noAuthorization(authorization ? { kind: 'header', reason: 'malformed' } : undefined)
  try {
    return await backend.tokens.verify(token)
  } catch (error) {
    throw error instanceof TokenRefusal ? badJwt(messageFor(error), error.tried) : error
  }
}

/** The messages of the library with which Supabase's server verifies tokens. Some apps check for them. */
function messageFor({ fault, header: { alg, kid }, why }: TokenRefusal): string {
  switch (fault) {
    case 'malformed':
      return 'token is malformed: token contains an invalid number of segments'
    case 'unreadable':
      return 'token is malformed: could not JSON decode header: invalid character'
    case 'algorithm':
      return `token signature is invalid: signing method ${alg ?? ''} is invalid`
    case 'unknown-key':
      return `token is unverifiable: error while executing keyfunc: unrecognized JWT kid ${kid ?? '<nil>'} for algorithm ${alg ?? ''}`
    case 'signature':
      return 'token signature is invalid: signature is invalid'
    case 'expired':
      return 'token has invalid claims: token is expired'
    case 'not-yet':
      return 'token has invalid claims: token is not valid yet'
    case 'times':
      return 'token is malformed: could not JSON decode claim: invalid type for claim'
    case 'claims':
      return `token is malformed: could not JSON decode claim: json: ${why}`
  }
}
