/** Checks the credentials of callers: at the gateway of the auth backend, at its endpoints, and on the platform. */
import type { RefusedCredential } from '../core/caller.js'
import { PlatformError, upstreamTimeout, upstreamUnreachable } from '../core/errors.js'
import { type Caller, type Exchange, userCaller } from '../core/exchange.js'
import { isSameSecret } from '../core/secrets.js'
import { once, withDeadline } from '../core/work.js'
import { startOf, type ValidCredential } from '../keys/api-keys.js'
import {
  barredUser,
  endedSession,
  expiredToken,
  fromAnotherState,
  malformedToken,
  mistypedClaim,
  refusedByLive,
  roleUnknown,
  tokenNotYetValid,
  tokenWithoutExpiry,
  unsignedToken,
  wronglySignedToken,
} from '../keys/errors.js'
import type { TokenHolders } from '../keys/identify.js'
import { isBanned, mayAct, type SessionRow, type State, type UserRow } from '../state/rows.js'
import type { Backend } from './backend.js'
import {
  badJwt,
  gatewayKeyMissing,
  gatewayRefusal,
  missingSub,
  noAuthorization,
  notAdmin,
  sessionOfTokenNotFound,
  subNotUuid,
  userBanned,
  userOfTokenNotFound,
} from './errors.js'
import { marksOf } from './marks.js'
import { type Claims, type TokenFault, TokenRefusal, type Tokens, triedToken } from './tokens.js'

export type Gateway = ReturnType<typeof createGateway>

interface GatewayParts {
  /** `kong` requires a key, `open` does not. */
  readonly kind: 'kong' | 'open'
  readonly tokens: Pick<Tokens, 'anonKey' | 'serviceKey'>
  readonly publishableKey: string
  readonly secretKey: string
}

const openPaths =
  /^\/auth\/v1\/(verify|callback|authorize|authorize\/account|\.well-known\/jwks\.json|\.well-known\/oauth-authorization-server|sso\/saml\/.*)$/

/** Whether the gateway requires no key for this path. */
export const isOpenAtGateway = (path: string) => openPaths.test(path)

export function createGateway({ kind, tokens: { anonKey, serviceKey }, publishableKey, secretKey }: GatewayParts) {
  return {
    /**
     * Returns the Authorization header for the backend: an opaque key is replaced by its JWT. Throws Kong's 401
     * if a key is required and is missing or unknown.
     */
    admit({ path, query, headers }: Pick<Exchange, 'path' | 'query' | 'headers'>): string | undefined {
      const keys = keysIn(headers.apikey, query)
      if (kind === 'kong' && !isOpenAtGateway(path)) {
        if (keys.length > 1) throw gatewayRefusal('Duplicate API key found', { kind: 'header', reason: 'doubled' })
        const [key] = keys
        if (key === undefined) throw gatewayKeyMissing()
        const knownKeys = [anonKey, serviceKey, publishableKey, secretKey]
        if (!knownKeys.some(knownKey => knownKey !== '' && isSameSecret(knownKey, key))) {
          const tried = { kind: 'apiKey', reason: 'unknown', start: startOf(key) } as const
          throw gatewayRefusal('Invalid authentication credentials', tried)
        }
      }
      const { authorization } = headers
      if (authorization !== undefined && !authorization.startsWith('Bearer sb_')) return authorization
      const key = keys[0] ?? authorization?.slice('Bearer '.length)
      if (key === undefined) return authorization
      if (secretKey !== '' && isSameSecret(secretKey, key)) return `Bearer ${serviceKey}`
      if (publishableKey !== '' && isSameSecret(publishableKey, key)) return `Bearer ${anonKey}`
      return keys[0] ?? authorization
    },
  }
}

/** The header comes first. Two headers arrive joined by a comma, which no key contains. */
function keysIn(header: string | string[] | undefined, query: string): readonly string[] {
  if (header !== undefined && header !== '') return String(header).split(/, */)
  return query === '' ? [] : new URLSearchParams(query).getAll('apikey').filter(key => key !== '')
}

interface LiveBackend {
  /** Without `/auth/v1`. */
  readonly authUrl: string
  readonly anonKey: string
  readonly timeoutMs: number
}

interface Parts {
  readonly tokens: Pick<Tokens, 'verify'>
  readonly state: State
  /** The live auth backend, if the users are the live platform's. */
  readonly live?: LiveBackend | undefined
  readonly now?: () => number
}

export function createTokenHolders({ tokens, state, live, now = Date.now }: Parts): TokenHolders {
  const findHere: TokenHolders['find'] = async token => {
    try {
      const claims = await marksOf(state).verify(token, tokens)
      if (typeof claims.exp !== 'number') throw tokenWithoutExpiry(triedToken('times', claims))
      const caller = callerOf(claims)
      await requireAlive(claims, state, now())
      return { caller, expiresAtMs: claims.exp * 1000 }
    } catch (error) {
      if (!(error instanceof TokenRefusal)) throw error
      const [onPlatform] = faults[error.fault]
      throw onPlatform(error.tried)
    }
  }

  if (!live) return { find: findHere }
  const loadClient = clientFor(live.authUrl)
  return {
    /** Keys of this stand-in stay valid. The live backend identifies the user of a user token. */
    async find(token) {
      const local = await findHere(token).catch(() => undefined)
      if (local && local.caller.kind !== 'user') return local
      return { ...(await askLive(live, loadClient, token)), isLive: true }
    },
  }
}

/** A token may outlive its session and its user, and is then invalid. Tokens minted for tests have no session. */
async function requireAlive(claims: Claims, state: State, nowMs: number): Promise<void> {
  const { session_id, sub = '' } = claims
  if (session_id === undefined && claims.sub === undefined) return
  const { session, user } = await rowsOf(state, sub, session_id)
  if (session_id !== undefined && session?.user_id !== sub.toLowerCase())
    throw endedSession(triedToken('session', claims), fromAnotherState[user ? 'session' : 'user'])
  if ((user || session) && !mayAct(user, nowMs)) throw barredUser(triedToken('user', claims))
}

/** The user and the session that a token names, if they still exist. */
const rowsOf = (state: State, userId: string, sessionId: string | undefined) =>
  state.read(async ({ users, sessions }) => ({
    user: await users.get(userId.toLowerCase()),
    session: sessionId === undefined ? undefined : await sessions.get(sessionId.toLowerCase()),
  }))

/** The role claim determines the kind of caller, as it does for Supabase's own services. */
function callerOf(claims: Claims): Caller {
  const { role, sub, email } = claims
  if (role === 'anon') return { kind: 'anon' }
  if (role === 'service_role') return { kind: 'service' }
  if (role !== 'authenticated' || !sub) throw roleUnknown(triedToken('role', claims))
  return userCaller(sub, email)
}

/**
 * How each fault of a token is answered on the platform, and in the words of the library with which Supabase's server
 * verifies tokens. Some apps check for those.
 */
const faults: Record<TokenFault, readonly [onPlatform: (tried: RefusedCredential) => PlatformError, atAuth: string]> = {
  malformed: [malformedToken, 'token is malformed: token contains an invalid number of segments'],
  unreadable: [malformedToken, 'token is malformed: could not JSON decode header: invalid character'],
  algorithm: [unsignedToken, 'token signature is invalid: signing method {alg} is invalid'],
  'unknown-key': [
    wronglySignedToken,
    'token is unverifiable: error while executing keyfunc: unrecognized JWT kid {kid} for algorithm {alg}',
  ],
  signature: [wronglySignedToken, 'token signature is invalid: signature is invalid'],
  expired: [expiredToken, 'token has invalid claims: token is expired'],
  'not-yet': [tokenNotYetValid, 'token has invalid claims: token is not valid yet'],
  times: [tokenWithoutExpiry, 'token is malformed: could not JSON decode claim: invalid type for claim'],
  claims: [mistypedClaim, 'token is malformed: could not JSON decode claim: invalid type for claim'],
}

/** How long an answer of the live backend is cached. A session that ends there also ends here soon afterwards. */
const LIVE_CACHE_MS = 5000

/**
 * Returns the user of a live token. Rejects with a 401 if there is none, and with a 502 or 504 if the backend gives no
 * clear answer.
 */
async function askLive(live: LiveBackend, loadClient: LoadClient, token: string): Promise<ValidCredential> {
  const expiresAtMs = Date.now() + LIVE_CACHE_MS
  // The live anon key identifies no user, so there is no need to ask.
  if (live.anonKey !== '' && token === live.anonKey) return { caller: { kind: 'anon' }, expiresAtMs }
  const { status, body } = await liveAnswer(live, loadClient, token)
  const { id, email, error_code: older, code: newer } = body
  if (status === 200 && typeof id === 'string') {
    return { caller: userCaller(id, email), expiresAtMs }
  }
  const code = [older, newer].find(code => typeof code === 'string')
  // Only an error in the backend's own format refuses the token. An error of a gateway says nothing about it.
  if (typeof code === 'string' && [400, 401, 403].includes(status))
    throw refusedByLive({ kind: 'token', reason: 'live' }, `It says ${code}.`)
  throw upstreamUnreachable(`status ${status} of the auth backend`)
}

/** Undici, loaded when another server is first asked, and connections to that server. */
export const clientFor = (address: string) =>
  once(async () => {
    const [{ request }, { createDispatcher }] = await Promise.all([
      import('undici'),
      import('../outgoing/dispatcher.js'),
    ])
    return { request, dispatcher: createDispatcher(address) }
  })

type LoadClient = ReturnType<typeof clientFor>

async function liveAnswer({ authUrl, anonKey, timeoutMs }: LiveBackend, loadClient: LoadClient, token: string) {
  const { request, dispatcher } = await loadClient()
  try {
    // One limit for all of it: undici's own begin again with each byte.
    return await withDeadline(timeoutMs, async signal => {
      const { statusCode, body } = await request(`${authUrl.replace(/(?<!\/)\/+$/, '')}/auth/v1/user`, {
        headers: { apikey: anonKey, authorization: `Bearer ${token}` },
        dispatcher,
        signal,
      })
      return { status: statusCode, body: objectIn(await body.text()) }
    })
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException
    if (name === 'TimeoutError') throw upstreamTimeout(timeoutMs)
    throw error instanceof PlatformError ? error : upstreamUnreachable(code ?? message)
  }
}

/** Parses a text as a JSON object; returns an empty one if it is not an object. */
function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** The holder of a user token. */
export interface SignedIn {
  readonly user: UserRow
  /** The session of the token; tokens minted for tests have none. */
  readonly session: SessionRow | undefined
}

export const isUuid = (text: string) => /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text)

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
  const { user, session } = await rowsOf(backend.state, sub, session_id)
  if (!user || user.deleted_at !== null) throw userOfTokenNotFound(triedToken('user', claims))
  if (isBanned(user, backend.now())) throw userBanned(403, undefined, triedToken('user', claims))
  if (session_id !== undefined && session?.user_id !== user.id)
    throw sessionOfTokenNotFound(triedToken('session', claims))
  return { user, session }
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

async function claimsOf(backend: Backend, authorization: string | undefined): Promise<Claims> {
  const token = /^bearer (\S+$)/i.exec(authorization ?? '')?.[1]
  if (token === undefined) throw noAuthorization(authorization ? { kind: 'header', reason: 'malformed' } : undefined)
  try {
    return await marksOf(backend.state).verify(token, backend.tokens)
  } catch (error) {
    if (!(error instanceof TokenRefusal)) throw error
    const { alg = '', kid = '<nil>' } = error.header
    const [, words] = faults[error.fault]
    throw badJwt(
      words.replace('{alg}', () => alg).replace('{kid}', () => kid),
      error.tried,
    )
  }
}
