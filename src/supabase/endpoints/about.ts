/** What the auth backend says about itself: settings, health, public keys, discovery, and what is switched off. */
import { refusal } from '../../core/errors.js'
import type { Exchange } from '../../core/exchange.js'
import { AUTH } from '../../core/paths.js'
import { jsonReply } from '../../core/reply.js'
import { type Backend, externalUrl } from '../backend.js'
import { marksOf } from '../marks.js'
import { providerNames } from '../providers.js'
import { userIn } from './admin-users.js'
import { type EndpointMaker, forAdmin, forAnyone, forUser, type Place } from './frame.js'

/** Supabase's settings do not list the newest providers. */
const listedProviders = providerNames.filter(name => !['zoom', 'x', 'vercel_marketplace'].includes(name))

export const settings = forAnyone({
  at: 'GET /settings',
  reply: ({ settings }) =>
    jsonReply({
      external: {
        anonymous_users: settings.external.anonymous_users !== false,
        ...Object.fromEntries(listedProviders.map(name => [name, Boolean(settings.external[name])])),
        email: true,
        phone: Boolean(settings.external.phone),
        zoom: Boolean(settings.external.zoom),
      },
      disable_signup: settings.disableSignup,
      mailer_autoconfirm: settings.mailerAutoconfirm,
      phone_autoconfirm: settings.mailerAutoconfirm,
      sms_provider: '',
      saml_enabled: false,
      saml_private_key_next_configured: false,
      passkeys_enabled: false,
    }),
})

/** The version of Supabase Auth that this backend follows. */
const AUTH_VERSION = 'v2.196.0'

export const health = forAnyone({
  at: 'GET /health',
  reply: () =>
    jsonReply({
      version: AUTH_VERSION,
      name: 'GoTrue',
      description: 'GoTrue is a user registration and authentication API',
    }),
})

const cached = (body: object) => ({ ...jsonReply(body), headers: ['cache-control', 'public, max-age=600'] })

/** The public keys of user tokens (RFC 7517), open to everyone as at Supabase. */
export const jwks = forAnyone({
  at: 'GET /.well-known/jwks.json',
  reply: ({ tokens, state }) => cached({ keys: [...tokens.jwks.keys, ...marksOf(state).keys()] }),
})

export const openIdConfiguration = forAnyone({
  at: 'GET /.well-known/openid-configuration',
  reply(backend) {
    const base = externalUrl(backend)
    return cached({
      issuer: base,
      authorization_endpoint: `${base}/oauth/authorize`,
      token_endpoint: `${base}/oauth/token`,
      jwks_uri: `${base}/.well-known/jwks.json`,
      userinfo_endpoint: `${base}/oauth/userinfo`,
      scopes_supported: ['openid', 'profile', 'email', 'phone', 'offline_access'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'ES256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      claims_supported:
        'sub aud iss exp iat auth_time nonce email email_verified phone_number phone_number_verified name picture preferred_username updated_at'.split(
          ' ',
        ),
      code_challenge_methods_supported: ['S256', 'plain'],
    })
  },
})

/** How Supabase refuses each feature. */
const features = {
  saml: [404, 'saml_provider_disabled', 'SAML 2.0 is disabled'],
  enrolling: [422, 'mfa_totp_enroll_not_enabled', 'MFA enroll is disabled for TOTP'],
  factors: [404, 'mfa_factor_not_found', 'Factor not found'],
  passkeys: [404, 'passkey_disabled', 'Passkeys are disabled'],
  passkeysOfUsers: [404, 'validation_failed', 'Passkey not found'],
  oauthServer: [404, 'feature_disabled', 'OAuth server is disabled'],
  customProviders: [404, 'feature_disabled', 'Custom OAuth providers are disabled'],
} as const

/** The endpoints of the features that Supabase's clients call: their methods by path. */
const endpoints: readonly (readonly [feature: keyof typeof features, path: `/${string}`, methods: string])[] = [
  ['saml', '/sso', 'POST'],
  ['enrolling', '/factors', 'POST'],
  ['factors', '/factors/{id}', 'DELETE'],
  ['factors', '/factors/{id}/challenge', 'POST'],
  ['factors', '/factors/{id}/verify', 'POST'],
  ['factors', '/admin/users/{id}/factors/{factor}', 'PUT DELETE'],
  ['passkeys', '/passkeys', 'GET'],
  ['passkeys', '/passkeys/{id}', 'PATCH DELETE'],
  ['passkeys', '/passkeys/authentication/options', 'POST'],
  ['passkeys', '/passkeys/authentication/verify', 'POST'],
  ['passkeys', '/passkeys/registration/options', 'POST'],
  ['passkeys', '/passkeys/registration/verify', 'POST'],
  ['passkeysOfUsers', '/admin/users/{id}/passkeys/{passkey}', 'DELETE'],
  ['oauthServer', '/.well-known/oauth-authorization-server', 'GET'],
  ['oauthServer', '/oauth/authorizations/{id}', 'GET'],
  ['oauthServer', '/oauth/authorizations/{id}/consent', 'POST'],
  ['oauthServer', '/user/oauth/grants', 'GET DELETE'],
  ['oauthServer', '/admin/oauth/clients', 'GET POST'],
  ['oauthServer', '/admin/oauth/clients/{id}', 'GET PUT DELETE'],
  ['oauthServer', '/admin/oauth/clients/{id}/regenerate_secret', 'POST'],
  ['customProviders', '/admin/custom-providers', 'GET POST'],
  ['customProviders', '/admin/custom-providers/{id}', 'GET PUT DELETE'],
]

/** Rejects with a 404 if the path is about a user who does not exist. */
async function requireUser({ state }: Backend, exchange: Exchange): Promise<void> {
  if (exchange.path.startsWith(`${AUTH}/admin/users/`)) await state.read(tables => userIn(tables, exchange))
}

function refusing(feature: keyof typeof features, at: Place): EndpointMaker {
  const [status, code, message] = features[feature]
  const definition = {
    at,
    async reply(backend: Backend, exchange: Exchange) {
      await requireUser(backend, exchange)
      throw refusal(status, code, message)
    },
  }
  if (at.includes(' /admin/')) return forAdmin(definition)
  return / \/(user|factors)/.test(at) ? forUser(definition) : forAnyone(definition)
}

const emptyList = (at: Place): EndpointMaker =>
  forAdmin({
    at,
    async reply(backend, exchange) {
      await requireUser(backend, exchange)
      return jsonReply([])
    },
  })

/** Features that are off here, as at a Supabase set up without them, refuse with Supabase's own errors. */
export const switchedOff: readonly EndpointMaker[] = [
  ...endpoints.flatMap(([feature, path, methods]) =>
    methods.split(' ').map(method => refusing(feature, `${method} ${path}` as Place)),
  ),
  emptyList('GET /admin/users/{id}/factors'),
  emptyList('GET /admin/users/{id}/passkeys'),
]
