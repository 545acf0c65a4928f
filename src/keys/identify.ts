/** Identifies the caller by the Authorization header, and checks the caller's access. */
import { hash } from 'node:crypto'
import {
  doubledCredential,
  emptyCredential,
  expiredApiKey,
  malformedCredential,
  missingCredential,
  mistypedApiKey,
  ownerlessApiKey,
  PlatformError,
  revokedApiKey,
  unknownApiKey,
  wrongKind,
  wrongScheme,
} from '../core/errors.js'
import type { Caller, Endpoint } from '../core/exchange.js'
import type { ApiKeys } from './api-keys.js'

/** The maximum number of cached credentials. Beyond that the oldest is dropped, and looked up again at its next use. */
const MOST_CACHED = 10_000

/**
 * Returns the caller at once if possible, and a promise only if a credential has to be looked up. Throws or rejects
 * with a 401 that says what is wrong with the credential.
 */
export type Identify = (authorization: string | undefined) => Caller | Promise<Caller>

/** A valid credential. */
export interface ValidCredential {
  readonly caller: Caller
  /** When it expires, in milliseconds since 1970. */
  readonly expiresAtMs: number
  /** Whether a live backend has set the expiry. It then refers to the real time, whatever the clock here shows. */
  readonly isLive?: boolean
}

interface CachedCredential extends ValidCredential {
  readonly lookedUpAtMs: number
}

/** Finds the holder of a token of the auth backend. */
export interface TokenHolders {
  /**
   * Rejects with a 401 that says what is wrong with the token. A text that is not a JWT is passed to `findKey` along
   * with that 401, because an API key may have two dots as well.
   */
  find(token: string, findKey: (tokenError: PlatformError) => Promise<ValidCredential>): Promise<ValidCredential>
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

const credentialOf = (secret: string, { tokens, apiKeys }: Omit<Parts, 'now'>): Promise<ValidCredential> =>
  isJwt(secret) ? tokens.find(secret, findKeyOrThrow(apiKeys, secret)) : apiKeys.find(secret)

/** Looks the secret up as an API key. If there is no such key, it was meant as a token, so rejects with the token's error. */
const findKeyOrThrow = (apiKeys: Parts['apiKeys'], secret: string) => (tokenError: PlatformError) =>
  apiKeys.find(secret).catch(error => {
    throw error instanceof PlatformError && isUnknownKey(error) ? tokenError : error
  })

const isUnknownKey = ({ code }: PlatformError) => code === unknownApiKey().code || code === mistypedApiKey().code

const invalidKeyCodes = new Set([revokedApiKey().code, expiredApiKey().code, ownerlessApiKey().code])

/** Whether an error says that an API key exists but is no longer valid. */
export const isInvalidKeyError = (error: unknown) => error instanceof PlatformError && invalidKeyCodes.has(error.code)

function isJwt(token: string): boolean {
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  return first > 0 && second > 0 && token.indexOf('.', second + 1) < 0
}

/** The scheme in any case, one or more spaces, and a token of RFC 6750's characters. */
const bearer = /^bearer +([\w.~+/-]+=*) *$/i

/**
 * Returns the token in the header. Throws a 401 that says what is wrong with it. Two headers arrive joined by a comma,
 * which no token contains.
 */
function bearerToken(header: string | undefined): string {
  const token = header !== undefined && bearer.exec(header)?.[1]
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
