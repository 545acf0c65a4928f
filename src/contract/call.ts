/** What a target is asked, with which credentials, and what comes back. */

/** What opens a target. What is not given is not checked. */
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
  /** With its query, below the base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether its body and that of its answer are kept from reports. */
  readonly isPrivate?: true
}

/** An answer, whole. */
export interface Answered {
  readonly kind: 'answered'
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** What came: an answer, or the reason why there is none. */
export type CallResult = Answered | { readonly kind: 'unanswered'; readonly why: string }

/** Sends a call. Rejects with an Error that says why no answer came. */
export type Send = (call: Call, signal: AbortSignal) => Promise<Answered>

/** Thrown where a call is not made, and why not: then nothing was checked, and nothing is broken. */
export class Unasked extends Error {
  override readonly name = 'Unasked'
}

/** A model that no platform lists. */
export const UNKNOWN_MODEL = 'there-is-no-such-model'

/** One request and its answer, without secrets, to be shown. */
export interface ShownCall {
  readonly asked: string
  readonly answered: string
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The year 2286: they are refused for their signature, or not at all. */
const claims = {
  role: 'authenticated',
  aud: 'authenticated',
  sub: '00000000-0000-4000-8000-000000000000',
  exp: 9999999999,
}

interface Opened {
  readonly credentials: TargetCredentials
}

/** The anon key with another signature, where that is a JWT; what it claims is true, and who says so is not. */
export function forgedToken({ credentials: { anonKey = '' } }: Opened): string {
  const [header, payload, signature, ...more] = anonKey.split('.')
  if (!header || !payload || !signature || more.length > 0) {
    return [part({ alg: 'HS256', typ: 'JWT' }), part(claims), 'A'.repeat(43)].join('.')
  }
  const other = signature.startsWith('A') ? 'B' : 'A'
  return [header, payload, other + signature.slice(1)].join('.')
}

/** Of a user, with the header and the issuer of the anon key: a target that looks at claims alone lets it in where an anon key is not enough. */
export function forgedUserToken({ credentials: { anonKey = '' } }: Opened): string {
  const [header, payload = ''] = anonKey.split('.')
  const { iss } = claimsIn(payload)
  const isJwt = header !== undefined && iss !== undefined
  const theirs = isJwt ? header : part({ alg: 'HS256', typ: 'JWT' })
  return [theirs, part({ ...(isJwt && { iss }), ...claims }), 'A'.repeat(43)].join('.')
}

function claimsIn(payload: string): { readonly iss?: unknown } {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) ?? {}
  } catch {
    return {}
  }
}

/** Says that it needs no signature. */
export const unsignedToken = () => `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`
