import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { backendWith, bodyOf, newcomer, refusal } from './backend.js'

const off = { status: 404, code: 'saml_provider_disabled', message: 'SAML 2.0 is disabled' }

test('single sign-on is disabled', async () => {
  const { client, ask, serviceKey } = await backendWith()
  expect((await client().auth.signInWithSSO({ domain: 'example.com' })).error).toMatchObject(off)
  expect(await refusal(ask('/admin/sso/providers', { method: 'POST', bearer: serviceKey }))).toEqual(off)
  expect(await bodyOf(ask('/admin/sso/providers', { bearer: serviceKey }))).toEqual({ items: [] })
  expect(await refusal(ask(`/admin/sso/providers/${randomUUID()}`, { bearer: serviceKey }))).toEqual({
    status: 404,
    code: 'sso_provider_not_found',
    message: 'SSO Identity Provider not found',
  })
  expect(await refusal(ask('/sso/saml/metadata'))).toEqual(off)
})

test('manual linking of identities is disabled', async () => {
  const { client } = await backendWith()
  const { auth } = client()
  const { data } = await auth.signUp({ email: 'ada@example.com', password: 'correct horse' })
  const none = { status: 404, code: 'manual_linking_disabled', message: 'Manual linking is disabled' }
  expect((await auth.linkIdentity({ provider: 'google' })).error).toMatchObject(none)
  const [identity] = data.user?.identities ?? []
  if (identity) expect((await auth.unlinkIdentity(identity)).error).toMatchObject(none)
  expect(identity).toBeDefined()
})

test.each([
  ['totp', 422, 'mfa_totp_enroll_not_enabled', 'MFA enroll is disabled for TOTP'],
  ['phone', 422, 'mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone'],
  ['webauthn', 422, 'mfa_webauthn_enroll_not_enabled', 'MFA enroll is disabled for WebAuthn'],
  ['retina', 400, 'validation_failed', 'factor_type needs to be totp, phone, or webauthn'],
])('a second factor of type %s cannot be enrolled', async (factor_type, status, code, message) => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const response = backend.ask('/factors', { body: { factor_type }, bearer: access_token })
  expect(await refusal(response)).toEqual({ status, code, message })
})

test('users have no second factors', async () => {
  const backend = await backendWith()
  const { auth } = backend.client()
  const { data } = await auth.signUp({ email: 'ada@example.com', password: 'correct horse' })
  expect((await auth.mfa.listFactors()).data).toMatchObject({ all: [], phone: [], totp: [], webauthn: [] })
  expect((await auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
    currentLevel: 'aal1',
    nextLevel: 'aal1',
  })
  const factorId = randomUUID()
  const none = { status: 404, code: 'mfa_factor_not_found', message: 'Factor not found' }
  expect((await auth.mfa.challenge({ factorId })).error).toMatchObject(none)
  expect((await auth.mfa.unenroll({ factorId })).error).toMatchObject(none)
  expect((await auth.mfa.verify({ factorId, challengeId: randomUUID(), code: '123456' })).error).toMatchObject(none)
  const userId = data.user?.id ?? ''
  expect((await backend.admin.mfa.listFactors({ userId })).data).toEqual({ factors: [] })
  expect((await backend.admin.mfa.deleteFactor({ userId, id: factorId })).error).toMatchObject(none)
})

test('the id of a factor has to be a UUID', async () => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const response = backend.ask('/factors/one', { method: 'DELETE', bearer: access_token })
  expect(await refusal(response)).toEqual({
    status: 404,
    code: 'validation_failed',
    message: 'factor_id must be an UUID',
  })
})

test('the factors of an unknown user cannot be listed', async () => {
  const { admin } = await backendWith()
  const { error } = await admin.mfa.listFactors({ userId: randomUUID() })
  expect(error).toMatchObject({ status: 404, code: 'user_not_found' })
})

test('an anonymous user cannot enroll a second factor', async () => {
  const { client } = await backendWith({ externalAnonymousUsersEnabled: true })
  const { auth } = client()
  await auth.signInAnonymously()
  expect((await auth.mfa.enroll({ factorType: 'totp' })).error).toMatchObject({
    status: 403,
    code: 'no_authorization',
    message: 'Anonymous user not allowed to perform these actions',
  })
})

test.each([
  ['google', 'Unsupported provider: provider is not enabled'],
  ['nobody', 'Unsupported provider: Provider nobody could not be found'],
  ['', 'Unsupported provider: Provider  could not be found'],
])('sign-in with the provider %j is refused', async (provider, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask(`/authorize?provider=${provider}`))).toEqual({
    status: 400,
    code: 'validation_failed',
    message,
  })
})

test('the callback of a provider redirects to the site with an error', async () => {
  const { ask } = await backendWith({ siteUrl: 'https://app.example.com' })
  const response = await ask('/callback?code=x')
  expect(response.status).toBe(302)
  const why = 'error=invalid_request&error_code=bad_oauth_callback&error_description=OAuth+state+parameter+missing'
  expect(response.headers.get('location')).toBe(`https://app.example.com?${why}#${why}&sb=`)
})

test.each([
  [{}, 400, 'validation_failed', 'id_token required'],
  [{ id_token: 'x' }, 400, 'validation_failed', 'provider or client_id and issuer required'],
  [
    { id_token: 'x', provider: 'google' },
    400,
    'provider_disabled',
    'Provider (issuer "https://accounts.google.com") is not enabled',
  ],
  [{ id_token: 'x', provider: 'nobody' }, 400, 'validation_failed', 'Custom OIDC provider "nobody" not allowed'],
])("another provider's token %j is not accepted", async (body, status, code, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/token?grant_type=id_token', { body }))).toEqual({ status, code, message })
})

test('signing in with a wallet is disabled', async () => {
  const { ask } = await backendWith()
  expect(await refusal(ask('/token?grant_type=web3', { body: { chain: 'solana' } }))).toEqual({
    status: 422,
    code: 'web3_provider_disabled',
    message: 'Web3 provider is disabled',
  })
})

test('an admin gets an empty list of factors for an existing user', async () => {
  const backend = await backendWith()
  const { user } = await newcomer(backend)
  const response = backend.ask(`/admin/users/${user.id}/factors`, { bearer: backend.serviceKey })
  expect(await bodyOf(response)).toEqual([])
})

test('users have no passkeys', async () => {
  const backend = await backendWith()
  const { user, access_token } = await newcomer(backend)
  const disabled = { status: 404, code: 'passkey_disabled', message: 'Passkeys are disabled' }
  for (const path of ['/passkeys/authentication/options', '/passkeys/registration/options']) {
    expect(await refusal(backend.ask(path, { method: 'POST', bearer: access_token }))).toEqual(disabled)
  }
  expect(await refusal(backend.ask('/passkeys', { bearer: access_token }))).toEqual(disabled)
  const path = `/admin/users/${user.id}/passkeys`
  expect(await bodyOf(backend.ask(path, { bearer: backend.serviceKey }))).toEqual([])
  const response = backend.ask(`${path}/${randomUUID()}`, { method: 'DELETE', bearer: backend.serviceKey })
  expect(await refusal(response)).toEqual({ status: 404, code: 'validation_failed', message: 'Passkey not found' })
})

test.each([
  ['GET', '/.well-known/oauth-authorization-server'],
  ['POST', '/oauth/token'],
  ['GET', '/oauth/userinfo'],
  ['GET', '/user/oauth/grants'],
  ['GET', '/admin/oauth/clients'],
  ['POST', `/admin/oauth/clients/${randomUUID()}/regenerate_secret`],
])('the OAuth server is disabled: %s %s', async (method, path) => {
  const backend = await backendWith()
  const { access_token } = await newcomer(backend)
  const bearer = path.startsWith('/admin') ? backend.serviceKey : access_token
  expect(await refusal(backend.ask(path, { method, bearer }))).toEqual({
    status: 404,
    code: 'feature_disabled',
    message: 'OAuth server is disabled',
  })
})

test('custom OAuth providers are disabled', async () => {
  const { admin } = await backendWith()
  expect((await admin.customProviders.listProviders()).error).toMatchObject({
    status: 404,
    code: 'feature_disabled',
    message: 'Custom OAuth providers are disabled',
  })
})
