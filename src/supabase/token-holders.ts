/** Finds the holder of a token: by its signature, session and user here, or by asking the live backend. */
import type { RefusedCredential } from '../core/caller.js'
import {
  barredUser,
  endedSession,
  expiredToken,
  fromAnotherState,
  malformedToken,
  mistypedClaim,
  type PlatformError,
  refusedByLive,
  roleUnknown,
  tokenNotYetValid,
  tokenWithoutExpiry,
  unsignedToken,
  upstreamTimeout,
  upstreamUnreachable,
  wronglySignedToken,
} from '../core/errors.js'
import { type Caller, userCaller } from '../core/exchange.js'
import { mayAct, type State } from '../core/state.js'
import { once } from '../core/work.js'
import { isInvalidKeyError, type TokenHolders, type ValidCredential } from '../keys/identify.js'
import { type TokenFault, TokenRefusal, triedToken } from './token-refusal.js'
import type { Claims, Tokens } from './tokens.js'

/** The live auth backend from the configuration. */
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
  const findHere: TokenHolders['find'] = async (token, findKey) => {
    try {
      const claims = await tokens.verify(token)
      if (typeof claims.exp !== 'number') throw tokenWithoutExpiry(triedToken('times', claims))
      const caller = callerOf(claims)
      await requireAlive(claims, state, now())
      return { caller, expiresAtMs: claims.exp * 1000 }
    } catch (error) {
      if (!(error instanceof TokenRefusal)) throw error
      if (errorOfFault[error.fault] === malformedToken) return findKey(malformedToken(triedToken('malformed', {})))
      throw errorOfFault[error.fault](error.tried)
    }
  }

  if (!live) return { find: findHere }
  return {
    /** Keys of this stand-in stay valid. The live backend identifies the user of a user token. */
    async find(token, findKey) {
      const local = await findHere(token, findKey).catch(error => {
        // A revoked or expired key of ours is not sent to the live backend.
        if (isInvalidKeyError(error)) throw error
        return undefined
      })
      if (local && local.caller.kind !== 'user') return local
      return { ...(await askLive(live, token, Date.now())), isLive: true }
    },
  }
}

/** A token may outlive its session and its user, and is then invalid. Tokens minted for tests have no session. */
async function requireAlive(claims: Claims, state: State, nowMs: number): Promise<void> {
  const { session_id, sub } = claims
  if (session_id === undefined && sub === undefined) return
  const userId = (sub ?? '').toLowerCase()
  const { session, user } = await state.read(async ({ sessions, users }) => ({
    session: session_id === undefined ? null : await sessions.get(session_id.toLowerCase()),
    user: await users.get(userId),
  }))
  if (session === undefined || (session !== null && session.user_id !== userId))
    throw endedSession(triedToken('session', claims), fromAnotherState[user ? 'session' : 'user'])
  if ((user || session) && !mayAct(user, nowMs)) throw barredUser(triedToken('user', claims))
}

/** The role claim determines the kind of caller, as it does for Supabase's own services. */
function callerOf(claims: Claims): Caller {
  const { role, sub, email } = claims
  if (role === 'anon') return { kind: 'anon' }
  if (role === 'service_role') return { kind: 'service' }
  if (role !== 'authenticated' || !sub) throw roleUnknown(triedToken('role', claims))
  return userCaller(sub, email)
}

const errorOfFault: Record<TokenFault, (tried: RefusedCredential) => PlatformError> = {
  malformed: malformedToken,
  unreadable: malformedToken,
  algorithm: unsignedToken,
  'unknown-key': wronglySignedToken,
  signature: wronglySignedToken,
  expired: expiredToken,
  'not-yet': tokenNotYetValid,
  times: tokenWithoutExpiry,
  claims: mistypedClaim,
}

/** How long an answer of the live backend is cached. A session that ends there also ends here soon afterwards. */
const LIVE_CACHE_MS = 5000

/**
 * Returns the user of a live token. Rejects with a 401 if there is none, and with a 502 or 504 if the backend gives no
 * clear answer.
 */
async function askLive(live: LiveBackend, token: string, nowMs: number): Promise<ValidCredential> {
  const expiresAtMs = nowMs + LIVE_CACHE_MS
  // The live anon key identifies no user, so there is no need to ask.
  if (live.anonKey !== '' && token === live.anonKey) return { caller: { kind: 'anon' }, expiresAtMs }
  const { status, body } = await answerOf(live, token)
  const { id, email, error_code: older, code: newer } = body
  if (status === 200 && typeof id === 'string') {
    return {
      caller: userCaller(id, email),
      expiresAtMs,
    }
  }
  const code = [older, newer].find(code => typeof code === 'string')
  // Only an error in the backend's own format refuses the token. An error of a gateway says nothing about it.
  if (typeof code === 'string' && [400, 401, 403].includes(status))
    throw refusedByLive({ kind: 'token', reason: 'live' }, `It says ${code}.`)
  throw upstreamUnreachable(`status ${status} of the auth backend`)
}

/** Undici and a client that honours HTTP_PROXY and the like, loaded when the live backend is first asked. */
const loadClient = once(async () => {
  const { EnvHttpProxyAgent, request } = await import('undici')
  return { request, dispatcher: new EnvHttpProxyAgent() }
})

async function answerOf({ authUrl, anonKey, timeoutMs }: LiveBackend, token: string) {
  const { request, dispatcher } = await loadClient()
  try {
    const { statusCode, body } = await request(`${authUrl.replace(/\/+$/, '')}/auth/v1/user`, {
      headers: { apikey: anonKey, authorization: `Bearer ${token}` },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      dispatcher,
    })
    return { status: statusCode, body: objectIn(await body.text()) }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code?.startsWith('UND_ERR_') && code.endsWith('_TIMEOUT')) throw upstreamTimeout(timeoutMs)
    throw upstreamUnreachable(code ?? message)
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
