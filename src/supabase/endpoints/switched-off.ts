/**
 * Features that are switched off here, as at a Supabase set up without them. Their endpoints answer with Supabase's own
 * errors.
 */
import { refusal } from '../../core/errors.js'
import { type Endpoint, jsonReply } from '../../core/exchange.js'
import type { Backend } from '../backend.js'
import { forAdmin, forAnyone, forUser, type MethodAndPath } from './frame.js'

/** How Supabase refuses each feature. */
const features = {
  saml: [404, 'saml_provider_disabled', 'SAML 2.0 is disabled'],
  linking: [404, 'manual_linking_disabled', 'Manual linking is disabled'],
  enrolling: [422, 'mfa_totp_enroll_not_enabled', 'MFA enroll is disabled for TOTP'],
  factors: [404, 'mfa_factor_not_found', 'Factor not found'],
  passkeys: [404, 'passkey_disabled', 'Passkeys are disabled'],
  oauthServer: [404, 'feature_disabled', 'OAuth server is disabled'],
  customProviders: [404, 'feature_disabled', 'Custom OAuth providers are disabled'],
  providers: [400, 'validation_failed', 'Unsupported provider: provider is not enabled'],
} as const

/** The endpoints of the features: their methods by path. */
const endpoints: readonly (readonly [feature: keyof typeof features, path: `/${string}`, methods: string])[] = [
  ['saml', '/sso', 'POST'],
  ['saml', '/sso/saml/metadata', 'GET'],
  ['saml', '/sso/saml/acs', 'POST'],
  ['saml', '/admin/sso/providers', 'GET POST'],
  ['saml', '/admin/sso/providers/{id}', 'GET PUT DELETE'],
  ['linking', '/user/identities/authorize', 'GET'],
  ['linking', '/user/identities/{id}', 'DELETE'],
  ['enrolling', '/factors', 'POST'],
  ['factors', '/factors/{id}', 'DELETE'],
  ['factors', '/factors/{id}/challenge', 'POST'],
  ['factors', '/factors/{id}/verify', 'POST'],
  ['factors', '/admin/users/{id}/factors/{factor}', 'PUT DELETE'],
  ['passkeys', '/passkeys', 'GET'],
  ['passkeys', '/passkeys/{id}', 'DELETE'],
  ['passkeys', '/passkeys/authentication/options', 'POST'],
  ['passkeys', '/passkeys/authentication/verify', 'POST'],
  ['passkeys', '/passkeys/registration/options', 'POST'],
  ['passkeys', '/passkeys/registration/verify', 'POST'],
  ['passkeys', '/admin/users/{id}/passkeys/{passkey}', 'DELETE'],
  ['oauthServer', '/.well-known/oauth-authorization-server', 'GET'],
  ['oauthServer', '/oauth/clients/register', 'POST'],
  ['oauthServer', '/oauth/token', 'POST'],
  ['oauthServer', '/oauth/userinfo', 'GET'],
  ['oauthServer', '/oauth/authorize', 'GET'],
  ['oauthServer', '/oauth/authorizations/{id}', 'GET'],
  ['oauthServer', '/oauth/authorizations/{id}/consent', 'POST'],
  ['oauthServer', '/user/oauth/grants', 'GET DELETE'],
  ['oauthServer', '/admin/oauth/clients', 'GET POST'],
  ['oauthServer', '/admin/oauth/clients/{id}', 'GET PUT DELETE'],
  ['oauthServer', '/admin/oauth/clients/{id}/regenerate_secret', 'POST'],
  ['customProviders', '/admin/custom-providers', 'GET POST'],
  ['customProviders', '/admin/custom-providers/{id}', 'GET PUT DELETE'],
  ['providers', '/authorize', 'GET'],
  ['providers', '/callback', 'GET POST'],
]

const about = {
  does: 'Always answers with an error, because the feature is switched off here.',
  answer: 'none',
} as const

export function switchedOff(backend: Backend): readonly Endpoint[] {
  const [user, admin] = [forUser(backend), forAdmin(backend)]
  const makerFor = (path: string) => {
    if (path.startsWith('/admin/')) return admin
    return /^\/(user|factors)/.test(path) ? user : forAnyone
  }
  const refusing = endpoints.flatMap(([feature, path, methods]) =>
    methods.split(' ').map(method =>
      makerFor(path)(`${method} ${path}` as MethodAndPath, about, () => {
        const [status, code, message] = features[feature]
        throw refusal(status, code, message)
      }),
    ),
  )
  const none = (what: string) =>
    ({ does: `Lists the ${what} of a user, of which there are none.`, answer: 'list' }) as const
  return [
    ...refusing,
    admin('GET /admin/users/{id}/factors', none('further factors'), () => jsonReply([])),
    admin('GET /admin/users/{id}/passkeys', none('passkeys'), () => jsonReply([])),
  ]
}
