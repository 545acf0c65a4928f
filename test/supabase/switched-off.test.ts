import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { backendWith, bodyOf, newcomer, refusal } from './backend.js'

const id = randomUUID()

test.each([
  ['POST', '/sso', 404, 'saml_provider_disabled', 'SAML 2.0 is disabled'],
  ['DELETE', `/user/identities/${id}`, 404, 'manual_linking_disabled', 'Manual linking is disabled'],
  ['POST', '/factors', 422, 'mfa_totp_enroll_not_enabled', 'MFA enroll is disabled for TOTP'],
  ['POST', `/factors/${id}/challenge`, 404, 'mfa_factor_not_found', 'Factor not found'],
  ['POST', '/passkeys/registration/options', 404, 'passkey_disabled', 'Passkeys are disabled'],
  ['GET', '/.well-known/oauth-authorization-server', 404, 'feature_disabled', 'OAuth server is disabled'],
  ['PUT', `/admin/oauth/clients/${id}`, 404, 'feature_disabled', 'OAuth server is disabled'],
  ['GET', '/admin/custom-providers', 404, 'feature_disabled', 'Custom OAuth providers are disabled'],
  ['GET', '/authorize?provider=github', 400, 'validation_failed', 'Unsupported provider: provider is not enabled'],
  ['POST', '/token?grant_type=id_token', 400, 'provider_disabled', 'Provider is not enabled'],
  ['POST', '/token?grant_type=web3', 422, 'web3_provider_disabled', 'Web3 provider is disabled'],
])(
  '%s %s is refused as at a Supabase that has the feature switched off',
  async (method, path, status, code, message) => {
    const backend = await backendWith({ securityManualLinkingEnabled: false })
    const { access_token } = await newcomer(backend)
    const bearer = path.startsWith('/admin') ? backend.serviceKey : access_token
    expect(await refusal(backend.ask(path, { method, bearer }))).toEqual({ status, code, message })
  },
)

test("Supabase's client finds no second factors, no passkeys, and nothing to link or to sign in with", async () => {
  const { admin, client, ask, serviceKey } = await backendWith({ securityManualLinkingEnabled: false })
  const { auth } = client()
  const { data } = await auth.signUp({ email: 'ada@example.com', password: 'correct horse' })
  const userId = data.user?.id ?? ''
  expect((await auth.mfa.listFactors()).data).toMatchObject({ all: [], phone: [], totp: [], webauthn: [] })
  expect((await auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({ nextLevel: 'aal1' })
  expect((await auth.mfa.enroll({ factorType: 'totp' })).error?.code).toBe('mfa_totp_enroll_not_enabled')
  expect((await auth.mfa.unenroll({ factorId: id })).error?.code).toBe('mfa_factor_not_found')
  expect((await admin.mfa.listFactors({ userId })).data).toEqual({ factors: [] })
  expect(await bodyOf(ask(`/admin/users/${userId}/passkeys`, { bearer: serviceKey }))).toEqual([])
  expect((await auth.linkIdentity({ provider: 'google' })).error?.code).toBe('manual_linking_disabled')
  expect((await auth.signInWithSSO({ domain: 'example.com' })).error?.code).toBe('saml_provider_disabled')
  expect((await admin.customProviders.listProviders()).error?.code).toBe('feature_disabled')
})
