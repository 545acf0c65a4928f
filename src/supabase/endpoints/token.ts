/** POST /auth/v1/token: exchanges a password, a refresh token, a PKCE code or an ID token for a session. */

import type { Exchange } from '../../core/exchange.js'
import type { Reply } from '../../core/reply.js'
import { isBanned } from '../../state/rows.js'
import type { Backend } from '../backend.js'
import { authenticate } from '../callers.js'
import {
  badIdToken,
  emailNotConfirmed,
  flowStateNotFound,
  invalidCredentials,
  phoneNotConfirmed,
  unknownGrantType,
  userBanned,
  validationFailed,
  web3Disabled,
} from '../errors.js'
import { matchesHash, weaknessOf } from '../passwords.js'
import { providerTokens } from '../providers.js'
import {
  endFlow,
  endSessions,
  endSessionsOf,
  type Grant,
  isRefreshToken,
  refreshSession,
  startSession,
} from '../sessions.js'
import { formatPhone, type UserAddress } from '../users.js'
import { requirePhones } from './addresses.js'
import { readParams } from './forms.js'
import { emptyReply, forAnyone, forUser, queryOf, sessionReply } from './frame.js'

const byPasswordFields = { email: 'string', phone: 'string', password: 'string' } as const
const byRefreshTokenFields = { refresh_token: 'string' } as const
const byAuthCodeFields = { auth_code: 'string', code_verifier: 'string' } as const
const byIdTokenFields = {
  provider: 'string',
  id_token: 'string',
  nonce: 'string',
  client_id: 'string',
  issuer: 'string',
  link_identity: 'boolean',
} as const

export const token = forAnyone({
  at: 'POST /token',
  reply(backend, exchange) {
    switch (queryOf(exchange).get('grant_type')) {
      case 'password':
        return byPassword(backend, exchange)
      case 'refresh_token':
        return byRefreshToken(backend, exchange)
      case 'pkce':
        return byAuthCode(backend, exchange)
      case 'id_token':
        return byIdToken(backend, exchange)
      case 'web3':
        throw web3Disabled()
      default:
        throw unknownGrantType()
    }
  },
})

async function byPassword(backend: Backend, exchange: Exchange): Promise<Reply> {
  const { email, phone, password } = readParams(exchange, byPasswordFields)
  if (email !== '' && phone !== '') {
    throw validationFailed('Only an email address or phone number should be provided on login.')
  }
  if (email === '' && phone === '') throw validationFailed('missing email or phone')

  if (email === '') requirePhones(backend, 'Phone logins are disabled', 422)
  const address = email !== '' ? { email: email.toLowerCase() } : { phone: formatPhone(phone) }
  const grant = await signInWith(backend, address, password)
  const weakness = weaknessOf(password, backend.settings)
  return sessionReply(backend, exchange, grant, weakness && { weak_password: weakness })
}

async function signInWith(backend: Backend, address: UserAddress, password: string): Promise<Grant> {
  const [user] = await backend.state.read(({ users }) => users.find(address))
  const storedHash = user?.encrypted_password ?? null
  if (user && storedHash !== null && isBanned(user, backend.now())) throw userBanned()
  const isCorrect = await matchesHash(password, storedHash)
  if (!user) throw invalidCredentials('This state has no user with that address.')
  if (storedHash === null) throw invalidCredentials('The user has no password.')
  if (!isCorrect) throw wrongPassword()
  if ('email' in address && user.email_confirmed_at === null) throw emailNotConfirmed()
  if ('phone' in address && user.phone_confirmed_at === null) throw phoneNotConfirmed()
  return backend.state.write(async tables => {
    const current = await tables.users.get(user.id)
    // Somebody has changed the password while this one was being checked.
    if (current?.encrypted_password !== storedHash) throw wrongPassword()
    return startSession(backend, tables, current, 'password')
  })
}

const wrongPassword = () => invalidCredentials('The user has another password.')

async function byRefreshToken(backend: Backend, exchange: Exchange): Promise<Reply> {
  const { refresh_token: refreshToken } = readParams(exchange, byRefreshTokenFields)
  if (!isRefreshToken(refreshToken)) throw validationFailed('Refresh token is not valid')
  const refreshed = await backend.state.write(tables => refreshSession(backend, tables, refreshToken))
  // Thrown only here, so that the end of the token family is committed although the response is an error.
  if ('refusal' in refreshed) throw refreshed.refusal
  return sessionReply(backend, exchange, refreshed.grant)
}

async function byAuthCode(backend: Backend, exchange: Exchange): Promise<Reply> {
  const { auth_code, code_verifier } = readParams(exchange, byAuthCodeFields)
  if (auth_code === '' || code_verifier === '') {
    throw validationFailed('invalid request: both auth code and code verifier should be non-empty')
  }
  const { flow, grant } = await backend.state.write(async tables => {
    const flow = await endFlow(backend, tables, auth_code, code_verifier)
    const user = flow.user_id === null ? undefined : await tables.users.get(flow.user_id)
    if (!user) throw flowStateNotFound()
    return { flow, grant: await startSession(backend, tables, user, flow.authentication_method) }
  })
  const { provider, is_offline } = flow
  return sessionReply(backend, exchange, grant, provider === null ? {} : providerTokens(provider, is_offline))
}

async function byIdToken(backend: Backend, exchange: Exchange): Promise<Reply> {
  const params = readParams(exchange, byIdTokenFields)
  const { provider, id_token, client_id, issuer, link_identity } = params
  if (id_token === '') throw badIdToken('id_token required')
  if (provider === '' && (client_id === '' || issuer === '')) {
    throw badIdToken('provider or client_id and issuer required')
  }
  if (link_identity && exchange.authorization === undefined) {
    throw badIdToken('Linking requires a valid user access token in Authorization')
  }
  const linking = link_identity ? await authenticate(backend, exchange.authorization) : undefined
  const { grantByIdToken } = await import('../id-tokens.js')
  return sessionReply(backend, exchange, await grantByIdToken(backend, params, linking?.user.id))
}

/** Ends the session of the token, all sessions of its user, or all others. */
export const logout = forUser({
  at: 'POST /logout',
  async reply(backend, exchange, { user, session }) {
    const scope = queryOf(exchange).get('scope') || 'global'
    if (!['global', 'local', 'others'].includes(scope)) {
      throw validationFailed(`Unsupported logout scope "${scope}"`)
    }
    await backend.state.write(async tables => {
      if (scope === 'local' && session) return endSessions(tables, [session])
      return endSessionsOf(tables, user.id, scope === 'others' ? session?.id : undefined)
    })
    return emptyReply(204)
  },
})
