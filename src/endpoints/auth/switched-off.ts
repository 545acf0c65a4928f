/** What is off here as at a Supabase that was set up without it; each says so in Supabase's own words. */
import type { Backend } from '../../auth/backend.js'
import {
  factorNotFound,
  manualLinkingDisabled,
  mfaDisabled,
  providerDisabled,
  samlDisabled,
} from '../../core/auth-errors.js'
import type { Endpoint, Reply } from '../../core/exchange.js'
import { jsonReply } from '../json-reply.js'
import { emptyReply, forAdmin, forAnyone, forUser } from './frame.js'
import { readParams } from './params.js'

const says = (refusal: () => Error) => (): never => {
  throw refusal()
}
const saysLater = (refusal: () => Error) => async (): Promise<Reply> => {
  throw refusal()
}

export const switchedOff = (backend: Backend): readonly Endpoint[] => [
  forAnyone('POST', '/sso', says(samlDisabled)),
  forAnyone('GET', '/sso/saml/metadata', says(samlDisabled)),
  forAnyone('POST', '/sso/saml/acs', says(samlDisabled)),
  forAdmin(backend)('GET', '/admin/sso/providers', saysLater(samlDisabled)),
  forUser(backend)('GET', '/user/identities/authorize', saysLater(manualLinkingDisabled)),
  forUser(backend)('DELETE', '/user/identities/{id}', saysLater(manualLinkingDisabled)),
  forAnyone('GET', '/authorize', says(providerDisabled)),
  forAnyone('GET', '/callback', () => seeSite(backend)),
  forAnyone('POST', '/callback', () => seeSite(backend)),
  forUser(backend)('POST', '/factors', async exchange => {
    const { factor_type } = readParams(exchange, 'EnrollFactorParams', { factor_type: 'string' })
    throw mfaDisabled(factor_type === 'phone' ? 'Phone' : factor_type === 'webauthn' ? 'WebAuthn' : 'TOTP')
  }),
  forUser(backend)('POST', '/factors/{id}/challenge', saysLater(factorNotFound)),
  forUser(backend)('POST', '/factors/{id}/verify', saysLater(factorNotFound)),
  forUser(backend)('DELETE', '/factors/{id}', saysLater(factorNotFound)),
  forAdmin(backend)('GET', '/admin/users/{id}/factors', async () => jsonReply([])),
]

/** Nobody began a sign-in at another provider, so nothing can come back from there. */
function seeSite({ settings: { siteUrl } }: Backend): Reply {
  const why = {
    error: 'invalid_request',
    error_code: 'bad_oauth_callback',
    error_description: 'OAuth state parameter missing',
  }
  const fields = new URLSearchParams(why)
  return emptyReply(303, ['location', `${siteUrl}?${fields}#${fields}`])
}
