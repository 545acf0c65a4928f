/**
 * Endpoints that are switched off here, as at a Supabase set up without them. Each answers with Supabase's own error.
 */
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
import { forAdmin, forAnyone, forUser, type MethodAndPath, redirectReply } from './frame.js'
import { queryOf } from './params.js'
import type { About } from './says.js'

/** Endpoints that only refuse: their access, and their error. */
const disabledEndpoints: readonly (readonly [
  who: 'anyone' | 'user' | 'admin',
  refusal: () => Error,
  endpoints: readonly MethodAndPath[],
])[] = [
  ['anyone', samlDisabled, ['POST /sso', 'GET /sso/saml/metadata', 'POST /sso/saml/acs']],
  ['admin', samlDisabled, ['POST /admin/sso/providers']],
  [
    'admin',
    ssoProviderNotFound,
    ['GET /admin/sso/providers/{id}', 'PUT /admin/sso/providers/{id}', 'DELETE /admin/sso/providers/{id}'],
  ],
  ['user', manualLinkingDisabled, ['GET /user/identities/authorize', 'DELETE /user/identities/{id}']],
  [
    'anyone',
    passkeysDisabled,
    [
      'POST /passkeys/authentication/options',
      'POST /passkeys/authentication/verify',
      'POST /passkeys/registration/options',
      'POST /passkeys/registration/verify',
      'GET /passkeys',
      'DELETE /passkeys/{id}',
    ],
  ],
  [
    'anyone',
    oauthServerDisabled,
    [
      'GET /.well-known/oauth-authorization-server',
      'POST /oauth/clients/register',
      'POST /oauth/token',
      'GET /oauth/userinfo',
      'GET /oauth/authorize',
      'GET /oauth/authorizations/{id}',
      'POST /oauth/authorizations/{id}/consent',
    ],
  ],
  ['user', oauthServerDisabled, ['GET /user/oauth/grants', 'DELETE /user/oauth/grants']],
  [
    'admin',
    oauthServerDisabled,
    [
      'GET /admin/oauth/clients',
      'POST /admin/oauth/clients',
      'GET /admin/oauth/clients/{id}',
      'PUT /admin/oauth/clients/{id}',
      'DELETE /admin/oauth/clients/{id}',
      'POST /admin/oauth/clients/{id}/regenerate_secret',
    ],
  ],
  [
    'admin',
    customProvidersDisabled,
    [
      'GET /admin/custom-providers',
      'POST /admin/custom-providers',
      'GET /admin/custom-providers/{id}',
      'PUT /admin/custom-providers/{id}',
      'DELETE /admin/custom-providers/{id}',
    ],
  ],
]

const aboutCallback = 'Receives users who return from other providers, which are switched off here.'
const aboutAuthorize: About = {
  does: 'Signs in with another provider, which is switched off here.',
  answer: 'none',
  query: { provider: 'The name of the provider.' },
}
const ssoProviders: About = { does: 'Lists the SSO providers, of which there are none.', answer: 'object' }

export function switchedOff(backend: Backend): readonly Endpoint[] {
  const makers = { anyone: forAnyone, user: forUser(backend), admin: forAdmin(backend) }
  const refusing = disabledEndpoints.flatMap(([who, refusal, endpoints]) =>
    endpoints.map(at =>
      makers[who](
        at,
        { does: 'Always answers with an error, because the feature is switched off here.', answer: 'none' },
        () => {
          throw refusal()
        },
      ),
    ),
  )
  return [
    ...refusing,
    makers.admin('GET /admin/sso/providers', ssoProviders, () => jsonReply({ items: [] })),
    forAnyone('GET /authorize', aboutAuthorize, refuseProvider),
    forAnyone('GET /callback', { does: aboutCallback, answer: 'redirect' }, () => redirectWithError(backend)),
    forAnyone('POST /callback', { does: aboutCallback, answer: 'redirect' }, () => redirectWithError(backend)),
  ]
}

function refuseProvider(exchange: Exchange): never {
  const name = queryOf(exchange).get('provider') ?? ''
  throw [...otherProviders, 'zoom'].includes(name) ? providerDisabled() : providerUnknown(name)
}

/** Handles the redirect back from another provider. No sign-in can have begun there, so it is always an error. */
function redirectWithError({ settings: { siteUrl } }: Backend): Reply {
  const why = {
    error: 'invalid_request',
    error_code: 'bad_oauth_callback',
    error_description: 'OAuth state parameter missing',
  }
  return redirectReply(302, `${siteUrl}?${new URLSearchParams(why)}#${new URLSearchParams({ ...why, sb: '' })}`)
}
