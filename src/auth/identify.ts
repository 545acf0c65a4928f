/** Says who asks: from the Authorization header to a caller. */
import type { Caller } from '../core/exchange.js'
import { type ApiKeys, digestOf } from './api-keys.js'
import { bearerToken } from './bearer.js'
import type { Tokens, VerifiedToken } from './tokens.js'

/** Tokens that are remembered at most; beyond it the oldest is forgotten and verified anew when it comes back. */
const REMEMBERED = 10_000

/**
 * Gives back the caller at once where it can, and a promise only where a token has to be verified first.
 * Throws (or rejects with) a 401 that says what was wrong with the credential.
 */
export type Identify = (authorization: string | undefined) => Caller | Promise<Caller>

/** Joins the two kinds of credential: JWTs, known by their two dots, and API keys. */
export function createIdentify({ tokens, apiKeys, now = Date.now }: Parts): Identify {
  // Verifying a signature costs more than all the rest of a request, and its result holds until the token expires.
  const remembered = new Map<string, VerifiedToken>()

  async function verified(token: string, digest: string): Promise<Caller> {
    const found = await (await tokens()).verify(token)
    if (remembered.size >= REMEMBERED) remembered.delete(remembered.keys().next().value as string)
    remembered.set(digest, found)
    return found.caller
  }

  return authorization => {
    const token = bearerToken(authorization)
    const digest = digestOf(token)
    // A configured key may have two dots as well.
    if (!isJwt(token) || apiKeys.has(digest)) return apiKeys.get(digest)
    const found = remembered.get(digest)
    if (found && found.expiresAtMs > now()) return found.caller
    remembered.delete(digest)
    return verified(token, digest)
  }
}

interface Parts {
  /** A promise, so that whoever sends an API key does not wait for what only tokens need. */
  readonly tokens: () => Promise<Tokens>
  readonly apiKeys: ApiKeys
  readonly now?: () => number
}

function isJwt(token: string): boolean {
  const first = token.indexOf('.')
  const second = token.indexOf('.', first + 1)
  return first > 0 && second > 0 && token.indexOf('.', second + 1) < 0
}
