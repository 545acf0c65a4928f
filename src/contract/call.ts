/** A call to a target: the request, its credentials, and the answer. */
import { unverifiedFields } from '../core/json.js'

/** The credentials for a target. Clauses that need a missing one are not checked. */
export interface TargetCredentials {
  readonly apiKey?: string | undefined
  readonly anonKey?: string | undefined
  readonly email?: string | undefined
  readonly password?: string | undefined
}

/** One request. */
export interface Call {
  readonly to: 'platform' | 'auth'
  readonly method: string
  /** With the query, relative to the base URL. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether its body and that of its answer are left out of reports. */
  readonly isPrivate?: true
}

/** A complete answer. */
export interface ReceivedAnswer {
  readonly kind: 'answered'
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** An answer, or the reason why there is none. */
export type CallResult = ReceivedAnswer | { readonly kind: 'unanswered'; readonly why: string }

/** Sends a call. Rejects with an Error that says why there was no answer. */
export type Send = (call: Call, signal: AbortSignal) => Promise<ReceivedAnswer>

/** Thrown if a call cannot be made, with the reason. The clause is skipped then, not broken. */
export class CallNotMade extends Error {
  override readonly name = 'CallNotMade'
}

/** A model that no platform has. */
export const UNKNOWN_MODEL = 'there-is-no-such-model'

/** A request and its answer without secrets, for display. */
export interface ShownCall {
  readonly asked: string
  readonly answered: string
}

const jwtPart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Valid until 2286, so that only the signature can be the reason for a refusal. */
const claims = {
  role: 'authenticated',
  aud: 'authenticated',
  sub: '00000000-0000-4000-8000-000000000000',
  exp: 9999999999,
}

/** The anon key with a wrong signature but its own claims; if it is not a JWT, a made-up user token. */
export function forgedToken(anonKey = ''): string {
  const [header, payload, signature, ...rest] = anonKey.split('.')
  if (!header || !payload || !signature || rest.length > 0) {
    return [jwtPart({ alg: 'HS256', typ: 'JWT' }), jwtPart(claims), 'A'.repeat(43)].join('.')
  }
  const otherLetter = signature.startsWith('A') ? 'B' : 'A'
  return [header, payload, otherLetter + signature.slice(1)].join('.')
}

/**
 * A user token with a wrong signature, and the header and issuer of the anon key. A target that only looks at claims
 * accepts it even where an anon key is not enough.
 */
export function forgedUserToken(anonKey = ''): string {
  const [header, payload] = anonKey.split('.')
  const { iss } = unverifiedFields(payload)
  const isJwt = header !== undefined && iss !== undefined
  const jwtHeader = isJwt ? header : jwtPart({ alg: 'HS256', typ: 'JWT' })
  return [jwtHeader, jwtPart({ ...(isJwt && { iss }), ...claims }), 'A'.repeat(43)].join('.')
}

/** A token that claims to need no signature. */
export const unsignedToken = () => `${jwtPart({ alg: 'none', typ: 'JWT' })}.${jwtPart(claims)}.`
