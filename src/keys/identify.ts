/** Identifies the caller by the Authorization header, and decides whether that caller may. */
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

/** Credentials that are remembered at most; beyond it the oldest is forgotten and looked up again when it comes back. */
const REMEMBERED = 10_000

/**
 * Gives back the caller at once where it can, and a promise only where a credential has to be looked up first.
 * Throws (or rejects with) a 401 that says what was wrong with the credential.
 */
export type Identify = (authorization: string | undefined) => Caller | Promise<Caller>

/** A good credential. */
export interface Known {
  readonly caller: Caller
  /** When it stops, in milliseconds since 1970. */
  readonly expiresAtMs: number
  /** Whether a live backend has set it: there it is the real time, whatever the clock here shows. */
  readonly isLive?: boolean
}

interface Remembered extends Known {
  readonly lookedUpAtMs: number
}

/** Finds the holder of a token of the auth backend. */
export interface TokenHolders {
  /**
   * Rejects with a 401 that says what is wrong with the token. What is no JWT at all is handed to `asKey` with the 401 for that: an API key
   * may have two dots as well.
   */
  find(token: string, asKey: (otherwise: PlatformError) => Promise<Known>): Promise<Known>
}

interface Parts {
  readonly tokens: TokenHolders
  readonly apiKeys: Pick<ApiKeys, 'find' | 'used'>
  readonly now?: () => number
}

/** What has to be called when a credential may no longer be good. */
export interface Doorkeeper {
  readonly identify: Identify
  /** Forgets what it remembers: something was revoked. */
  forget(): void
}

/** Joins the two kinds of credential: JWTs, known by their two dots, and API keys. */
export function createDoorkeeper({ tokens, apiKeys, now = Date.now }: Parts): Doorkeeper {
  // Verifying a signature costs more than all the rest of a request, and its result holds until it expires or is revoked. By the header as it
  // came: finding and hashing the token in it would take longer than all of this. By hand, since every request asks: a cache that keeps the
  // order of use would write with each of them.
  const remembered = new Map<string, Remembered>()
  let revocations = 0

  async function lookUp(secret: string, header: string): Promise<Caller> {
    const before = revocations
    const beganMs = now()
    const known: Known = isJwt(secret) ? await tokens.find(secret, keyOr(secret)) : await apiKeys.find(secret)
    // What was revoked while it was being looked up must not be remembered.
    if (before === revocations) {
      if (remembered.size >= REMEMBERED) remembered.delete(remembered.keys().next().value as string)
      remembered.set(header, { ...known, lookedUpAtMs: known.isLive ? 0 : beganMs })
    }
    if (known.caller.kind === 'apiKey') apiKeys.used(known.caller.id, now())
    return known.caller
  }

  /** Where there is no such key, a token was meant; where there is one, the refusal says what is wrong with it. */
  const keyOr = (secret: string) => (otherwise: PlatformError) =>
    apiKeys.find(secret).catch(error => {
      throw error instanceof PlatformError && isNoKey(error) ? otherwise : error
    })

  return {
    identify(header) {
      const known = remembered.get(header ?? '')
      if (known === undefined) return lookUp(bearerToken(header), header ?? '')
      const nowMs = known.isLive ? Date.now() : now()
      // A clock that was moved back may be in the middle of what had passed by then, such as a ban.
      if (known.expiresAtMs <= nowMs || known.lookedUpAtMs > nowMs) {
        remembered.delete(header ?? '')
        return lookUp(bearerToken(header), header ?? '')
      }
      if (known.caller.kind === 'apiKey') apiKeys.used(known.caller.id, nowMs)
      return known.caller
    },
    forget() {
      revocations++
      remembered.clear()
    },
  }
}

const isNoKey = ({ code }: PlatformError) => code === unknownApiKey().code || code === mistypedApiKey().code

const spent = new Set([revokedApiKey().code, expiredApiKey().code, ownerlessApiKey().code])

/** Whether an error says that an API key exists and is no longer good. */
export const isOfSpentKey = (error: unknown) => error instanceof PlatformError && spent.has(error.code)

function isJwt(token: string): boolean {
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  return first > 0 && second > 0 && token.indexOf('.', second + 1) < 0
}

/** Scheme in any case, one space or more, one token of RFC 6750's alphabet. */
const bearer = /^bearer +([\w.~+/-]+=*) *$/i

/**
 * The token of the header's value. Throws a 401 that says what is wrong with it.
 * A header that was sent twice arrives here joined by a comma, which no token contains.
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

/** Throws the usual 401 for what is missing or malformed. Limits know the caller by its credential, and that cannot be read. */
export const identifyPassed: Identify = authorization => ({
  kind: 'stranger',
  id: hash('sha256', bearerToken(authorization), 'hex').slice(0, 16),
})

/** Returns when the caller may ask `endpoint`, or the live platform is to say; throws a 401 that names the kinds it takes otherwise. */
export function authorize(caller: Caller, { access, method, path }: Endpoint): void {
  if (access === 'anyone' || caller.kind === 'stranger') return
  if (caller.kind === 'anonymous' || caller.kind === 'refused') throw missingCredential()
  if (!access.includes(caller.kind)) throw wrongKind(caller.kind, access, `${method} ${path}`)
}
