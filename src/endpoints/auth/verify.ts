/** POST and GET /auth/v1/verify: a session for a code that was typed in, or for a link that was followed. */
import { validEmail, validPhone } from '../../auth/addresses.js'
import type { Backend } from '../../auth/backend.js'
import { PKCE } from '../../auth/codes.js'
import { issueAuthCode } from '../../auth/flows.js'
import { type Grant, startSession, tokenResponse } from '../../auth/sessions.js'
import { type Claim, proveAddress } from '../../auth/verify.js'
import { validationFailed } from '../../core/auth-errors.js'
import { PlatformError } from '../../core/errors.js'
import type { Endpoint, Exchange, Reply } from '../../core/exchange.js'
import { jsonReply } from '../json-reply.js'
import { emptyReply, forAnyone, granted, redirectOf } from './frame.js'
import { queryOf, readParams } from './params.js'

/** Half of a change of address is done. */
const halfDone = 'Confirmation link accepted. Please proceed to confirm link sent to the other email'

export const verify = (backend: Backend): Endpoint =>
  forAnyone('POST', '/verify', async exchange => {
    const claim = claimIn(exchange)
    const proven = await (await backend.state()).write(async tables => {
      const proven = await proveAddress(backend, tables, claim)
      return proven.kind === 'half' ? undefined : startSession(backend, tables, proven.user, 'otp')
    })
    // Supabase's own form: here the code is the HTTP status, as a text.
    return proven ? granted(backend, proven) : jsonReply({ msg: halfDone, code: '200' })
  })

function claimIn(exchange: Exchange): Claim {
  const params = readParams(exchange, 'VerifyParams', {
    type: 'string',
    token: 'string',
    token_hash: 'string',
    email: 'string',
    phone: 'string',
    redirect_to: 'string',
  })
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
  return { type, address: email === '' ? validPhone(phone) : validEmail(email), code: token, hash: '' }
}

/** The link of a mail. Whatever comes of it, a browser is led back to the app. */
export const followLink = (backend: Backend): Endpoint =>
  forAnyone('GET', '/verify', async exchange => {
    const query = queryOf(exchange)
    const [type, hash] = [query.get('type') ?? '', query.get('token') ?? '']
    if (type === '') throw validationFailed('Verify requires a verification type')
    if (hash === '') throw validationFailed('Verify requires a token or a token hash')
    const back = redirectOf(backend, exchange)
    const withCode = hash.startsWith(PKCE)
    try {
      const done = await (await backend.state()).write(async tables => {
        const proven = await proveAddress(backend, tables, { type, address: '', code: '', hash })
        if (proven.kind === 'half') return undefined
        const { user } = proven
        if (withCode) return { authCode: await issueAuthCode(backend, tables, user.id, methodOf(type)) }
        return { grant: await startSession(backend, tables, user, 'otp') }
      })
      if (done === undefined) return seeOther(ledBack(back, { message: halfDone }, withCode))
      if (done.authCode !== undefined) return seeOther(withQuery(back, { code: done.authCode }))
      return seeOther(`${back}#${await fragmentOf(backend, done.grant, type)}`)
    } catch (error) {
      if (!(error instanceof PlatformError) || error.status >= 500) throw error
      const { code, message, status } = error
      const kind = status === 403 || status === 401 ? { error: 'access_denied' } : { error: 'invalid_request' }
      return seeOther(ledBack(back, { ...kind, error_code: code, error_description: message }, withCode))
    }
  })

/** What the `amr` claim calls a link of this type. */
const methodOf = (type: string) => (type === 'signup' || type === 'email' ? 'email/signup' : type)

const seeOther = (location: string): Reply => emptyReply(303, ['location', location])

async function fragmentOf(backend: Backend, grant: Grant, type: string): Promise<string> {
  const { access_token, expires_at, expires_in, refresh_token, token_type } = await tokenResponse(backend, grant)
  const times = { expires_at: String(expires_at), expires_in: String(expires_in) }
  return String(new URLSearchParams({ access_token, ...times, refresh_token, sb: '', token_type, type }))
}

/** What there is to say stands behind the `#`; an app that waits with PKCE reads the query instead. */
function ledBack(address: string, fields: Record<string, string>, withCode: boolean): string {
  const fragment = new URLSearchParams({ ...fields, sb: '' })
  return `${withCode ? withQuery(address, fields) : address}#${fragment}`
}

function withQuery(address: string, fields: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
  return url.href
}
