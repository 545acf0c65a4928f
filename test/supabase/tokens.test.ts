import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { exportJWK, generateKeyPair } from 'jose'
import { expect, onTestFinished, test, vi } from 'vitest'
import { secretToken } from '../signing.js'
import { backendWith, bodyOf, claimsOf, headerOf, newUser, UUID } from './backend.js'

const ownSecret = 'a-secret-of-our-own-with-at-least-32-characters'

/** A file with a signing key of this algorithm. */
async function keyFile(alg: 'ES256' | 'RS256', kid: string = randomUUID()): Promise<string> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  const key = { ...(await exportJWK(privateKey)), alg, kid, key_ops: ['sign', 'verify'] }
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'standin-keys-')), 'keys.json')
  writeFileSync(file, JSON.stringify([key]))
  return file
}

test('a new session has the fields of Supabase and headers that identify the user and the session', async () => {
  const { ask } = await backendWith()
  const response = await ask('/signup', { body: newUser() })
  const body = await bodyOf(response)
  expect(Object.keys(body)).toEqual(['access_token', 'token_type', 'expires_in', 'expires_at', 'refresh_token', 'user'])
  expect(body).toMatchObject({
    token_type: 'bearer',
    expires_in: 3600,
    refresh_token: expect.stringMatching(/^[a-z0-9]{12}$/),
  })
  const { iat, exp, session_id } = claimsOf(body.access_token)
  expect(exp - iat).toBe(3600)
  expect(body.expires_at).toBe(exp)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('sb-auth-user-id')).toBe(body.user.id)
  expect(response.headers.get('sb-auth-session-id')).toBe(session_id)
  expect(response.headers.get('sb-auth-refresh-token-prefix')).toBe(body.refresh_token.slice(0, 5))
  expect(response.headers.has('x-supabase-api-version')).toBe(false)
})

test('a user token has exactly the claims that Supabase issues', async () => {
  const { client, url } = await backendWith()
  const { email, password } = newUser()
  const before = Math.floor(Date.now() / 1000)
  const { data } = await client().auth.signUp({ email, password })
  const token = data.session?.access_token ?? ''
  expect(headerOf(token)).toEqual({ alg: 'ES256', typ: 'JWT', kid: expect.stringMatching(UUID) })
  const claims = claimsOf(token)
  expect(claims).toEqual({
    iss: `${url}/auth/v1`,
    sub: data.user?.id,
    aud: 'authenticated',
    exp: claims.iat + 3600,
    iat: expect.any(Number),
    email,
    phone: '',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { sub: data.user?.id, email, email_verified: true, phone_verified: false },
    role: 'authenticated',
    aal: 'aal1',
    amr: [{ method: 'password', timestamp: claims.iat }],
    session_id: expect.stringMatching(UUID),
    is_anonymous: false,
  })
  expect(claims.iat).toBeGreaterThanOrEqual(before)
  expect(claims.iat).toBeLessThanOrEqual(Date.now() / 1000)
})

test('tokens can leave out the issuer, as those of a self-hosted backend do', async () => {
  const { client } = await backendWith({ jwtIssuer: 'none' })
  const { data } = await client().auth.signUp(newUser())
  expect(claimsOf(data.session?.access_token ?? '')).not.toHaveProperty('iss')
})

test('tokens have the configured lifetime and issuer', async () => {
  const { client } = await backendWith({ jwtExp: 120, jwtIssuer: 'https://auth.example.com/auth/v1' })
  const { data } = await client().auth.signUp(newUser())
  expect(data.session?.expires_in).toBe(120)
  const { exp, iat, iss } = claimsOf(data.session?.access_token ?? '')
  expect([exp - iat, iss]).toEqual([120, 'https://auth.example.com/auth/v1'])
})

test('a token has the role and the audience of its user', async () => {
  const { client, admin } = await backendWith()
  const { email, password } = newUser()
  await admin.createUser({ email, password, email_confirm: true, role: 'editor' })
  const { data } = await client().auth.signInWithPassword({ email, password })
  expect(claimsOf(data.session?.access_token ?? '')).toMatchObject({ role: 'editor', aud: 'authenticated' })
})

test('two tokens of one session, issued in the same second, have the same claims', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { client } = await backendWith()
  const { auth } = client()
  const { data } = await auth.signUp(newUser())
  const { data: next } = await auth.refreshSession()
  expect(claimsOf(next.session?.access_token ?? '')).toEqual(claimsOf(data.session?.access_token ?? ''))
})

test('the public keys may be cached for ten minutes and contain nothing private', async () => {
  const { ask } = await backendWith()
  const response = await ask('/.well-known/jwks.json', { headers: { apikey: '' } })
  expect(response.headers.get('cache-control')).toBe('public, max-age=600')
  const { keys } = await bodyOf(response)
  expect(keys).toEqual([
    {
      kty: 'EC',
      crv: 'P-256',
      alg: 'ES256',
      use: 'sig',
      kid: expect.any(String),
      key_ops: ['verify'],
      x: expect.any(String),
      y: expect.any(String),
    },
  ])
})

test('with a shared secret, no key is published, and tokens name no key', async () => {
  const { ask, client } = await backendWith({ jwtSecret: ownSecret })
  expect(await bodyOf(ask('/.well-known/jwks.json'))).toEqual({ keys: [] })
  const { data } = await client().auth.signUp(newUser())
  expect(headerOf(data.session?.access_token ?? '')).toEqual({ alg: 'HS256', typ: 'JWT' })
})

test.each(['ES256', 'RS256'] as const)(
  'getClaims verifies a token signed with %s by the published key alone',
  async alg => {
    const { client, url } = await backendWith({ signingKeys: await keyFile(alg, `of-tests-${alg}`) })
    const { auth } = client()
    const { email, password } = newUser()
    await auth.signUp({ email, password })
    const fetching = vi.spyOn(globalThis, 'fetch')
    onTestFinished(() => void fetching.mockRestore())
    const { data, error } = await auth.getClaims()
    expect(error).toBeNull()
    expect(data?.claims).toMatchObject({ email, role: 'authenticated' })
    expect(data?.header).toMatchObject({ alg, kid: `of-tests-${alg}` })
    expect(fetching.mock.calls.map(([address]) => String(address))).toEqual([`${url}/auth/v1/.well-known/jwks.json`])
  },
)

test('getClaims asks the backend about a token signed with HS256', async () => {
  const { client, url } = await backendWith({ jwtSecret: ownSecret })
  const { auth } = client()
  const { email, password } = newUser()
  await auth.signUp({ email, password })
  const fetching = vi.spyOn(globalThis, 'fetch')
  onTestFinished(() => void fetching.mockRestore())
  const { data } = await auth.getClaims()
  expect(data?.claims).toMatchObject({ email })
  expect(fetching.mock.calls.map(([address]) => String(address))).toEqual([`${url}/auth/v1/user`])
})

test('getClaims returns nothing before a sign-in', async () => {
  const { client } = await backendWith()
  expect(await client().auth.getClaims()).toEqual({ data: null, error: null })
})

test('getClaims does not accept a token with a foreign signature', async () => {
  const { client } = await backendWith()
  const forged = await secretToken({ aud: 'authenticated', sub: '1234567890', role: 'authenticated' }, ownSecret)
  const { data, error } = await client().auth.getClaims(forged)
  expect(data).toBeNull()
  expect(error?.message).toContain('unable to parse or verify signature')
})

test('getClaims does not accept a signature that does not match the published key', async () => {
  const { client } = await backendWith({ signingKeys: await keyFile('RS256') })
  const { auth } = client()
  const { data } = await auth.signUp(newUser())
  const [header, , signature] = (data.session?.access_token ?? '').split('.')
  const claims = { ...claimsOf(data.session?.access_token ?? ''), role: 'service_role' }
  const changed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
  const { error } = await auth.getClaims(changed)
  expect(error?.message).toContain('Invalid JWT signature')
})
