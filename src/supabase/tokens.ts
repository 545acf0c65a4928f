/** Signs and verifies JWTs, and says why one is refused. The only file that imports `jose`. */
import { type CryptoKey, errors, importJWK, type JWK, jwtVerify, SignJWT } from 'jose'
import type { RefusedCredential } from '../core/caller.js'
import { unverifiedFields } from '../core/json.js'
import { developmentSecret, developmentSigningKey } from '../core/secrets.js'
import { once } from '../core/work.js'

type TokenReason = (RefusedCredential & { readonly kind: 'token' })['reason']

/** What is wrong with the token itself, apart from its session and its user. */
export type TokenFault = Exclude<TokenReason, 'role' | 'session' | 'user' | 'live'>

interface TokenHeader {
  readonly alg?: string | undefined
  readonly kid?: string | undefined
}

/** Why a token is refused. Each layer turns it into its own message. */
export class TokenRefusal extends Error {
  override readonly name = 'TokenRefusal'
  readonly tried: RefusedCredential

  /** `claims` are those of a token whose signature is valid. */
  constructor(
    readonly fault: TokenFault,
    readonly header: TokenHeader = {},
    claims: { readonly email?: unknown } = {},
  ) {
    super(`The token is refused: ${fault}.`)
    this.tried = triedToken(fault, claims)
  }
}

/** The journal keeps no more of the address in an unverified token. */
const LONGEST_EMAIL = 254

export const triedToken = (reason: TokenReason, { email }: { readonly email?: unknown }): RefusedCredential => ({
  kind: 'token',
  reason,
  ...(typeof email === 'string' && email !== '' && { email: email.slice(0, LONGEST_EMAIL) }),
})

/** A private key (JWK) as Supabase Auth takes it. Its `key_ops` say what it is for. */
interface SigningKey {
  readonly kty: string
  readonly kid: string
  readonly alg: string
  readonly key_ops?: readonly string[] | undefined
}

export type Payload = Readonly<Record<string, unknown>>

/** The claims of a verified token. Spelled out, so that users of the types do not need `jose`. */
export type Claims = Payload & {
  readonly sub?: string
  readonly exp?: number
  readonly role?: string
  readonly email?: string
  readonly session_id?: string
}

export interface Tokens {
  /** The anon key of this platform. The same secret gives the same key on every machine. */
  readonly anonKey: string
  /** The service key, which depends on the secret in the same way. */
  readonly serviceKey: string
  /** The public keys for verifying user tokens, as a JWK set; empty if they are signed with a shared secret. */
  readonly jwks: { readonly keys: readonly object[] }
  /** Creates a key like the anon or service key, with its own expiry (seconds since 1970). */
  signKey(role: 'anon' | 'service_role', exp: number): Promise<string>
  sign(claims: Payload): Promise<string>
  /** Verifies signature, times and types. Rejects with a TokenRefusal that says which of them is wrong. */
  verify(token: string): Promise<Claims>
}

interface TokenParts {
  readonly jwtSecret: string
  /**
   * The key with `sign` in its `key_ops` signs; all of them verify. By default the development key signs, or a
   * configured secret.
   */
  readonly signingKeys?: readonly SigningKey[] | undefined
  readonly now?: () => number
}

// Fixed times, so that the keys are the same at every start.
const issuedAtSeconds = 1_767_225_600 // 2026-01-01
export const keysExpireAtSeconds = 2_082_758_400 // 2036-01-01

/** A key, and the header values of tokens that it signs. */
interface Key {
  readonly alg: string
  readonly kid?: string | undefined
  readonly signing?: CryptoKey | Uint8Array
  readonly verifying: CryptoKey | Uint8Array
  readonly published?: object
}

/**
 * Creates the platform's keys: `jwtSecret` (HS256) signs the anon and service key, a signing key signs users' tokens.
 */
export async function createTokens({ jwtSecret, signingKeys, now = Date.now }: TokenParts): Promise<Tokens> {
  // A platform with its own secret must not accept tokens signed with the public development key.
  const isDevelopment = jwtSecret === developmentSecret
  const { secret, ...secretKeys } = await (isDevelopment ? developmentKeys() : keysFromSecret(jwtSecret))
  const configured = signingKeys?.map(importKey) ?? (isDevelopment ? [importDevelopmentKey()] : [])
  const keys = await Promise.all(configured)
  const userKey = keys.find(({ signing }) => signing) ?? secret
  const algorithms = [...new Set(['HS256', ...keys.map(({ alg }) => alg)])]
  const keyFor = createKeyFor(secret, keys)

  return {
    ...secretKeys,
    jwks: { keys: keys.flatMap(({ published }) => published ?? []) },
    sign: claims => signJwt(claims, userKey),
    async verify(token) {
      // jose accepts base64 with padding; RFC 7515 §2 does not.
      if (token.endsWith('=') || token.split('.').length !== 3) throw new TokenRefusal('malformed')
      try {
        const { payload } = await jwtVerify(token, keyFor, { algorithms, currentDate: new Date(now()) })
        return wellTyped(payload)
      } catch (error) {
        throw refusalOf(error, token)
      }
    },
  }
}

const signJwt = (claims: Payload, { alg, kid, signing }: Key) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg, typ: 'JWT', ...(kid !== undefined && { kid }) })
    .sign(signing as CryptoKey)

async function keysFromSecret(jwtSecret: string) {
  const secret = await sharedKey({ kty: 'oct', k: Buffer.from(jwtSecret).toString('base64url'), alg: 'HS256' })
  const signKey: Tokens['signKey'] = (role, exp) =>
    signJwt({ role, iss: 'standin', iat: Math.min(issuedAtSeconds, exp), exp }, secret)
  const anonKey = await signKey('anon', keysExpireAtSeconds)
  return { secret, anonKey, serviceKey: await signKey('service_role', keysExpireAtSeconds), signKey }
}

// Tests start many platforms in one process, most of them with these keys.
const developmentKeys = once(() => keysFromSecret(developmentSecret))
const importDevelopmentKey = once(() => importKey(developmentSigningKey))

/**
 * Finds the key by its id. It must be of the token's algorithm, so that a public key is never used as an HMAC secret.
 */
function createKeyFor(secret: Key, keys: readonly Key[]) {
  const byId = new Map(keys.map(key => [key.kid, key]))
  return ({ alg, kid }: TokenHeader) => {
    const key = kid === undefined && alg === 'HS256' ? secret : byId.get(kid)
    if (!key) throw new TokenRefusal('unknown-key', { alg, kid })
    if (key.alg !== alg) throw new TokenRefusal('signature', { alg, kid })
    return key.verifying
  }
}

/** Converts an error of jose into a refusal. Other errors are returned unchanged. */
function refusalOf(error: unknown, token: string): unknown {
  if (!(error instanceof errors.JOSEError)) return error
  const claims = 'payload' in error ? (error.payload as Claims) : {}
  return new TokenRefusal(faultOf(error), headerOf(token), claims)
}

async function sharedKey(jwk: JWK): Promise<Key & { alg: string }> {
  const key = await importJWK(jwk)
  return { alg: 'HS256', signing: key, verifying: key }
}

async function importKey(key: SigningKey): Promise<Key> {
  const { alg, kid, key_ops } = key
  const signs = key_ops === undefined || key_ops.includes('sign')
  const jwk = key as JWK
  if (jwk.kty === 'oct') {
    const { signing, ...shared } = await sharedKey(jwk)
    return { ...shared, kid, ...(signs && signing && { signing }) }
  }
  const published = { ...publicHalf({ ...jwk }), use: 'sig', key_ops: ['verify'] }
  const verifying = await importJWK({ ...published, ext: true }, alg)
  const { key_ops: _ops, ...withoutOps } = jwk
  return { alg, kid, verifying, published, ...(signs && { signing: await importJWK(withoutOps, alg) }) }
}

/** The public members of a key. They are listed by name, so that nothing else is published. */
const publicHalf = (jwk: Readonly<Record<string, unknown>>): JWK =>
  Object.fromEntries(
    ['kty', 'crv', 'alg', 'kid', 'x', 'y', 'n', 'e'].filter(name => name in jwk).map(name => [name, jwk[name]]),
  )

const headerOf = (token: string): TokenHeader => unverifiedFields(token.split('.', 1)[0])

function faultOf(error: errors.JOSEError): TokenFault {
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) return error.claim === 'nbf' ? 'not-yet' : 'times'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature'
  return 'unreadable'
}

const textClaims = ['iss', 'sub', 'email', 'role', 'session_id']

/**
 * Returns the claims without those that are null, which count as missing. Throws a TokenRefusal for a claim of a wrong
 * type.
 */
function wellTyped<C extends Payload>(payload: C): C {
  const claims = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null))
  const texts = [...textClaims.map(claim => claims[claim]), ...[claims.aud].flat()]
  if (texts.some(text => text !== undefined && typeof text !== 'string')) throw new TokenRefusal('claims')
  return claims as C
}
