/** General information about the auth backend: settings, health, public keys, and discovery. */
import { type Endpoint, jsonReply } from '../../core/exchange.js'
import { type Backend, externalUrl, issuerOf } from '../backend.js'
import { forAnyone } from './frame.js'

/** Providers that Supabase supports and that are switched off here. */
const otherProviders =
  'apple azure bitbucket discord facebook snapchat figma fly github gitlab google keycloak kakao linkedin linkedin_oidc notion spotify slack slack_oidc workos twitch twitter'.split(
    ' ',
  )

export const settings = ({ settings }: Backend): Endpoint =>
  forAnyone(
    'GET /settings',
    { id: 'getAuthSettings', does: 'Returns which sign-in methods and features are enabled.', answer: 'object' },
    () =>
      jsonReply({
        external: {
          anonymous_users: settings.externalAnonymousUsersEnabled,
          ...Object.fromEntries(otherProviders.map(name => [name, false])),
          email: true,
          phone: true,
          zoom: false,
        },
        disable_signup: settings.disableSignup,
        mailer_autoconfirm: settings.mailerAutoconfirm,
        phone_autoconfirm: settings.mailerAutoconfirm,
        sms_provider: '',
        saml_enabled: false,
        saml_private_key_next_configured: false,
        passkeys_enabled: false,
      }),
  )

/** The version of Supabase Auth that this backend follows. */
const AUTH_VERSION = 'v2.196.0'

export const health = (): Endpoint =>
  forAnyone(
    'GET /health',
    { id: 'getAuthHealth', does: 'Returns the name and version of the auth backend.', answer: 'object' },
    () =>
      jsonReply({
        version: AUTH_VERSION,
        name: 'GoTrue',
        description: 'GoTrue is a user registration and authentication API',
      }),
  )

/** The public keys of user tokens (RFC 7517), open to everyone as at Supabase. */
export const jwks = ({ tokens }: Backend): Endpoint =>
  forAnyone(
    'GET /.well-known/jwks.json',
    { id: 'getKeys', does: 'Returns the public keys of user tokens (RFC 7517).', answer: 'object' },
    () => ({
      ...jsonReply(tokens.jwks),
      headers: ['cache-control', 'public, max-age=600'],
    }),
  )

export const openIdConfiguration = (backend: Backend): Endpoint =>
  forAnyone(
    'GET /.well-known/openid-configuration',
    {
      id: 'getOpenIdConfiguration',
      does: 'Returns the OpenID configuration: the issuer and the addresses of its endpoints.',
      answer: 'object',
    },
    async () => {
      const issuer = issuerOf(backend) ?? externalUrl(backend)
      return {
        ...jsonReply({
          issuer,
          authorization_endpoint: `${issuer}/oauth/authorize`,
          token_endpoint: `${issuer}/oauth/token`,
          jwks_uri: `${issuer}/.well-known/jwks.json`,
          userinfo_endpoint: `${issuer}/oauth/userinfo`,
          response_types_supported: ['code'],
          response_modes_supported: ['query'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256', 'HS256', 'ES256'],
          token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
          code_challenge_methods_supported: ['S256', 'plain'],
          scopes_supported: ['openid', 'profile', 'email', 'phone'],
          claims_supported: ['sub', 'aud', 'iss', 'exp', 'iat', 'auth_time', 'nonce', 'email', 'email_verified'],
        }),
        headers: ['cache-control', 'public, max-age=600'],
      }
    },
  )
