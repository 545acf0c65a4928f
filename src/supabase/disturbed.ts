/** Plays faults of sessions: what has happened at Supabase Auth when a request arrives. */
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { SessionFault } from '../core/fault.js'
import { bearerTokenIn } from '../core/http.js'
import { isObject, jsonOf, unverifiedFields } from '../core/json.js'
import type { Backend } from './backend.js'
import { proveAddress } from './codes.js'
import { proofOf } from './endpoints/verify.js'
import { marksOf } from './marks.js'
import { endSessions, refreshElsewhere } from './sessions.js'
import { TokenRefusal } from './tokens.js'

/** Resolves to whether it can happen to this request: it has a session, a refresh token, or a link that is valid. */
export async function disturbSession(backend: Backend, exchange: Exchange, what: SessionFault): Promise<boolean> {
  if (what === 'refresh-used') return useRefreshToken(backend, exchange)
  if (what === 'link-used') return openLink(backend, exchange)
  const token = bearerTokenIn(exchange.authorization)
  const holder = await holderOf(backend, token)
  if (!holder) return false
  await disturb(backend, { ...holder, token }, what)
  return true
}

interface Holder {
  readonly token: string
  readonly session: string
  readonly user: string
}

/** Of a token that would be accepted; `undefined` for any other, and for one without a session. */
async function holderOf({ state, tokens }: Backend, token: string): Promise<Omit<Holder, 'token'> | undefined> {
  try {
    const { session_id: session, sub: user } = await marksOf(state).verify(token, tokens)
    return session === undefined || user === undefined ? undefined : { session, user }
  } catch (error) {
    if (error instanceof TokenRefusal) return undefined
    throw error
  }
}

const BAN_MS = 86_400_000

async function disturb(
  { state, now }: Backend,
  { token, session, user }: Holder,
  what: Exclude<SessionFault, 'refresh-used' | 'link-used'>,
): Promise<void> {
  const marks = marksOf(state)
  switch (what) {
    case 'revoked':
      return state.write(tables => endSessions(tables, [{ id: session }]))
    case 'banned':
      return state.write(tables => tables.users.update(user, { banned_until: new Date(now() + BAN_MS).toISOString() }))
    case 'key-rotated':
      // As the old key is called in the error, if it has a name.
      marks.refuse(token, unverifiedFields(token.split('.', 1)[0]).kid === undefined ? 'signature' : 'unknown-key')
      return marks.replaceKey(session, now)
    case 'clock-ahead':
      marks.refuse(token, 'expired')
      return marks.putAhead(session)
  }
}

async function useRefreshToken(backend: Backend, { body }: Exchange): Promise<boolean> {
  const params = body && jsonOf(body)
  if (!isObject(params) || typeof params.refresh_token !== 'string') return false
  const { refresh_token: token } = params
  return backend.state.write(tables => refreshElsewhere(backend, tables, token))
}

/** As the scanner of a mail server does, before the person can. */
async function openLink(backend: Backend, exchange: Exchange): Promise<boolean> {
  try {
    await backend.state.write(tables => proveAddress(backend, tables, proofOf(exchange)))
    return true
  } catch (error) {
    if (error instanceof PlatformError) return false
    throw error
  }
}
