/** Says who asks: from the Authorization header to a caller. */
import type { Tried } from '../core/caller.js'
import {
  barredUser,
  endedSession,
  expiredApiKey,
  expiredToken,
  fromAnotherState,
  malformedToken,
  mistypedApiKey,
  mistypedClaim,
  ownerlessApiKey,
  PlatformError,
  revokedApiKey,
  roleUnknown,
  tokenNotYetValid,
  tokenWithoutExpiry,
  unknownApiKey,
  unsignedToken,
  wronglySignedToken,
} from '../core/errors.js'
import { type Caller, userCaller } from '../core/exchange.js'
import { digestOf } from '../core/secrets.js'
import type { State } from '../core/state.js'
import type { ApiKeys } from './api-keys.js'
import { bearerToken } from './bearer.js'
import { askLive, type LiveBackend } from './live.js'
import { type TokenFault, TokenRefusal, triedToken } from './token-refusal.js'
import type { Claims, Tokens } from './tokens.js'
import { mayAct } from './users.js'

/** Credentials that are remembered at most; beyond it the oldest is forgotten and looked up anew when it comes back. */
const REMEMBERED = 10_000

/**
 * Gives back the caller at once where it can, and a promise only where a credential has to be looked up first.
 * Throws (or rejects with) a 401 that says what was wrong with the credential.
 */
export type Identify = (authorization: string | undefined) => Caller | Promise<Caller>

/** A credential that opens doors. */
interface Known {
  readonly caller: Caller
  /** When it stops, in milliseconds since 1970. */
  readonly expiresAtMs: number
  /** Whether a live backend has said so: there it is the real time, whatever the clock here shows. */
  readonly isLive?: boolean
}

interface Remembered extends Known {
  readonly lookedUpAtMs: number
}

interface Parts {
  /** Promises, so that whoever sends an API key does not wait for what only tokens need. */
  readonly tokens: () => Promise<Tokens>
  readonly state: () => Promise<State>
  readonly apiKeys: ApiKeys
  /** The live auth backend, where its users are the platform's. */
  readonly live?: LiveBackend | undefined
  readonly now?: () => number
}

/** What has to be told when a credential may open doors no longer. */
export interface Doorkeeper {
  readonly identify: Identify
  /** Forgets what it remembers: something was revoked. */
  forget(): void
}

/** Joins the two kinds of credential: JWTs, known by their two dots, and API keys. */
export function createDoorkeeper({ tokens, state, apiKeys, live, now = Date.now }: Parts): Doorkeeper {
  // Verifying a signature costs more than all the rest of a request, and its result holds until it expires or is revoked.
  const remembered = new Map<string, Remembered>()
  let revocations = 0

  const timeFor = ({ isLive = false }: Known) => (isLive ? Date.now() : now())

  async function lookUp(secret: string, digest: string): Promise<Caller> {
    const before = revocations
    const beganMs = now()
    const known: Known = isJwt(secret)
      ? await (live ? ofLiveToken(secret, live) : ofToken(secret))
      : await apiKeys.find(secret)
    // What was revoked while it was being looked up is not to be remembered.
    if (before === revocations) remember(digest, { ...known, lookedUpAtMs: known.isLive ? 0 : beganMs })
    return used(known)
  }

  function remember(digest: string, known: Remembered): void {
    if (remembered.size >= REMEMBERED) remembered.delete(remembered.keys().next().value as string)
    remembered.set(digest, known)
  }

  function used({ caller }: Known): Caller {
    if (caller.kind === 'apiKey') apiKeys.used(caller.id)
    return caller
  }

  async function ofToken(token: string): Promise<Known> {
    try {
      const claims = await (await tokens()).verify(token)
      if (typeof claims.exp !== 'number') throw tokenWithoutExpiry(triedToken('times', claims))
      const caller = callerOf(claims)
      await requireAlive(claims)
      return { caller, expiresAtMs: claims.exp * 1000 }
    } catch (error) {
      if (!(error instanceof TokenRefusal)) throw error
      // A configured key may have two dots as well.
      if (wordFault[error.fault] === malformedToken) return ofDottedKey(token)
      throw wordFault[error.fault](error.tried)
    }
  }

  /** Who has no such key meant a token; who has one is told what is wrong with it. */
  async function ofDottedKey(secret: string): Promise<Known> {
    try {
      return await apiKeys.find(secret)
    } catch (error) {
      throw error instanceof PlatformError && isNoKey(error) ? malformedToken(triedToken('malformed', {})) : error
    }
  }

  /** Keys of this stand-in hold as ever; whose a user token is, the live backend says. */
  async function ofLiveToken(token: string, live: LiveBackend): Promise<Known> {
    const own = await ofToken(token).catch((error: PlatformError) => {
      // A key of ours that opens nothing any more is nothing to show around.
      if (keyFaults.has(error.code)) throw error
      return undefined
    })
    if (own && own.caller.kind !== 'user') return own
    return { ...(await askLive(live, token, Date.now())), isLive: true }
  }

  /** A token may outlive its session and its user; they open nothing any more. One that was minted for tests has no session. */
  async function requireAlive(claims: Claims): Promise<void> {
    const { session_id, sub } = claims
    if (session_id === undefined && sub === undefined) return
    const userId = (sub ?? '').toLowerCase()
    const { session, user } = await (await state()).read(async ({ sessions, users }) => ({
      session: session_id === undefined ? null : await sessions.get(session_id.toLowerCase()),
      user: await users.get(userId),
    }))
    if (session === undefined || (session !== null && session.user_id !== userId))
      throw endedSession(triedToken('session', claims), fromAnotherState[user ? 'session' : 'user'])
    if ((user || session) && !mayAct(user, now())) throw barredUser(triedToken('user', claims))
  }

  return {
    identify(authorization) {
      const secret = bearerToken(authorization)
      const digest = digestOf(secret)
      const known = remembered.get(digest)
      if (known === undefined) return lookUp(secret, digest)
      const nowMs = timeFor(known)
      // A clock that was moved back may be in the midst of what had passed by then, such as a ban.
      if (known.expiresAtMs > nowMs && known.lookedUpAtMs <= nowMs) return used(known)
      remembered.delete(digest)
      return lookUp(secret, digest)
    },
    forget() {
      revocations++
      remembered.clear()
    },
  }
}

const isNoKey = ({ code }: PlatformError) => code === unknownApiKey().code || code === mistypedApiKey().code

/** What is wrong with a key that is there. */
const keyFaults = new Set([revokedApiKey().code, expiredApiKey().code, ownerlessApiKey().code])

function isJwt(token: string): boolean {
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  return first > 0 && second > 0 && token.indexOf('.', second + 1) < 0
}

/** The role claim says what kind of caller it is, as it does for Supabase's own services. */
function callerOf(claims: Claims): Caller {
  const { role, sub, email } = claims
  if (role === 'anon') return { kind: 'anon' }
  if (role === 'service_role') return { kind: 'service' }
  if (role !== 'authenticated' || !sub) throw roleUnknown(triedToken('role', claims))
  return userCaller(sub, email)
}

const wordFault: Record<TokenFault, (tried: Tried) => PlatformError> = {
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
