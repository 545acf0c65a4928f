import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { backendWith, bodyOf, newcomer, newUser, refusal, somePhone, versioned } from './backend.js'

const id = randomUUID()

test.each([
  ['POST', '/sso', 404, 'saml_provider_disabled', 'SAML 2.0 is disabled'],
  ['POST', '/factors', 422, 'mfa_totp_enroll_not_enabled', 'MFA enroll is disabled for TOTP'],
  ['POST', `/factors/${id}/challenge`, 404, 'mfa_factor_not_found', 'Factor not found'],
  ['PATCH', `/passkeys/${id}`, 404, 'passkey_disabled', 'Passkeys are disabled'],
  ['POST', '/passkeys/registration/options', 404, 'passkey_disabled', 'Passkeys are disabled'],
  ['GET', '/.well-known/oauth-authorization-server', 404, 'feature_disabled', 'OAuth server is disabled'],
  ['PUT', `/admin/oauth/clients/${id}`, 404, 'feature_disabled', 'OAuth server is disabled'],
  ['GET', '/admin/custom-providers', 404, 'feature_disabled', 'Custom OAuth providers are disabled'],
  ['GET', '/authorize?provider=github', 400, 'validation_failed', 'Unsupported provider: provider is not enabled'],
  ['GET', `/admin/users/${id}/factors`, 404, 'user_not_found', 'User not found'],
  ['DELETE', `/admin/users/${id}/passkeys/${id}`, 404, 'user_not_found', 'User not found'],
  ['POST', '/token?grant_type=web3', 422, 'web3_provider_disabled', 'Web3 provider is disabled'],
])(
  '%s %s is refused as at a Supabase that has the feature switched off',
  async (method, path, status, code, message) => {
    const backend = await backendWith()
    const { access_token } = await newcomer(backend)
    const bearer = path.startsWith('/admin') ? backend.serviceKey : access_token
    expect(await refusal(backend.ask(path, { method, bearer }))).toEqual({ status, code, message })
  },
)

test('phone numbers are for nobody until auth.external has phone', async () => {
  const backend = await backendWith({ external: { phone: false }, mailerAutoconfirm: false })
  const phone = somePhone()
  const ask = (path: string, body: object) => refusal(backend.ask(path, { body, headers: versioned }))
  const off = (status: number, message: string) => ({ status, code: 'phone_provider_disabled', message })
  const password = 'correct horse'
  expect(await ask('/signup', { phone, password })).toEqual(off(400, 'Phone signups are disabled'))
  expect(await ask('/otp', { phone: 'none' })).toEqual(off(400, 'Unsupported phone provider'))
  expect(await ask('/token?grant_type=password', { phone, password })).toEqual(off(422, 'Phone logins are disabled'))
  expect(await ask('/resend', { phone: 'none', type: 'sms' })).toEqual(off(400, 'Phone logins are disabled'))
  expect((await bodyOf(backend.ask('/settings'))).external.phone).toBe(false)

  const { email, password: known } = newUser()
  await backend.admin.createUser({ email, password: known, email_confirm: true })
  const { data } = await backend.client().auth.signInWithPassword({ email, password: known })
  // Not by the client: older versions hide what a 500 says.
  const change = backend.ask('/user', { method: 'PUT', bearer: data.session?.access_token ?? '', body: { phone } })
  expect(await refusal(change)).toMatchObject({ status: 500, message: 'Unable to get SMS provider' })
  expect(backend.outbox).toEqual([])
})

test.each([
  ['by default', undefined, false],
  ['with true', true, true],
  ['written as other providers are', {}, true],
])('phone is on or off in the settings %s', async (_how, phone, isOn) => {
  const { url, anonKey } = await platformWith({ auth: phone === undefined ? {} : { external: { phone } } })
  const { external } = await bodyOf(fetch(`${url}/auth/v1/settings`, { headers: { apikey: anonKey } }))
  expect(external.phone).toBe(isOn)
})

test("Supabase's client finds no second factors, no passkeys, and nothing else to sign in with", async () => {
  const { admin, client, ask, serviceKey } = await backendWith()
  const { auth } = client()
  const { data } = await auth.signUp({ email: 'ada@example.com', password: 'correct horse' })
  const userId = data.user?.id ?? ''
  expect((await auth.mfa.listFactors()).data).toMatchObject({ all: [], phone: [], totp: [], webauthn: [] })
  expect((await auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({ nextLevel: 'aal1' })
  expect((await auth.mfa.enroll({ factorType: 'totp' })).error?.code).toBe('mfa_totp_enroll_not_enabled')
  expect((await auth.mfa.unenroll({ factorId: id })).error?.code).toBe('mfa_factor_not_found')
  expect((await admin.mfa.listFactors({ userId })).data).toEqual({ factors: [] })
  expect(await bodyOf(ask(`/admin/users/${userId}/passkeys`, { bearer: serviceKey }))).toEqual([])
  expect((await auth.signInWithSSO({ domain: 'example.com' })).error?.code).toBe('saml_provider_disabled')
  expect((await admin.customProviders.listProviders()).error?.code).toBe('feature_disabled')
})
