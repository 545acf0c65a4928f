/** Says who asks where only the live platform can: whoever sends a credential that is well formed. */
import { digestOf } from '../core/secrets.js'
import { bearerToken } from './bearer.js'
import type { Identify } from './identify.js'

/** Throws the same 401 as ever for what is missing or malformed. Limits know the caller by its credential, and nobody can read that. */
export const identifyPassed: Identify = authorization => ({
  kind: 'stranger',
  id: digestOf(bearerToken(authorization)).slice(0, 16),
})
