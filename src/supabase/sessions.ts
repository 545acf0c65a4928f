/** Sessions: begins, refreshes and ends them. Sign-ins with PKCE (RFC 7636) wait for the app to return with its verifier. */
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import { digestOf, isSameSecret } from '../core/secrets.js'
import { type FlowStateRow, isBanned, type SessionRow, type Tables, type UserRow } from '../state/rows.js'
import { type Backend, externalUrl, momentOf, type TokenBackend, type TokenToSign } from './backend.js'
import {
  badCodeVerifier,
  flowStateExpired,
  flowStateNotFound,
  noFlowForLink,
  refreshTokenNotFound,
  refreshTokenUsed,
  userBanned,
  validationFailed,
} from './errors.js'
import { marksOf } from './marks.js'
import type { Payload } from './tokens.js'
import { userJson } from './users.js'

export interface Grant {
  readonly user: UserRow
  readonly session: SessionRow
  readonly refreshToken: string
  /** How the user got it, in Supabase's words. */
  readonly method: string
}

/**
 * Begins a session for a user who has just authenticated. `method` is the name of the proof in the `amr` claim. Throws a
 * 400 for a banned user.
 */
export async function startSession(backend: Backend, tables: Tables, user: UserRow, method: string): Promise<Grant> {
  if (isBanned(user, backend.now())) throw userBanned()
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
  await tables.sessions.insert(session)
  const refreshToken = await addRefreshToken(backend, tables, session, null)
  return { user: { ...user, ...changes }, session, refreshToken, method }
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
    token: digestOf(token),
    parent: parent === null ? null : digestOf(parent),
    salt,
    session_id: id,
    user_id,
    revoked: false,
    created_at: at,
    updated_at: at,
  })
  return token
}

const tokenLetters = 'abcdefghijklmnopqrstuvwxyz234567'
const TOKEN_CHARACTERS = 12

/** The format of Supabase's refresh tokens, which its server checks. */
export const isRefreshToken = (text: string) => /^[a-z0-9]{12}$/.test(text)

/** 256 is a multiple of the number of letters, so all letters are equally likely. */
const lettersFrom = (bytes: Buffer) =>
  Array.from(bytes.subarray(0, TOKEN_CHARACTERS), byte => tokenLetters[byte % tokenLetters.length]).join('')

/**
 * The token that replaces `parent`. Only digests are stored. A client that uses the parent again gets the same token,
 * since it is derived from the parent, which the client has, and the salt, which is in the state.
 */
const tokenAfter = (parent: string, salt: string) => lettersFrom(createHmac('sha256', salt).update(parent).digest())

/** How long a replaced refresh token may be used again; Supabase's default. Tabs of one browser refresh at the same time. */
const REUSE_SECONDS = 10

/** Supabase's name for a refresh, as a way to get a token. */
const REFRESH = 'token_refresh'

/** The result of a refresh: the next grant, or an error that is thrown after the changes are committed. */
type RefreshResult = { readonly grant: Grant } | { readonly refusal: Error }

/**
 * Exchanges a refresh token for the next one. If the token was used before, the client gets the active token if that is
 * its direct successor, or a further one within the reuse interval. Otherwise the whole family is revoked
 * (supabase-auth.md, §3.5).
 */
export async function refreshSession(backend: Backend, tables: Tables, token: string): Promise<RefreshResult> {
  const { refresh_tokens, sessions, users } = tables
  const digest = digestOf(token)
  const presented = await refresh_tokens.get(digest)
  const session = presented && (await sessions.get(presented.session_id))
  const user = presented && (await users.get(presented.user_id))
  if (!presented || !session || !user) return { refusal: refreshTokenNotFound() }
  if (isBanned(user, backend.now())) return { refusal: userBanned(400, 'Invalid Refresh Token: User Banned') }

  const at = momentOf(backend)
  const family = presented.revoked ? await refresh_tokens.find({ session_id: session.id }) : []
  const active = family.find(({ revoked }) => !revoked)
  const isParentOfActive = active?.parent === digest
  const isUsedUp = presented.revoked && backend.now() > Date.parse(presented.updated_at) + REUSE_SECONDS * 1000
  if (isUsedUp && !isParentOfActive) {
    for (const { token } of family) await refresh_tokens.update(token, { revoked: true })
    return { refusal: refreshTokenUsed() }
  }
  // The client may not have received the first response.
  if (!isParentOfActive) await refresh_tokens.update(digest, { revoked: true, updated_at: at })
  // An active token from an earlier version has no salt and cannot be derived again. It is replaced.
  const sameToken = isParentOfActive && active.salt !== null ? tokenAfter(token, active.salt) : undefined
  const next = sameToken ?? (await addRefreshToken(backend, tables, session, token))
  await sessions.update(session.id, { refreshed_at: at })
  return { grant: { user, session, refreshToken: next, method: REFRESH } }
}

/**
 * What another tab does that has the same refresh token: it refreshes twice, long enough ago that the token is refused.
 * Returns whether the token was valid.
 */
export async function refreshElsewhere(backend: Backend, tables: Tables, token: string): Promise<boolean> {
  const { refresh_tokens, sessions } = tables
  const presented = await refresh_tokens.get(digestOf(token))
  const session = presented && (await sessions.get(presented.session_id))
  if (!session || presented.revoked) return false
  const longAgo = new Date(backend.now() - 2 * REUSE_SECONDS * 1000).toISOString()
  const next = await addRefreshToken(backend, tables, session, token)
  await addRefreshToken(backend, tables, session, next)
  for (const used of [token, next]) await refresh_tokens.update(digestOf(used), { revoked: true, updated_at: longAgo })
  return true
}

/** Ends these sessions and deletes everything that belongs to them. */
export async function endSessions(tables: Tables, sessions: readonly Pick<SessionRow, 'id'>[]): Promise<void> {
  for (const { id } of sessions) {
    await tables.refresh_tokens.remove({ session_id: id })
    await tables.sessions.remove({ id })
  }
}

/** Ends all sessions of a user, except the given one. */
export async function endSessionsOf(tables: Tables, userId: string, exceptId?: string): Promise<void> {
  const sessions = await tables.sessions.find({ user_id: userId })
  await endSessions(
    tables,
    sessions.filter(({ id }) => id !== exceptId),
  )
}

/** Deletes a user and everything that belongs to them. */
export async function removeUser(tables: Tables, { id }: Pick<UserRow, 'id'>): Promise<void> {
  await endSessionsOf(tables, id)
  await tables.one_time_tokens.remove({ user_id: id })
  await tables.flow_states.remove({ user_id: id })
  await tables.identity_owners.remove({ user_id: id })
  await tables.api_keys.remove({ user_id: id })
  await tables.users.remove({ id })
}

/** A grant that may have no session, as tokens for tests do. */
type TokenGrant = Omit<Grant, 'session'> & { readonly session: SessionRow | undefined }

/** Signs the user token of a grant and builds the response for the client. */
export async function tokenResponse(backend: TokenBackend, grant: TokenGrant, ipAddress?: string) {
  const { user, session, refreshToken, method } = grant
  const { jwtExp } = backend.settings
  const marks = backend.state && marksOf(backend.state)
  const issuedAt = Math.floor((backend.now() + (marks?.aheadMs(session?.id) ?? 0)) / 1000)
  const { tokens } = marks?.signerOf(session?.id) ?? backend
  const claims: Payload = {
    iss: externalUrl(backend),
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
  }
  return {
    access_token: await tokens.sign(await hookedClaims(backend, { user, claims, method, ipAddress }, session)),
    token_type: 'bearer',
    expires_in: jwtExp,
    expires_at: issuedAt + jwtExp,
    refresh_token: refreshToken,
    user: userJson(user),
  }
}

/** The claims as the hook wants them. If it fails, a session that was to begin with this token does not exist. */
async function hookedClaims({ accessTokenHook, state }: TokenBackend, token: TokenToSign, session?: SessionRow) {
  if (!accessTokenHook) return token.claims
  try {
    return await accessTokenHook(token)
  } catch (error) {
    if (session && token.method !== REFRESH) await state?.write(tables => endSessions(tables, [session]))
    throw error
  }
}

export interface Challenge {
  readonly code_challenge: string
  readonly code_challenge_method: string
}

/** How long the app may take to return; Supabase's default. */
const FLOW_SECONDS = 300

/**
 * Returns the challenge of a request, if it has one. Throws a 400 for an incomplete or malformed one (RFC 7636 §4.2).
 */
export function challengeIn({ code_challenge, code_challenge_method }: Challenge): Challenge | undefined {
  if (code_challenge === '' && code_challenge_method === '') return undefined
  if (code_challenge === '' || code_challenge_method === '') {
    throw validationFailed('PKCE flow requires code_challenge_method and code_challenge')
  }
  if (code_challenge.length < 43 || code_challenge.length > 128) {
    throw validationFailed('code challenge has to be between 43 and 128 characters')
  }
  if (!/^[\w.~-]+$/.test(code_challenge)) {
    throw validationFailed(
      'code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes',
    )
  }
  if (!/^(s256|plain)$/i.test(code_challenge_method)) {
    throw validationFailed(`unsupported code_challenge method "${code_challenge_method}"`)
  }
  return { code_challenge, code_challenge_method: code_challenge_method.toLowerCase() }
}

/** Stores the challenge for the link that is sent to `userId`, and replaces that of an earlier one of the same kind. */
export async function beginFlow(
  backend: Backend,
  { flow_states }: Tables,
  challenge: Challenge,
  userId: string,
  method: string,
): Promise<void> {
  for (const flow of await flow_states.find({ user_id: userId })) {
    const isWaiting = flow.auth_code_issued_at === null
    const isOver = isWaiting ? flow.authentication_method === method : isFlowOver(backend, flow)
    if (isOver) await flow_states.remove({ id: flow.id })
  }
  await flow_states.insert({ ...newFlow(backend, challenge, method), user_id: userId })
}

/** A flow of nobody yet, for sign-ins by a link and by another provider. Only the latter may have no challenge. */
export function newFlow(backend: Backend, challenge: Challenge | undefined, method: string): FlowStateRow {
  const { code_challenge = '', code_challenge_method } = challenge ?? {}
  // A plain challenge is the verifier itself.
  const isVerifier = code_challenge_method === 'plain'
  return {
    id: randomUUID(),
    user_id: null,
    // Replaced when the link is opened, or an account is chosen. Until then no code leads here.
    auth_code: digestOf(randomUUID()),
    code_challenge: isVerifier ? challengeOf(code_challenge) : code_challenge,
    code_challenge_method: 's256',
    authentication_method: method,
    created_at: momentOf(backend),
    auth_code_issued_at: null,
    provider: null,
    redirect_to: null,
    linking_user_id: null,
    is_offline: false,
  }
}

/** The `amr` claim's name for a link of this type. */
export const methodOfLink = (type: string) => (type === 'signup' || type === 'email' ? 'email/signup' : type)

/** Returns the code that an opened link passes to the app. Throws a 400 if no flow is waiting for it. */
export async function issueAuthCode(
  backend: Backend,
  { flow_states }: Tables,
  userId: string,
  method: string,
): Promise<string> {
  const [flow] = await flow_states.find({
    user_id: userId,
    authentication_method: method,
    auth_code_issued_at: null,
  })
  if (!flow) throw noFlowForLink()
  const code = randomUUID()
  await flow_states.update(flow.id, { auth_code: digestOf(code), auth_code_issued_at: momentOf(backend) })
  return code
}

/**
 * Removes and returns the flow of `authCode`. Throws if there is none, if it has expired, or if the verifier is wrong.
 */
export async function endFlow(
  backend: Backend,
  { flow_states }: Tables,
  authCode: string,
  verifier: string,
): Promise<FlowStateRow> {
  const [flow] = await flow_states.find({ auth_code: digestOf(authCode) })
  if (!flow) throw flowStateNotFound()
  if (isFlowOver(backend, flow)) throw flowStateExpired()
  if (!isSameSecret(challengeOf(verifier), flow.code_challenge)) throw badCodeVerifier()
  await flow_states.remove({ id: flow.id })
  return flow
}

/** Whether the app, or the user, has taken too long. */
export const isFlowOver = ({ now }: Backend, { auth_code_issued_at, created_at }: FlowStateRow) =>
  now() > Date.parse(auth_code_issued_at ?? created_at) + FLOW_SECONDS * 1000

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')
