/** Sessions: begun by a proof, carried on by refresh tokens that are used once, ended at once. */
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { digestOf } from '../core/secrets.js'
import { isBanned, type SessionRow, type Tables, type UserRow } from '../core/state.js'
import { type Backend, issuerOf, momentOf } from './backend.js'
import { refreshTokenNotFound, refreshTokenUsed, userBanned } from './errors.js'
import { userJson } from './users.js'

/** What a user gets on signing in. */
export interface Grant {
  readonly user: UserRow
  readonly session: SessionRow
  readonly refreshToken: string
}

/** Begins a session for a user who has just proved who they are; `method` is what the `amr` claim calls the proof. */
export async function startSession(backend: Backend, tables: Tables, user: UserRow, method: string): Promise<Grant> {
  const at = momentOf(backend)
  const session: SessionRow = {
    id: randomUUID(),
    user_id: user.id,
    amr: [{ method, timestamp: Math.floor(backend.now() / 1000) }],
    created_at: at,
    refreshed_at: null,
  }
  const changes = { last_sign_in_at: at, updated_at: at }
  await tables.users.update(user.id, changes)
  await endLeastUsed(tables, user.id)
  await tables.sessions.insert(session)
  const refreshToken = await addRefreshToken(backend, tables, session, null)
  return { user: { ...user, ...changes }, session, refreshToken }
}

/** Sign-ins in a loop must not fill the memory; a person has a handful of devices. */
const MOST_SESSIONS = 1000

/** Makes room for one more session of a user: of too many, the one that was not used for longest ends. */
async function endLeastUsed(tables: Tables, userId: string): Promise<void> {
  if ((await tables.sessions.count({ user_id: userId })) < MOST_SESSIONS) return
  const lastUseOf = ({ refreshed_at, created_at }: SessionRow) => refreshed_at ?? created_at
  const sessions = (await tables.sessions.find({ user_id: userId })).toSorted((a, b) =>
    lastUseOf(a) < lastUseOf(b) ? -1 : 1,
  )
  await endSessions(tables, sessions.slice(0, sessions.length - MOST_SESSIONS + 1))
}

async function addRefreshToken(
  backend: Backend,
  { refresh_tokens }: Tables,
  { id, user_id }: SessionRow,
  parent: string | null,
): Promise<string> {
  const at = momentOf(backend)
  const salt = parent === null ? null : randomBytes(16).toString('hex')
  const token = parent === null || salt === null ? lettersFrom(randomBytes(TOKEN_CHARACTERS)) : tokenAfter(parent, salt)
  await refresh_tokens.insert({
    ...{ token: digestOf(token), parent: parent === null ? null : digestOf(parent), salt },
    ...{ session_id: id, user_id, revoked: false, created_at: at, updated_at: at },
  })
  return token
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567'
const TOKEN_CHARACTERS = 12

/** The shape of Supabase's refresh tokens, which its server checks. */
export const isRefreshToken = (text: string) => /^[a-z0-9]{12}$/.test(text)

/** 256 is a multiple of the number of letters, so each is as likely as any other. */
const lettersFrom = (bytes: Buffer) =>
  Array.from(bytes.subarray(0, TOKEN_CHARACTERS), byte => letters[byte % letters.length]).join('')

/**
 * The token that replaces `parent`. Only digests are kept, and a client that comes again with the parent is given the same token again:
 * it follows from the parent, which the client has, and the salt, which the state has.
 */
const tokenAfter = (parent: string, salt: string) => lettersFrom(createHmac('sha256', salt).update(parent).digest())

/** The outcome of a refresh: the next grant, or the refusal, which is thrown after the changes are kept. */
type Refreshed = { readonly grant: Grant } | { readonly refusal: Error }

/**
 * Takes a refresh token for the next one. A token that was used before is answered with the active one when that one came of it,
 * with a further one within the reuse interval, and afterwards it ends the whole family (supabase-auth.md, §3.5).
 */
export async function refreshSession(backend: Backend, tables: Tables, token: string): Promise<Refreshed> {
  const { refresh_tokens, sessions, users } = tables
  const { securityRefreshTokenReuseInterval: reuseSeconds, securityRefreshTokenRotationEnabled: rotates } =
    backend.settings
  const digest = digestOf(token)
  const used = await refresh_tokens.get(digest)
  const session = used && (await sessions.get(used.session_id))
  const user = used && (await users.get(used.user_id))
  if (!used || !session || !user) return { refusal: refreshTokenNotFound() }
  if (isBanned(user, backend.now())) return { refusal: userBanned(400, 'Invalid Refresh Token: User Banned') }

  const at = momentOf(backend)
  const family = used.revoked ? await refresh_tokens.find({ session_id: session.id }) : []
  const active = family.find(({ revoked }) => !revoked)
  const isParentOfActive = active?.parent === digest
  if (used.revoked && !isParentOfActive && backend.now() > Date.parse(used.updated_at) + reuseSeconds * 1000) {
    if (rotates) {
      for (const { token } of family) await refresh_tokens.update(token, { revoked: true })
    }
    return { refusal: refreshTokenUsed() }
  }
  // A client that asks twice may not have got the first answer.
  if (!isParentOfActive) await refresh_tokens.update(digest, { revoked: true, updated_at: at })
  // An active token of an earlier version has no salt, and cannot be worked out again: another one takes its place.
  const again = isParentOfActive && active.salt !== null ? tokenAfter(token, active.salt) : undefined
  const next = again ?? (await addRefreshToken(backend, tables, session, token))
  await sessions.update(session.id, { refreshed_at: at })
  return { grant: { user, session, refreshToken: next } }
}

/** Ends these sessions with everything that belongs to them. */
export async function endSessions(tables: Tables, sessions: readonly Pick<SessionRow, 'id'>[]): Promise<void> {
  for (const { id } of sessions) {
    await tables.refresh_tokens.remove({ session_id: id })
    await tables.sessions.remove({ id })
  }
}

/** Ends the sessions of a user: all, or all but the one that is named. */
export async function endSessionsOf(tables: Tables, userId: string, exceptId?: string): Promise<void> {
  const sessions = await tables.sessions.find({ user_id: userId })
  await endSessions(
    tables,
    sessions.filter(({ id }) => id !== exceptId),
  )
}

/** Takes a user away with everything that is theirs. */
export async function removeUser(tables: Tables, { id }: Pick<UserRow, 'id'>): Promise<void> {
  await endSessionsOf(tables, id)
  await tables.one_time_tokens.remove({ user_id: id })
  await tables.flow_states.remove({ user_id: id })
  await tables.api_keys.remove({ user_id: id })
  await tables.users.remove({ id })
}

/** A grant that may do without a session: tokens for tests stand for themselves. */
type Granted = Omit<Grant, 'session'> & { readonly session: SessionRow | undefined }

/** Signs the user token of a grant and puts together what a client gets. */
export async function tokenResponse(backend: Backend, { user, session, refreshToken }: Granted) {
  const { jwtExp } = backend.settings
  const issuedAt = Math.floor(backend.now() / 1000)
  const issuer = issuerOf(backend)
  const accessToken = await (await backend.tokens()).sign({
    ...(issuer !== undefined && { iss: issuer }),
    sub: user.id,
    aud: user.aud,
    exp: issuedAt + jwtExp,
    iat: issuedAt,
    email: user.email ?? '',
    phone: user.phone ?? '',
    app_metadata: user.app_metadata,
    user_metadata: user.user_metadata,
    role: user.role,
    aal: 'aal1',
    ...(session && { amr: session.amr, session_id: session.id }),
    is_anonymous: user.is_anonymous,
  })
  return {
    access_token: accessToken,
    token_type: 'bearer',
    expires_in: jwtExp,
    expires_at: issuedAt + jwtExp,
    refresh_token: refreshToken,
    user: userJson(user),
  }
}
