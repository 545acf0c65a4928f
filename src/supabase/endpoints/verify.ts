/** POST and GET /auth/v1/verify: exchanges a code, or a link that was opened, for a session. */
import { PlatformError } from '../../core/errors.js'
import type { Exchange } from '../../core/exchange.js'
import { jsonReply } from '../../core/reply.js'
import type { Backend } from '../backend.js'
import { type AddressProof, PKCE, proveAddress } from '../codes.js'
import { validationFailed } from '../errors.js'
import { type Grant, issueAuthCode, methodOfLink, startSession, tokenResponse } from '../sessions.js'
import { validEmail, validPhone } from '../users.js'
import { readParams } from './forms.js'
import { forAnyone, queryOf, redirectOf, redirectReply, sessionReply } from './frame.js'

/** The message after the first of the two confirmations of a new address. */
const halfDoneMessage = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

const verifyFields = {
  type: 'string',
  token: 'string',
  token_hash: 'string',
  email: 'string',
  phone: 'string',
  redirect_to: 'string',
} as const

export const verify = forAnyone({
  at: 'POST /verify',
  async reply(backend, exchange) {
    const proof = proofIn(exchange)
    const grant = await backend.state.write(async tables => {
      const user = await proveAddress(backend, tables, proof)
      return user && startSession(backend, tables, user, 'otp')
    })
    // Supabase's own format: here `code` is the HTTP status as text.
    return grant ? sessionReply(backend, exchange, grant) : jsonReply({ code: '200', msg: halfDoneMessage })
  },
})

/** What a request of either method presents. */
export const proofOf = (exchange: Exchange): AddressProof => {
  if (exchange.method !== 'GET') return proofIn(exchange)
  const query = queryOf(exchange)
  return { type: query.get('type') ?? '', address: '', code: '', hash: query.get('token') ?? '' }
}

function proofIn(exchange: Exchange): AddressProof {
  const params = readParams(exchange, verifyFields)
  const { type, token, token_hash, email, phone, redirect_to } = params
  if (type === '') throw validationFailed('Verify requires a verification type')
  if ((token === '') === (token_hash === '')) {
    throw validationFailed('Verify requires either a token or a token hash')
  }
  if (token_hash !== '') {
    if (email !== '' || phone !== '' || redirect_to !== '') {
      throw validationFailed('Only the token_hash and type should be provided')
    }
    return { type, address: '', code: '', hash: token_hash }
  }
  if ((email === '') === (phone === '')) {
    throw validationFailed('Only an email address or phone number should be provided on verify')
  }
  return { type, address: email === '' ? validPhone(phone) : emailIn(email), code: token, hash: '' }
}

function emailIn(given: string): string {
  try {
    return validEmail(given)
  } catch {
    throw validationFailed('Invalid email format', 422)
  }
}

/** Handles the link in an email. Always redirects the browser to the app, even after an error. */
export const followLink = forAnyone({
  at: 'GET /verify',
  async reply(backend, exchange) {
    const query = queryOf(exchange)
    const [type, hash] = [query.get('type') ?? '', query.get('token') ?? '']
    if (type === '') throw validationFailed('Verify requires a verification type')
    if (hash === '') throw validationFailed('Verify requires a token or a token hash')
    const redirect = redirectOf(backend, exchange)
    try {
      return redirectReply(await redirectAfterProof(backend, type, hash, { redirect, ipAddress: exchange.ipAddress }))
    } catch (error) {
      if (!(error instanceof PlatformError) || error.status >= 500) throw error
      const { code, message, status } = error
      const errorFields = { ...oauthErrors.get(status), error_code: code, error_description: message }
      return redirectReply(withFragment(redirect, errorFields, hash.startsWith(PKCE)))
    }
  },
})

/** Returns the address to which a valid link redirects, which is based on `redirect`. */
async function redirectAfterProof(
  backend: Backend,
  type: string,
  hash: string,
  { redirect, ipAddress }: { readonly redirect: string; readonly ipAddress: string | undefined },
): Promise<string> {
  const result = await backend.state.write(async tables => {
    const user = await proveAddress(backend, tables, { type, address: '', code: '', hash })
    if (!user) return undefined
    if (hash.startsWith(PKCE)) return { code: await issueAuthCode(backend, tables, user.id, methodOfLink(type)) }
    return startSession(backend, tables, user, 'otp')
  })
  if (result === undefined) return withFragment(redirect, { message: halfDoneMessage }, hash.startsWith(PKCE))
  if ('code' in result) return withQuery(redirect, result)
  return `${redirect}#${await fragmentOf(backend, result, { type }, ipAddress)}`
}

/** OAuth 2.0's names for errors (RFC 6749 §4.1.2.1). Other statuses have none. */
export const oauthErrors: ReadonlyMap<number, { readonly error: string }> = new Map([
  [400, { error: 'invalid_request' }],
  [401, { error: 'unauthorized_client' }],
  [403, { error: 'access_denied' }],
  [500, { error: 'server_error' }],
  [503, { error: 'temporarily_unavailable' }],
])

/** The session as the parameters of a fragment, with further ones. */
export async function fragmentOf(
  backend: Backend,
  grant: Grant,
  more: Record<string, string>,
  ipAddress?: string,
): Promise<string> {
  const session = await tokenResponse(backend, grant, ipAddress)
  const { access_token, expires_at, expires_in, refresh_token, token_type } = session
  const times = { expires_at: String(expires_at), expires_in: String(expires_in) }
  const fragment = new URLSearchParams({ access_token, ...times, refresh_token, sb: '', token_type, ...more })
  fragment.sort()
  return String(fragment)
}

/** Adds the fields to the fragment. With PKCE the app reads the query, so they are added there as well. */
export function withFragment(address: string, fields: Record<string, string>, isInQuery: boolean): string {
  const [base = ''] = (isInQuery ? withQuery(address, fields) : address).split('#', 1)
  return `${base}#${new URLSearchParams({ ...fields, sb: '' })}`
}

export function withQuery(address: string, fields: Record<string, string>): string {
  const [, base = '', oldQuery = '', fragment = ''] = /^([^?#]*)\??([^#]*)(.*)$/s.exec(address) ?? []
  const query = new URLSearchParams(oldQuery)
  for (const [name, value] of Object.entries(fields)) query.set(name, value)
  query.sort()
  return `${base}?${query}${fragment}`
}
