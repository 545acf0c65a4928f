/** Signs and verifies JWTs. The one door of the package `jose`. */
import { errors, importJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { developmentSigningKey } from '../core/development.js'
import {
  expiredToken,
  malformedToken,
  type PlatformError,
  roleUnknown,
  tokenNotYetValid,
  tokenWithoutExpiry,
  unsignedToken,
  wronglySignedToken,
} from '../core/errors.js'
import type { Caller } from '../core/exchange.js'

/** What a verified token says. */
export interface VerifiedToken {
  readonly caller: Caller
  /** When it stops being valid, in milliseconds since 1970. */
  readonly expiresAtMs: number
}

export interface Tokens {
  /** The anon key of this platform: the same string for the same secret, on every machine. */
  readonly anonKey: string
  /** The service key, likewise. */
  readonly serviceKey: string
  /** The public keys that user tokens can be verified with, as a JWK set. */
  readonly jwks: { readonly keys: readonly object[] }
  /** Verifies signature, times and role. Rejects with a 401 that says which of them is wrong. */
  verify(token: string): Promise<VerifiedToken>
}

// Fixed times, or the keys would differ from start to start.
const issuedAtSeconds = 1_767_225_600 // 2026-01-01
const expiresAtSeconds = 2_082_758_400 // 2036-01-01

/** Makes the keys from `jwtSecret` (HS256: anon and service) and the development key (ES256: users). */
export async function createTokens({ jwtSecret }: { jwtSecret: string }): Promise<Tokens> {
  const secret = await importJWK({ kty: 'oct', k: Buffer.from(jwtSecret).toString('base64url'), alg: 'HS256' })
  const { d: _private, ...publicKey } = developmentSigningKey
  const publicHalf = await importJWK(publicKey)
  const mint = (role: string) =>
    new SignJWT({ role })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer('standin')
      .setIssuedAt(issuedAtSeconds)
      .setExpirationTime(expiresAtSeconds)
      .sign(secret)

  return {
    anonKey: await mint('anon'),
    serviceKey: await mint('service_role'),
    jwks: { keys: [publicKey] },
    async verify(token) {
      // jose reads base64 with padding as well; RFC 7515 §2 leaves it out.
      if (token.endsWith('=')) throw malformedToken()
      try {
        // The key follows from the algorithm, so a public key can never be taken for an HMAC secret.
        const { payload } = await jwtVerify(token, ({ alg }) => (alg === 'HS256' ? secret : publicHalf), {
          algorithms: ['HS256', 'ES256'],
          requiredClaims: ['exp'],
        })
        return { caller: callerOf(payload), expiresAtMs: (payload.exp ?? 0) * 1000 }
      } catch (error) {
        throw error instanceof errors.JOSEError ? reasonOf(error) : error
      }
    },
  }
}

/** The role claim says what kind of caller it is, as it does for Supabase's own services. */
function callerOf({ role, sub, email }: JWTPayload): Caller {
  if (role === 'anon') return { kind: 'anon' }
  if (role === 'service_role') return { kind: 'service' }
  if (role !== 'authenticated' || typeof sub !== 'string' || sub === '') throw roleUnknown()
  return typeof email === 'string' && email !== '' ? { kind: 'user', id: sub, email } : { kind: 'user', id: sub }
}

function reasonOf(error: errors.JOSEError): PlatformError {
  if (error instanceof errors.JWTExpired) return expiredToken()
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'nbf') return tokenNotYetValid()
    return error.claim === 'exp' ? tokenWithoutExpiry() : malformedToken()
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return unsignedToken()
  if (error instanceof errors.JWSSignatureVerificationFailed) return wronglySignedToken()
  return malformedToken()
}
