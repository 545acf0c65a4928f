/** Identifies the caller by the Authorization header, and checks the caller's access, also that of the developer. */
import { hash } from 'node:crypto'
import { PlatformError } from '../core/errors.js'
import type { Caller, Endpoint } from '../core/exchange.js'
import { bearerTokenIn } from '../core/http.js'
import { isSameSecret } from '../core/secrets.js'
import type { ApiKeys, ValidCredential } from './api-keys.js'
import {
  doubledCredential,
  emptyCredential,
  malformedCredential,
  missingControlToken,
  missingCredential,
  mistypedApiKey,
  notForControl,
  publicServiceKey,
  unknownApiKey,
  unknownControlToken,
  wrongKind,
  wrongScheme,
} from './errors.js'

/** The maximum number of cached credentials. Beyond that the oldest is dropped, and looked up again at its next use. */
const MOST_CACHED = 10_000

/**
 * Returns the caller at once if possible, and a promise only if a credential has to be looked up. Throws or rejects
 * with a 401 that says what is wrong with the credential.
 */
export type Identify = (authorization: string | undefined) => Caller | Promise<Caller>

interface CachedCredential extends ValidCredential {
  readonly lookedUpAtMs: number
}

/** Finds the holder of a token of the auth backend. */
export interface TokenHolders {
  /** Rejects with a 401 that says what is wrong with the token. */
  find(token: string): Promise<ValidCredential>
}

interface Parts {
  readonly tokens: TokenHolders
  readonly apiKeys: Pick<ApiKeys, 'find' | 'noteUse'>
  readonly now?: () => number
}

export type Authenticator = ReturnType<typeof createAuthenticator>

/** Accepts both kinds of credential: JWTs, recognized by their two dots, and API keys. */
export function createAuthenticator({ tokens, apiKeys, now = Date.now }: Parts) {
  // Verifying a signature costs more than the rest of a request, and the result is valid until the token expires or is
  // revoked. Keyed by the whole header: extracting and hashing the token would take longer than all of this. Written by
  // hand, since every request uses it, and a cache that tracks the order of use would write on each read.
  const cache = new Map<string, CachedCredential>()
  let revocations = 0

  async function lookUp(secret: string, header: string): Promise<Caller> {
    const revocationsBefore = revocations
    const startedMs = now()
    const credential = await credentialOf(secret, { tokens, apiKeys })
    // A credential that was revoked during the lookup must not be cached.
    if (revocationsBefore === revocations) {
      if (cache.size >= MOST_CACHED) cache.delete(cache.keys().next().value as string)
      cache.set(header, { ...credential, lookedUpAtMs: credential.isLive ? 0 : startedMs })
    }
    if (credential.caller.kind === 'apiKey') apiKeys.noteUse(credential.caller.id, now())
    return credential.caller
  }

  return {
    identify(header: string | undefined): Caller | Promise<Caller> {
      const cached = cache.get(header ?? '')
      if (cached === undefined) return lookUp(bearerToken(header), header ?? '')
      const nowMs = cached.isLive ? Date.now() : now()
      // If the clock was moved back, the cached result may come from a later time, for example after a ban.
      if (cached.expiresAtMs <= nowMs || cached.lookedUpAtMs > nowMs) {
        cache.delete(header ?? '')
        return lookUp(bearerToken(header), header ?? '')
      }
      if (cached.caller.kind === 'apiKey') apiKeys.noteUse(cached.caller.id, nowMs)
      return cached.caller
    },
    /** Empties the cache, because something was revoked. */
    forget() {
      revocations++
      cache.clear()
    },
  }
}

/** An API key may have two dots as well. A text that is no key of ours was meant as a token. */
async function credentialOf(secret: string, { tokens, apiKeys }: Omit<Parts, 'now'>): Promise<ValidCredential> {
  if (!isJwt(secret)) return apiKeys.find(secret)
  const key = await apiKeys.find(secret).catch(error => {
    if (error instanceof PlatformError && unknownKeyCodes.includes(error.code)) return undefined
    throw error
  })
  return key ?? tokens.find(secret)
}

const unknownKeyCodes = [unknownApiKey().code, mistypedApiKey().code]

const isJwt = (token: string) => /^[^.]+\.[^.]+\.[^.]*$/.test(token)

/** The scheme in any case, one or more spaces, and a token of RFC 6750's characters. */
const bearerHeader = /^bearer +([\w.~+/-]+=*) *$/i

/**
 * Returns the token in the header. Throws a 401 that says what is wrong with it. Two headers arrive joined by a comma,
 * which no token contains.
 */
function bearerToken(header: string | undefined): string {
  const token = header !== undefined && bearerHeader.exec(header)?.[1]
  if (token) return token
  if (header === undefined) throw missingCredential()
  if (/^(bearer)? *$/i.test(header)) throw emptyCredential({ kind: 'header', reason: 'empty' })
  if (!/^bearer[ ,]/i.test(header)) throw wrongScheme({ kind: 'header', reason: 'scheme' })
  if (/,/.test(header) || /^bearer +\S+ +\S/i.test(header))
    throw doubledCredential({ kind: 'header', reason: 'doubled' })
  throw malformedCredential({ kind: 'header', reason: 'malformed' })
}

/**
 * Identifies a caller whose credential the live platform checks: by a hash, with which limits tell callers apart. Throws
 * the usual 401 for a missing or malformed header.
 */
export const identifyForLive: Identify = authorization => ({
  kind: 'stranger',
  id: hash('sha256', bearerToken(authorization), 'hex').slice(0, 16),
})

/**
 * Returns if the caller may call `endpoint`, or if the live platform decides that. Otherwise throws a 401 that names the
 * accepted kinds of credential.
 */
export function authorize(
  caller: Caller,
  { access, method, path }: Pick<Endpoint, 'access' | 'method' | 'path'>,
): void {
  if (access === 'anyone' || caller.kind === 'stranger') return
  if (caller.kind === 'anonymous' || caller.kind === 'refused') throw missingCredential()
  if (!access.includes(caller.kind)) throw wrongKind(caller.kind, access, `${method} ${path}`)
}

/** What the control API accepts as a credential. */
export interface ControlKeys {
  /** Empty if there is none. */
  readonly token: () => string
  readonly identify: Identify
  /** Whether the service key is signed with a public secret. It is then not accepted here. */
  readonly isServiceKeyPublic: () => boolean
}

/** Whether the Authorization header contains the control token. Takes constant time. */
export function hasControlToken(authorization: string | undefined, token: string): boolean {
  return token !== '' && isSameSecret(bearerTokenIn(authorization), token)
}

/**
 * Accepts the control token, and a service key that is not public. Otherwise rejects with a 401, or with a 403 for a
 * valid credential that is not enough.
 */
export async function requireControl(authorization: string | undefined, keys: ControlKeys): Promise<void> {
  if (authorization === undefined) throw missingControlToken()
  if (hasControlToken(authorization, keys.token())) return
  const caller = await callerOf(authorization, keys.identify)
  if (!caller) throw unknownControlToken()
  if (caller.kind !== 'service') throw notForControl()
  if (keys.isServiceKeyPublic()) throw publicServiceKey()
}

/** Returns `undefined` if the credential is not accepted. */
async function callerOf(authorization: string, identify: Identify): Promise<Caller | undefined> {
  try {
    return await identify(authorization)
  } catch (error) {
    if (error instanceof PlatformError && error.status === 401) return undefined
    throw error
  }
}
