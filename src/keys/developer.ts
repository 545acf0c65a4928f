/** Checks whether the caller is the developer, who has the control token or the service key. */
import {
  missingControlToken,
  notForControl,
  PlatformError,
  publicServiceKey,
  unknownControlToken,
} from '../core/errors.js'
import type { Caller } from '../core/exchange.js'
import { isSameSecret } from '../core/secrets.js'
import type { Identify } from './identify.js'

/** What the control API accepts as a credential. */
export interface ControlKeys {
  /** Empty if there is none. */
  readonly token: () => string
  readonly identify: Identify
  /** Whether the service key is signed with a public secret. It is then not accepted here. */
  readonly isServiceKeyPublic: () => boolean
}

/** Whether the Authorization header contains the control token. Takes constant time. */
export function hasControlToken(authorization: string | undefined, token: string): boolean {
  const [, bearerToken = ''] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
  return token !== '' && isSameSecret(bearerToken, token)
}

/**
 * Accepts the control token, and a service key that is not public. Otherwise rejects with a 401, or with a 403 for a
 * valid credential that is not enough.
 */
export async function requireControl(authorization: string | undefined, keys: ControlKeys): Promise<void> {
  if (authorization === undefined) throw missingControlToken()
  if (hasControlToken(authorization, keys.token())) return
  const caller = await callerOf(authorization, keys.identify)
  if (!caller) throw unknownControlToken()
  if (caller.kind !== 'service') throw notForControl()
  if (keys.isServiceKeyPublic()) throw publicServiceKey()
}

/** Returns `undefined` if the credential is not accepted. */
async function callerOf(authorization: string, identify: Identify): Promise<Caller | undefined> {
  try {
    return await identify(authorization)
  } catch (error) {
    if (error instanceof PlatformError && error.status === 401) return undefined
    throw error
  }
}
