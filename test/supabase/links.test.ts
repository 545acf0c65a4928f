import { expect, test } from 'vitest'
import { backendWith, claimsOf, follow, newUser, refusal } from './backend.js'

const app = 'http://localhost:5173/welcome'

/** A user whose email is not confirmed yet, and the link that confirms it. */
async function unconfirmed(auth: Parameters<typeof backendWith>[0] = {}) {
  const backend = await backendWith({ mailerAutoconfirm: false, ...auth })
  const { email, password } = newUser()
  await backend.client().auth.signUp({ email, password, options: { emailRedirectTo: app } })
  return { backend, email, password, link: backend.messageTo(email).link }
}

test('an emailed link contains a hash, its type and the URL to redirect to', async () => {
  const { backend, link } = await unconfirmed()
  expect(link).toMatch(
    new RegExp(`^${backend.url}/auth/v1/verify\\?token=[0-9a-f]{56}&type=signup&redirect_to=${app}$`),
  )
})

test('a link redirects to the app with a session in the fragment', async () => {
  const { backend, link, email } = await unconfirmed()
  const { status, location, fragment } = await follow(link)
  expect(status).toBe(303)
  expect(location.split('#')[0]).toBe(app)
  expect(Object.keys(fragment)).toEqual([
    'access_token',
    'expires_at',
    'expires_in',
    'refresh_token',
    'sb',
    'token_type',
    'type',
  ])
  expect(fragment).toMatchObject({ expires_in: '3600', sb: '', token_type: 'bearer', type: 'signup' })
  const { data, error } = await backend.client().auth.setSession({
    access_token: fragment.access_token ?? '',
    refresh_token: fragment.refresh_token ?? '',
  })
  expect(error).toBeNull()
  expect(data.user).toMatchObject({ email, email_confirmed_at: expect.any(String) })
  expect(claimsOf(fragment.access_token ?? '').amr).toMatchObject([{ method: 'otp' }])
})

test('a link works once', async () => {
  const { link } = await unconfirmed()
  await follow(link)
  const { status, location, fragment } = await follow(link)
  expect(status).toBe(303)
  expect(location).toBe(
    `${app}#error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid+or+has+expired&sb=`,
  )
  expect(fragment).not.toHaveProperty('access_token')
})

test('a HEAD request does not use up a link', async () => {
  const { link } = await unconfirmed()
  const head = await fetch(link, { method: 'HEAD', redirect: 'manual' })
  expect(head.status).toBe(405)
  expect((await follow(link)).fragment).toHaveProperty('access_token')
})

test('a link of an unknown type redirects to the app with an error', async () => {
  const { link } = await unconfirmed()
  expect((await follow(link.replace('type=signup', 'type=party'))).fragment).toEqual({
    error: 'invalid_request',
    error_code: 'validation_failed',
    error_description: 'Invalid email verification type',
    sb: '',
  })
})

test.each([
  ['?token=abc', 'Verify requires a verification type'],
  ['?type=signup', 'Verify requires a token or a token hash'],
])('the incomplete link %s is refused', async (query, message) => {
  const { ask } = await backendWith()
  expect(await refusal(ask(`/verify${query}`))).toEqual({ status: 400, code: 'validation_failed', message })
})

test('an emailed link uses the configured external URL of the backend', async () => {
  const { link } = await unconfirmed({ apiExternalUrl: 'https://auth.example.com/auth/v1/' })
  expect(link).toMatch(/^https:\/\/auth\.example\.com\/auth\/v1\/verify\?token=/)
})
