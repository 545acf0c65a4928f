import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { type Backend, backendWith, bodyOf, newcomer, newUser } from './backend.js'

const UUID = '6c8b5a0e-9a41-4c86-8b1e-0f3f4d6c2a11'

const endpoints = [
  ...['POST /signup', 'POST /token?grant_type=password', 'POST /token?grant_type=refresh_token'],
  ...['POST /token?grant_type=pkce', 'POST /token?grant_type=id_token', 'POST /token?grant_type=web3', 'POST /token'],
  ...['GET /user', 'PUT /user', 'POST /logout', 'POST /recover', 'POST /otp', 'POST /magiclink', 'POST /verify'],
  ...['GET /verify', 'POST /resend', 'GET /reauthenticate', 'GET /settings', 'GET /health', 'GET /authorize'],
  ...[
    'POST /sso',
    'GET /.well-known/jwks.json',
    'GET /.well-known/openid-configuration',
    'GET /user/identities/authorize',
    'GET /callback',
    'GET /authorize/account',
  ],
  ...[`DELETE /user/identities/${UUID}`, 'POST /factors', `POST /factors/${UUID}/challenge`],
  ...[`POST /factors/${UUID}/verify`, `DELETE /factors/${UUID}`, 'GET /admin/users', 'POST /admin/users'],
  ...[`GET /admin/users/${UUID}`, `PUT /admin/users/${UUID}`, `DELETE /admin/users/${UUID}`],
  ...[`GET /admin/users/${UUID}/factors`, `PUT /admin/users/${UUID}/factors/${UUID}`],
  ...[`DELETE /admin/users/${UUID}/factors/${UUID}`, 'POST /admin/generate_link', 'POST /invite'],
  ...['POST /passkeys/authentication/verify', `GET /admin/users/${UUID}/passkeys`, 'POST /admin/custom-providers'],
].map(endpoint => endpoint.split(' ') as [string, string])

/** Strings that have a meaning somewhere. */
const word = fc.oneof(
  fc.constantFrom(
    ...['ada@example.com', 'ADA@EXAMPLE.COM', '+47 900 00 000', '4790000000', 'signup', 'recovery', 'email', 'sms'],
    ...['email_change', 'phone_change', 'magiclink', 'invite', 'email_change_new', 's256', 'plain', '123456', 'google'],
    ...[
      'correct horse',
      'none',
      '24h',
      '1e9h',
      '__proto__',
      'constructor',
      'toString',
      '',
      '\0',
      '\ud800',
      '%',
      'null',
    ],
    ...[
      'https://localhost/',
      'javascript:alert(1)',
      UUID,
      'x'.repeat(50),
      'aaaaaaaaaaaa',
      '-1',
      '99999999999999999999',
    ],
  ),
  fc.string({ unit: anyCharacter, maxLength: 30 }),
)

const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: word },
  { weight: 1, arbitrary: fc.constantFrom(null, true, false, 0, 1.5, -1, 1e308, [], {}) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }) },
)

const fields = [
  ...['email', 'phone', 'password', 'data', 'channel', 'code_challenge', 'code_challenge_method', 'refresh_token'],
  ...['auth_code', 'code_verifier', 'type', 'token', 'token_hash', 'redirect_to', 'create_user', 'nonce', 'id', 'aud'],
  ...['app_metadata', 'user_metadata', 'role', 'password_hash', 'email_confirm', 'phone_confirm', 'ban_duration'],
  ...['new_email', 'should_soft_delete', 'factor_type', 'id_token', 'provider', 'gotrue_meta_security', '__proto__'],
]

const object = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...fields), word), value), { maxLength: 8 })
  .map(members => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`)

const body = fc.oneof(
  { weight: 8, arbitrary: object },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
)

/** As part of a URL, which cannot contain a lone surrogate. */
const encoded = (text: string) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, ''))

const parameters = [
  ...[
    'grant_type',
    'scope',
    'type',
    'token',
    'redirect_to',
    'page',
    'per_page',
    'sort',
    'filter',
    'provider',
    'state',
    'code',
    'apikey',
  ],
]
const query = fc
  .array(fc.tuple(fc.constantFrom(...parameters), word), { maxLength: 3 })
  .map(pairs => pairs.map(([name, value]) => `${name}=${encoded(value)}`).join('&'))

/** Text that a header may contain. */
const headerText = fc.string({ unit: fc.constantFrom(...'abcXYZ019 ,;:./=-_"%\u00e9'), maxLength: 20 })
const headers = fc.dictionary(
  fc.constantFrom(
    ...['x-jwt-aud', 'referer', 'redirect_to', 'x-supabase-api-version', 'content-type', 'origin', 'x-client-info'],
  ),
  headerText,
  { maxKeys: 3 },
)

async function expectSupabaseFormat(response: Response, what: string): Promise<void> {
  const text = await response.text()
  if (response.status < 400) {
    expect([200, 204, 302, 303], what).toContain(response.status)
    if (response.status === 200) expect(typeof JSON.parse(text), what).toBe('object')
    if (response.status > 300)
      expect(new URL(response.headers.get('location') ?? '').protocol, what).toMatch(/^https?:$/)
    return
  }
  expect(response.status, what).toBeLessThan(500)
  expect(response.headers.get('content-type'), what).toBe('application/json')
  const error = JSON.parse(text)
  // OAuth's own form, about ID tokens.
  if ('error_description' in error) {
    expect(error, what).toEqual({ error: expect.any(String), error_description: expect.any(String) })
    return
  }
  const isNew = response.headers.get('x-supabase-api-version') === '2024-01-01'
  const { code, message, error_code, msg, weak_password: _why, ...more } = error
  expect(more, what).toEqual({})
  expect(isNew ? [code, message] : [error_code, msg], what).toEqual([expect.any(String), expect.any(String)])
  if (!isNew) expect(code, what).toBe(response.status)
}

/** A bearer token of each kind of caller. */
async function bearerTokens(backend: Backend) {
  const { access_token } = await newcomer(backend)
  return [undefined, 'nonsense', backend.anonKey, backend.serviceKey, access_token]
}

test('every endpoint answers any input in the format of Supabase', async () => {
  const backend = await backendWith({ mailerAutoconfirm: false, testOtp: '123456', external: { google: {} } })
  const bearers = await bearerTokens(backend)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...endpoints),
      body,
      query,
      headers,
      fc.constantFrom(...bearers),
      async ([method, path], body, query, headers, bearer) => {
        const target = `${path}${path.includes('?') ? '&' : '?'}${query}`
        const response = await backend.ask(target, {
          method,
          headers,
          ...(method !== 'GET' && { body }),
          ...(bearer !== undefined && { bearer }),
        })
        await expectSupabaseFormat(response, `${method} ${target} ${body}`)
      },
    ),
    { numRuns: runs(1500) },
  )
})

test('metadata keys such as __proto__ are stored like any other', async () => {
  const backend = await backendWith()
  const body = `{"email":"${newUser().email}","user_metadata":{"__proto__":{"a":1},"constructor":2}}`
  const response = await backend.ask('/admin/users', { method: 'POST', body, bearer: backend.serviceKey })
  expect(await response.text()).toContain('"user_metadata":{"__proto__":{"a":1},"constructor":2}')
})

test('metadata that is nested too deeply is refused', async () => {
  const { ask } = await backendWith()
  const nested = (depth: number) =>
    `{"email":"${newUser().email}","password":"correct horse","data":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`
  expect((await ask('/signup', { method: 'POST', body: nested(300) })).status).toBe(200)
  for (const depth of [1000, 10_000, 100_000]) {
    expect((await ask('/signup', { method: 'POST', body: nested(depth) })).status).toBe(400)
  }
})

test('a lone surrogate becomes U+FFFD', async () => {
  const { ask } = await backendWith()
  const body = `{"email":"${newUser().email}","password":"correct horse","data":{"name":"\\ud800","\\udc00":1}}`
  const { user } = await bodyOf(ask('/signup', { method: 'POST', body }))
  expect(user.user_metadata).toMatchObject({ name: '\ufffd', '\ufffd': 1 })
})
