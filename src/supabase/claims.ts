/** The types of a token's claims: each must be what Supabase's server reads it as. */
import { TokenRefusal } from './token-refusal.js'

/** What a JSON value may have to be, with Go's name for that type. */
const goTypes = {
  string: 'string',
  bool: 'bool',
  object: 'map[string]interface {}',
  array: '[]models.AMREntry',
} as const

/** Those of GoTrue's AccessTokenClaims that jose does not check. `aud` may be a list as well. */
const claimTypes = {
  ...{ iss: 'string', sub: 'string', jti: 'string', email: 'string', phone: 'string', role: 'string', aal: 'string' },
  ...{ session_id: 'string', client_id: 'string', is_anonymous: 'bool' },
  ...{ app_metadata: 'object', user_metadata: 'object', amr: 'array' },
} as const satisfies Record<string, keyof typeof goTypes>

/** The claims without those that are null, which count as left out. Throws a TokenRefusal for one of a wrong type. */
export function wellTyped<C extends Readonly<Record<string, unknown>>>(payload: C): C {
  const claims = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null))
  for (const [claim, type] of Object.entries(claimTypes)) {
    if (claims[claim] !== undefined) requireType(claim, claims[claim], type)
  }
  const { aud = '' } = claims
  for (const one of Array.isArray(aud) ? aud : [aud]) requireType('aud', one, 'string')
  return claims as C
}

function requireType(claim: string, value: unknown, type: keyof typeof goTypes): void {
  if (kindOf(value) === type) return
  const why = `cannot unmarshal ${kindOf(value)} into Go struct field AccessTokenClaims.${claim} of type ${goTypes[type]}`
  throw new TokenRefusal('claims', {}, { why })
}

/** Go's name for the type of a JSON value. */
export function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
