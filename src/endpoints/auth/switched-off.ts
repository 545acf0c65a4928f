/** What is off here as at a Supabase that was set up without it; each says so in Supabase's own words. */

import { isUuid, type SignedIn } from '../../auth/authenticate.js'
import type { Backend } from '../../auth/backend.js'
import {
  anonymousNotAllowed,
  factorNotFound,
  idNotUuid,
  manualLinkingDisabled,
  mfaDisabled,
  providerDisabled,
  providerUnknown,
  samlDisabled,
} from '../../core/auth-errors.js'
import type { Endpoint, Exchange, Reply } from '../../core/exchange.js'
import { jsonReply } from '../json-reply.js'
import { otherProviders } from './about.js'
import { userIn } from './admin-users.js'
import { forAdmin, forAnyone, forUser, idBehind, leadTo } from './frame.js'
import { queryOf, readParams } from './params.js'

const says = (refusal: () => Error) => (): never => {
  throw refusal()
}

export const switchedOff = (backend: Backend): readonly Endpoint[] => [
  forAnyone('POST', '/sso', says(samlDisabled)),
  forAnyone('GET', '/sso/saml/metadata', says(samlDisabled)),
  forAnyone('POST', '/sso/saml/acs', says(samlDisabled)),
  forAdmin(backend)('GET', '/admin/sso/providers', says(samlDisabled)),
  forAdmin(backend)('POST', '/admin/sso/providers', says(samlDisabled)),
  forUser(backend)('GET', '/user/identities/authorize', says(manualLinkingDisabled)),
  forUser(backend)('DELETE', '/user/identities/{id}', says(manualLinkingDisabled)),
  forAnyone('GET', '/authorize', startElsewhere),
  forAnyone('GET', '/callback', () => seeSite(backend)),
  forAnyone('POST', '/callback', () => seeSite(backend)),
  forUser(backend)('POST', '/factors', enroll),
  forUser(backend)('POST', '/factors/{id}/challenge', refuseFactor),
  forUser(backend)('POST', '/factors/{id}/verify', refuseFactor),
  forUser(backend)('DELETE', '/factors/{id}', refuseFactor),
  forAdmin(backend)('GET', '/admin/users/{id}/factors', async exchange => {
    await requireUser(backend, exchange)
    return jsonReply([])
  }),
  ...(['PUT', 'DELETE'] as const).map(method =>
    forAdmin(backend)(method, '/admin/users/{id}/factors/{factor}', async exchange => {
      await requireUser(backend, exchange)
      return noFactor(idBehind('factors', exchange))
    }),
  ),
]

function startElsewhere(exchange: Exchange): never {
  const name = queryOf(exchange).get('provider') ?? ''
  throw [...otherProviders, 'zoom'].includes(name) ? providerDisabled() : providerUnknown(name)
}

/** Nobody began a sign-in at another provider, so nothing can come back from there. */
function seeSite({ settings: { siteUrl } }: Backend): Reply {
  const why = {
    error: 'invalid_request',
    error_code: 'bad_oauth_callback',
    error_description: 'OAuth state parameter missing',
  }
  return leadTo(302, `${siteUrl}?${new URLSearchParams(why)}#${new URLSearchParams({ ...why, sb: '' })}`)
}

function enroll(exchange: Exchange, { user }: SignedIn): never {
  if (user.is_anonymous) throw anonymousNotAllowed()
  throw mfaDisabled(readParams(exchange, 'EnrollFactorParams', { factor_type: 'string' }).factor_type)
}

function refuseFactor(exchange: Exchange, { user }: SignedIn): never {
  if (user.is_anonymous) throw anonymousNotAllowed()
  return noFactor(idBehind('factors', exchange))
}

function noFactor(id: string): never {
  throw isUuid(id) ? factorNotFound() : idNotUuid('factor_id')
}

/** Rejects with a 404 when the user in the path is not there. */
const requireUser = async (backend: Backend, exchange: Exchange) =>
  (await backend.state()).read(tables => userIn(tables, exchange))
