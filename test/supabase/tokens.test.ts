import { expect, test } from 'vitest'
import { backendWith, bodyOf, claimsOf, headerOf, newUser, UUID } from './backend.js'

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

test('a token has the role and the audience of its user', async () => {
  const { client, admin } = await backendWith()
  const { email, password } = newUser()
  await admin.createUser({ email, password, email_confirm: true, role: 'editor' })
  const { data } = await client().auth.signInWithPassword({ email, password })
  expect(claimsOf(data.session?.access_token ?? '')).toMatchObject({ role: 'editor', aud: 'authenticated' })
})
