/** Sign-ins by ID tokens of other providers, as apps on phones do, through Supabase's own client. */
import { expect, test } from 'vitest'
import { connect } from '../../src/index.js'
import { clientOf, userOf } from '../keys/people.js'
import { platformWith, type Scene } from '../scene.js'
import { versioned } from './backend.js'

const email = 'ada@example.com'
const external = { google: {}, apple: true, facebook: {}, github: {} }
const scene = () => platformWith({ auth: { external } })
const appOf = (platform: Scene) => clientOf(platform, platform.anonKey).auth

/** The body of a refused request, and its status. */
async function refusalOf(platform: Scene, body: object, headers: Record<string, string> = versioned) {
  const response = await fetch(`${platform.url}/auth/v1/token?grant_type=id_token`, {
    method: 'POST',
    headers: { apikey: platform.anonKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return [response.status, await response.json()]
}

const oauthError = (error_description: string, error = 'invalid request') => [400, { error, error_description }]

test('an ID token of Google signs its holder in, who is the same user as after a sign-in in the browser', async () => {
  const platform = await scene()
  const token = await platform.idToken('google', { email: 'Ada@example.com' })
  const { data, error } = await appOf(platform).signInWithIdToken({ provider: 'google', token })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({
    email,
    app_metadata: { provider: 'google', providers: ['google'] },
    user_metadata: { email_verified: true, full_name: 'Ada', iss: 'https://accounts.google.com' },
  })
  expect(await userOf(platform, data.session?.access_token ?? '')).toBe(data.user?.id)
  expect((await platform.signInWith('google', { email })).user.id).toBe(data.user?.id)
})

test('over a connection, a test makes the same token', async () => {
  const platform = await scene()
  await platform.clock.freeze()
  const connected = await connect(platform.url)
  const token = await connected.idToken('apple', { email })
  const { data } = await appOf(platform).signInWithIdToken({ provider: 'apple', token })
  expect(data.user?.identities).toMatchObject([{ provider: 'apple', email }])
  const payload = (jwt: string) => jwt.split('.')[1]
  expect(payload(await platform.idToken('apple', { email }))).toBe(payload(token))
  for (const door of [platform, connected])
    await expect(door.idToken('github' as never)).rejects.toThrow(/idToken: provider must be one of apple, .*google/)
})

test('a token belongs to its nonce, except that of Facebook', async () => {
  const platform = await scene()
  const signIn = async (provider: 'google' | 'facebook', token: string, nonce?: string) =>
    (await appOf(platform).signInWithIdToken({ provider, token, ...(nonce !== undefined && { nonce }) })).error?.message
  const token = await platform.idToken('google', { email, nonce: 'once' })
  const bare = await platform.idToken('google', { email })
  expect(await signIn('google', token, 'once')).toBeUndefined()
  expect(await signIn('google', token, 'twice')).toBe('Nonces mismatch')
  const both = 'Passed nonce and nonce in id_token should either both exist or not.'
  expect([await signIn('google', token), await signIn('google', bare, 'once')]).toEqual([both, both])
  expect(await signIn('facebook', await platform.idToken('facebook', { email, nonce: 'once' }))).toBeUndefined()
})

test('a signed-in user links an account by its ID token', async () => {
  const platform = await scene()
  const auth = appOf(platform)
  await auth.signUp({ email: 'grace@example.com', password: 'correct horse' })
  const token = await platform.idToken('google', { email: 'hopper@example.com' })
  const { data, error } = await auth.linkIdentity({ provider: 'google', token })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email: 'grace@example.com', app_metadata: { providers: ['email', 'google'] } })
  const taken = await auth.linkIdentity({ provider: 'google', token })
  expect(taken.error).toMatchObject({ code: 'identity_already_exists' })
  const nobody = await refusalOf(platform, { provider: 'google', id_token: token, link_identity: true })
  expect(nobody).toMatchObject([401, { code: 'no_authorization' }])
})

test.each([
  ['no token', { provider: 'google' }, oauthError('id_token required')],
  ['no provider', { id_token: 'x' }, oauthError('provider or client_id and issuer required')],
  ['a token of nobody', { provider: 'google', id_token: 'x.y.z' }, oauthError('Bad ID token')],
  [
    'a token without an issuer',
    { provider: 'apple', id_token: 'x.y.z' },
    [400, { code: 'validation_failed', message: 'Unable to detect issuer in ID token for Apple provider' }],
  ],
  [
    'a provider that is off',
    { provider: 'kakao', id_token: 'x' },
    [400, { code: 'provider_disabled', message: 'Provider (issuer "https://kauth.kakao.com") is not enabled' }],
  ],
  [
    'a provider that is off, by its issuer',
    { client_id: 'app', issuer: 'https://kauth.kakao.com', id_token: 'x' },
    [400, { code: 'provider_disabled', message: 'Provider (issuer "https://kauth.kakao.com") is not enabled' }],
  ],
  [
    'a provider without ID tokens',
    { provider: 'github', id_token: 'x' },
    [400, { code: 'validation_failed', message: 'Custom OIDC provider "github" not allowed' }],
  ],
  [
    'a provider of their own',
    { provider: 'custom:acme', id_token: 'x' },
    [400, { code: 'validation_failed', message: 'Custom OAuth providers are disabled' }],
  ],
])('%s is refused in the words of Supabase', async (_what, body, refusal) => {
  expect(await refusalOf(await scene(), body)).toEqual(refusal)
})

test('only a fresh token of the same provider counts: no token of a user, and none of another', async () => {
  const platform = await scene()
  const ofApple = await platform.idToken('apple', { email })
  const ofGoogle = await platform.idToken('google', { email })
  const { accessToken } = await platform.signIn({ email })
  for (const id_token of [ofApple, accessToken, platform.serviceKey])
    expect(await refusalOf(platform, { provider: 'google', id_token })).toEqual(oauthError('Bad ID token'))
  expect(await refusalOf(platform, { provider: 'apple', id_token: ofGoogle })).toEqual([
    400,
    { code: 'validation_failed', message: 'Detected ID token issuer is not an Apple ID token issuer' },
  ])
  expect((await platform.ask('/v1/models', { bearer: ofGoogle })).status).toBe(401)
  await platform.clock.advance(3_601_000)
  expect(await refusalOf(platform, { provider: 'google', id_token: ofGoogle })).toEqual(oauthError('Bad ID token'))
  expect((await platform.journal.last({ path: '/auth/v1/token' }))?.advice).toMatch(/platform\.idToken/)
})

test('with a live auth backend, ID tokens are those of the provider', async () => {
  const platform = await platformWith({ auth: { mode: 'proxy' }, upstream: { authUrl: 'https://live.test' } })
  await expect(platform.idToken('google')).rejects.toThrow('auth.mode is proxy')
})
