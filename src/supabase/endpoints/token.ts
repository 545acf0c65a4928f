/** POST /auth/v1/token: exchanges a password, a refresh token or a PKCE code for a session. */

import type { Endpoint, Exchange, Reply } from '../../core/exchange.js'
import { problemOfHash } from '../../core/secrets.js'
import { isBanned } from '../../core/state.js'
import { formatPhone, type UserAddress } from '../addresses.js'
import type { Backend } from '../backend.js'
import {
  emailNotConfirmed,
  flowStateNotFound,
  issuerDisabled,
  noPassword,
  noSuchUser,
  phoneNotConfirmed,
  unknownGrantType,
  userBanned,
  validationFailed,
  web3Disabled,
  wrongPassword,
} from '../errors.js'
import { endFlow } from '../flows.js'
import { matchesHash, rehashImported, weaknessOf } from '../passwords.js'
import { endSessions, endSessionsOf, type Grant, isRefreshToken, refreshSession, startSession } from '../sessions.js'
import { emptyReply, forAnyone, forUser, sessionReply } from './frame.js'
import { queryOf, readParams } from './params.js'
import type { About } from './says.js'

const byPasswordFields = { email: 'string', phone: 'string', password: 'string' } as const
const byRefreshTokenFields = { refresh_token: 'string' } as const
const byAuthCodeFields = { auth_code: 'string', code_verifier: 'string' } as const

const about: About = {
  id: 'signIn',
  does: 'Exchanges a password, a refresh token or a PKCE code for a session.',
  query: { grant_type: 'What is exchanged: password, refresh_token or pkce.' },
  fields: { ...byPasswordFields, ...byRefreshTokenFields, ...byAuthCodeFields },
  answer: 'session',
}

export const token = (backend: Backend): Endpoint =>
  forAnyone('POST /token', about, exchange => {
    switch (queryOf(exchange).get('grant_type')) {
      case 'password':
        return byPassword(backend, exchange)
      case 'refresh_token':
        return byRefreshToken(backend, exchange)
      case 'pkce':
        return byAuthCode(backend, exchange)
      case 'id_token':
        return byIdToken(exchange)
      case 'web3':
        throw web3Disabled()
      default:
        throw unknownGrantType()
    }
  })

async function byPassword(backend: Backend, exchange: Exchange): Promise<Reply> {
  const { settings } = backend
  const { email, phone, password } = readParams(exchange, 'PasswordGrantParams', byPasswordFields)
  if (email !== '' && phone !== '') {
    throw validationFailed('Only an email address or phone number should be provided on login.')
  }
  if (email === '' && phone === '') throw validationFailed('missing email or phone')

  const address = email !== '' ? { email: email.toLowerCase() } : { phone: formatPhone(phone) }
  const signIn = () => signInWith(backend, address, password)
  // Tries once more if the password was changed or rehashed while it was being checked.
  const grant = (await signIn()) ?? (await signIn())
  if (!grant) throw wrongPassword()
  const weakness = weaknessOf(password, settings)
  return sessionReply(backend, exchange, grant, weakness && { weak_password: weakness })
}

/** Returns a session for the user with this password, or `undefined` if the user was changed during the check. */
async function signInWith(backend: Backend, address: UserAddress, password: string): Promise<Grant | undefined> {
  const state = await backend.state()
  const [user] = await state.read(({ users }) => users.find(address))
  const storedHash = user?.encrypted_password ?? null
  if (user && storedHash !== null && isBanned(user, backend.now())) throw userBanned()
  const isCorrect = await matchesHash(password, storedHash)
  if (!user) throw noSuchUser()
  if (storedHash === null) throw noPassword()
  if (!isCorrect) throw wrongPassword(problemOfHash(storedHash))
  if ('email' in address && user.email_confirmed_at === null) throw emailNotConfirmed()
  if ('phone' in address && user.phone_confirmed_at === null) throw phoneNotConfirmed()
  const rehashed = await rehashImported(password, storedHash)
  return state.write(async tables => {
    const current = await tables.users.get(user.id)
    if (current?.encrypted_password !== storedHash) return undefined
    if (rehashed !== undefined) await tables.users.update(user.id, { encrypted_password: rehashed })
    return startSession(backend, tables, current, 'password')
  })
}

async function byRefreshToken(backend: Backend, exchange: Exchange): Promise<Reply> {
  const { refresh_token: refreshToken } = readParams(exchange, 'RefreshTokenGrantParams', byRefreshTokenFields)
  if (!isRefreshToken(refreshToken)) throw validationFailed('Refresh token is not valid')
  const refreshed = await (await backend.state()).write(tables => refreshSession(backend, tables, refreshToken))
  // Thrown only here, so that the end of the token family is committed although the response is an error.
  if ('refusal' in refreshed) throw refreshed.refusal
  return sessionReply(backend, exchange, refreshed.grant)
}

async function byAuthCode(backend: Backend, exchange: Exchange): Promise<Reply> {
  const { auth_code, code_verifier } = readParams(exchange, 'PKCEGrantParams', byAuthCodeFields)
  if (auth_code === '' || code_verifier === '') {
    throw validationFailed('invalid request: both auth code and code verifier should be non-empty')
  }
  const grant = await (await backend.state()).write(async tables => {
    const flow = await endFlow(backend, tables, auth_code, code_verifier)
    const user = flow.user_id === null ? undefined : await tables.users.get(flow.user_id)
    if (!user) throw flowStateNotFound()
    return startSession(backend, tables, user, flow.authentication_method)
  })
  return sessionReply(backend, exchange, grant)
}

/** The providers whose tokens Supabase accepts, by Supabase's names. */
const issuers: ReadonlyMap<string, string> = new Map([
  ['apple', 'https://appleid.apple.com'],
  ['azure', 'https://login.microsoftonline.com/common/v2.0'],
  ['facebook', 'https://www.facebook.com'],
  ['google', 'https://accounts.google.com'],
  ['kakao', 'https://kauth.kakao.com'],
  ['keycloak', ''],
])

/** No other provider is configured here, so no such token can be accepted. */
function byIdToken(exchange: Exchange): never {
  const params = readParams(exchange, 'IdTokenGrantParams', {
    id_token: 'string',
    provider: 'string',
    client_id: 'string',
    issuer: 'string',
  })
  const { id_token, provider, client_id, issuer } = params
  if (id_token === '') throw validationFailed('id_token required')
  if (provider === '' && (client_id === '' || issuer === '')) {
    throw validationFailed('provider or client_id and issuer required')
  }
  const knownIssuer = issuers.get(provider)
  throw knownIssuer === undefined
    ? validationFailed(`Custom OIDC provider "${provider}" not allowed`)
    : issuerDisabled(knownIssuer)
}

const logoutAbout: About = {
  id: 'signOut',
  does: 'Ends the current session, all sessions of the user, or all sessions except the current one.',
  query: { scope: 'Which sessions: global (all; the default), local or others.' },
  answer: 'no body',
}

/** POST /auth/v1/logout: ends the session of the token, all sessions of its user, or all others. */
export const logout = (backend: Backend): Endpoint =>
  forUser(backend)('POST /logout', logoutAbout, async (exchange, { user, session }) => {
    const scope = queryOf(exchange).get('scope') || 'global'
    if (!['global', 'local', 'others'].includes(scope)) {
      throw validationFailed(`Unsupported logout scope "${scope}"`)
    }
    await (await backend.state()).write(async tables => {
      if (scope === 'local' && session) return endSessions(tables, [session])
      return endSessionsOf(tables, user.id, scope === 'others' ? session?.id : undefined)
    })
    return emptyReply(204)
  })
