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
  expect(found).toMatchObject({ issuer: `${url}/auth/v1`, jwks_uri: `${url}/auth/v1/.well-known/jwks.json` })
  expect((await bodyOf(fetch(found.jwks_uri))).keys).toHaveLength(1)
})
