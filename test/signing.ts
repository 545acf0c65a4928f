/** Signs tokens as the auth backend would, and forged ones. */
import { importJWK, type JWTPayload, SignJWT } from 'jose'
import { developmentSecret, developmentSigningKey } from '../src/core/secrets.js'

/** Claims to add, to change, or (undefined) to leave out. */
type Claims = { readonly [claim: string]: unknown }

/** The time `seconds` from now, as JWTs write it. */
export const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

export const ada = { sub: '6c8b5a0e-9a41-4c86-8b1e-0f3f4d6c2a11', email: 'ada@example.com' }

/** The token of a signed-in user, ES256. */
export const userToken = (claims: Claims = {}) =>
  signed({ role: 'authenticated', ...ada, ...claims }, 'ES256', developmentSigningKey)

/** A token signed with a shared secret, HS256, as the anon and the service key are. */
export const secretToken = (claims: Claims = {}, secret: string | Uint8Array = developmentSecret) =>
  signed(claims, 'HS256', { kty: 'oct', k: Buffer.from(secret).toString('base64url') })

/** An unsigned token, with the algorithm `none`. */
export const unsignedToken = (claims: Claims = {}) =>
  `${encoded({ alg: 'none', typ: 'JWT' })}.${encoded({ exp: inSeconds(3600), ...claims })}.`

/** A part of a JWT. */
export const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')

async function signed(claims: Claims, alg: string, key: Parameters<typeof importJWK>[0]): Promise<string> {
  const payload = { exp: inSeconds(3600), ...claims } as JWTPayload
  const kid = 'kid' in key ? { kid: key.kid } : {}
  return new SignJWT(payload).setProtectedHeader({ alg, typ: 'JWT', ...kid }).sign(await importJWK(key, alg))
}
