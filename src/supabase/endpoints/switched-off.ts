/** Endpoints that are off here, as at a Supabase set up without them; each says so in Supabase's own words. */
import { type Endpoint, type Exchange, jsonReply, type Reply } from '../../core/exchange.js'
import type { Backend } from '../backend.js'
import {
  customProvidersDisabled,
  manualLinkingDisabled,
  oauthServerDisabled,
  passkeysDisabled,
  providerDisabled,
  providerUnknown,
  samlDisabled,
  ssoProviderNotFound,
} from '../errors.js'
import { otherProviders } from './about.js'
import { forAdmin, forAnyone, forUser, leadTo } from './frame.js'
import { queryOf } from './params.js'
import { type About, aboutOf } from './says.js'

type Method = Endpoint['method']
type Maker = (method: Method, path: string, about: About, reply: () => never) => Endpoint

/** Endpoints that only refuse, each written as a method and a path. */
function closed(make: Maker, refusal: () => Error, lines: readonly `${Method} ${string}`[]): readonly Endpoint[] {
  return lines.map(line => {
    const [method, path] = line.split(' ') as [Method, string]
    return make(method, path, aboutOf(method, path, 'Off here; says so.', 'none'), () => {
      throw refusal()
    })
  })
}

const back = 'What another provider leads back to: no sign-in was begun there.'
const start: About = {
  ...aboutOf('GET', '/authorize', 'Signing in at another provider, which is off here.', 'none'),
  query: { provider: 'The name of the provider.' },
}
const ssoProviders = aboutOf('GET', '/admin/sso/providers', 'The identity providers: none.', 'object')

export function switchedOff(backend: Backend): readonly Endpoint[] {
  const [user, admin] = [forUser(backend), forAdmin(backend)]
  return [
    ...closed(forAnyone, samlDisabled, ['POST /sso', 'GET /sso/saml/metadata', 'POST /sso/saml/acs']),
    ...closed(admin, samlDisabled, ['POST /admin/sso/providers']),
    ...closed(admin, ssoProviderNotFound, [
      'GET /admin/sso/providers/{id}',
      'PUT /admin/sso/providers/{id}',
      'DELETE /admin/sso/providers/{id}',
    ]),
    ...closed(user, manualLinkingDisabled, ['GET /user/identities/authorize', 'DELETE /user/identities/{id}']),
    ...closed(forAnyone, passkeysDisabled, [
      'POST /passkeys/authentication/options',
      'POST /passkeys/authentication/verify',
      'POST /passkeys/registration/options',
      'POST /passkeys/registration/verify',
      'GET /passkeys',
      'DELETE /passkeys/{id}',
    ]),
    ...closed(forAnyone, oauthServerDisabled, [
      'GET /.well-known/oauth-authorization-server',
      'POST /oauth/clients/register',
      'POST /oauth/token',
      'GET /oauth/userinfo',
      'GET /oauth/authorize',
      'GET /oauth/authorizations/{id}',
      'POST /oauth/authorizations/{id}/consent',
    ]),
    ...closed(user, oauthServerDisabled, ['GET /user/oauth/grants', 'DELETE /user/oauth/grants']),
    ...closed(admin, oauthServerDisabled, [
      'GET /admin/oauth/clients',
      'POST /admin/oauth/clients',
      'GET /admin/oauth/clients/{id}',
      'PUT /admin/oauth/clients/{id}',
      'DELETE /admin/oauth/clients/{id}',
      'POST /admin/oauth/clients/{id}/regenerate_secret',
    ]),
    ...closed(admin, customProvidersDisabled, [
      'GET /admin/custom-providers',
      'POST /admin/custom-providers',
      'GET /admin/custom-providers/{id}',
      'PUT /admin/custom-providers/{id}',
      'DELETE /admin/custom-providers/{id}',
    ]),
    admin('GET', '/admin/sso/providers', ssoProviders, () => jsonReply({ items: [] })),
    forAnyone('GET', '/authorize', start, startElsewhere),
    forAnyone('GET', '/callback', aboutOf('GET', '/callback', back, 'redirect'), () => seeSite(backend)),
    forAnyone('POST', '/callback', aboutOf('POST', '/callback', back, 'redirect'), () => seeSite(backend)),
  ]
}

function startElsewhere(exchange: Exchange): never {
  const name = queryOf(exchange).get('provider') ?? ''
  throw [...otherProviders, 'zoom'].includes(name) ? providerDisabled() : providerUnknown(name)
}

/** No sign-in was begun at another provider, so nothing can come back from there. */
function seeSite({ settings: { siteUrl } }: Backend): Reply {
  const why = {
    error: 'invalid_request',
    error_code: 'bad_oauth_callback',
    error_description: 'OAuth state parameter missing',
  }
  return leadTo(302, `${siteUrl}?${new URLSearchParams(why)}#${new URLSearchParams({ ...why, sb: '' })}`)
}
