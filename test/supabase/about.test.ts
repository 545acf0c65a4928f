import { expect, test } from 'vitest'
import { backendWith, bodyOf } from './backend.js'

test('the settings list what is enabled and disabled', async () => {
  const { ask } = await backendWith({ disableSignup: true })
  const { external, ...others } = await bodyOf(ask('/settings'))
  expect(Object.keys(external)).toEqual([
    ...['anonymous_users', 'apple', 'azure', 'bitbucket', 'discord', 'facebook', 'snapchat', 'figma', 'fly'],
    ...['github', 'gitlab', 'google', 'keycloak', 'kakao', 'linkedin', 'linkedin_oidc', 'notion', 'spotify'],
    ...['slack', 'slack_oidc', 'workos', 'twitch', 'twitter', 'email', 'phone', 'zoom'],
  ])
  expect(external).toMatchObject({ anonymous_users: true, email: true, phone: true, google: false })
  expect(others).toEqual({
    disable_signup: true,
    mailer_autoconfirm: true,
    phone_autoconfirm: true,
    sms_provider: '',
    saml_enabled: false,
    saml_private_key_next_configured: false,
    passkeys_enabled: false,
  })
})

test('the health endpoint identifies the backend as GoTrue', async () => {
  const { ask } = await backendWith()
  expect(await bodyOf(ask('/health'))).toEqual({
    version: expect.stringMatching(/^v2\.\d+\.\d+$/),
    name: 'GoTrue',
    description: 'GoTrue is a user registration and authentication API',
  })
})

test('OpenID discovery leads to the signing keys', async () => {
  const { ask, url } = await backendWith()
  const found = await bodyOf(ask('/.well-known/openid-configuration'))
  const issuer = `${url}/auth/v1`
  expect(found).toEqual({
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    scopes_supported: ['openid', 'profile', 'email', 'phone', 'offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'ES256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    claims_supported: [
      ...['sub', 'aud', 'iss', 'exp', 'iat', 'auth_time', 'nonce', 'email', 'email_verified', 'phone_number'],
      ...['phone_number_verified', 'name', 'picture', 'preferred_username', 'updated_at'],
    ],
    code_challenge_methods_supported: ['S256', 'plain'],
  })
  expect((await bodyOf(fetch(found.jwks_uri))).keys).toHaveLength(1)
})
