/** The API keys that are known, by the SHA-256 of their secrets. */
import { hash, timingSafeEqual } from 'node:crypto'
import { expiredApiKey, revokedApiKey, unknownApiKey } from '../core/errors.js'
import type { Caller } from '../core/exchange.js'

/** A key as it is configured. */
export interface ApiKeySeed {
  readonly name: string
  readonly key: string
  /** An ISO 8601 time. */
  readonly expiresAt?: string | undefined
  readonly revoked: boolean
}

export interface ApiKeys {
  /** Whether a key with this digest exists, in whatever state. */
  has(digest: string): boolean
  /** The caller who holds the key with this digest (SHA-256, hex). Throws a 401: unknown, revoked or expired. */
  get(digest: string): Caller
}

export const digestOf = (secret: string) => hash('sha256', secret, 'hex')

/** Keeps the digests of `seeds`; the secrets themselves are let go. */
export function createApiKeys(seeds: readonly ApiKeySeed[], now: () => number = Date.now): ApiKeys {
  const keys = new Map(
    seeds.map(({ name, key, expiresAt, revoked }) => {
      const digest = digestOf(key)
      const expiresAtMs = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
      return [digest, { bytes: Buffer.from(digest), caller: { kind: 'apiKey', name } as const, expiresAtMs, revoked }]
    }),
  )
  return {
    has: digest => keys.has(digest),
    get(digest) {
      const key = keys.get(digest)
      // Finding it by its digest tells an attacker nothing of use; comparing in constant time costs as good as nothing.
      if (!key || !timingSafeEqual(key.bytes, Buffer.from(digest))) throw unknownApiKey()
      if (key.revoked) throw revokedApiKey()
      if (key.expiresAtMs <= now()) throw expiredApiKey()
      return key.caller
    },
  }
}
