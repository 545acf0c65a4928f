import { createConnection } from 'node:net'
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
  ...['GET /callback', 'POST /callback', 'POST /sso', 'GET /sso/saml/metadata', 'POST /sso/saml/acs'],
  ...['GET /.well-known/jwks.json', 'GET /.well-known/openid-configuration', 'GET /user/identities/authorize'],
  ...[`DELETE /user/identities/${UUID}`, 'POST /factors', `POST /factors/${UUID}/challenge`],
  ...[`POST /factors/${UUID}/verify`, `DELETE /factors/${UUID}`, 'GET /admin/users', 'POST /admin/users'],
  ...[`GET /admin/users/${UUID}`, `PUT /admin/users/${UUID}`, `DELETE /admin/users/${UUID}`],
  ...[`GET /admin/users/${UUID}/factors`, `PUT /admin/users/${UUID}/factors/${UUID}`],
  ...[`DELETE /admin/users/${UUID}/factors/${UUID}`, 'POST /admin/generate_link', 'POST /invite'],
  ...[
    'GET /admin/sso/providers',
    'POST /admin/sso/providers',
    'GET /admin/audit',
    'POST /passkeys/authentication/verify',
  ],
  ...['POST /oauth/token', `GET /admin/users/${UUID}/passkeys`, 'POST /admin/custom-providers'],
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
  const backend = await backendWith({ mailerAutoconfirm: false, testOtp: '123456' })
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

test('any text in place of an id in a path is answered without a server error', async () => {
  const backend = await backendWith()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'PUT', 'DELETE'),
      fc.oneof(
        word.map(text => encoded(text)),
        fc.constantFrom('%', '%zz', '%ff', '%00', '..', '.', '%2e%2e'),
      ),
      async (method, id) => {
        const response = await backend.ask(`/admin/users/${id}`, { method, bearer: backend.serviceKey })
        expect(response.status).toBeLessThan(500)
      },
    ),
    { numRuns: runs(300) },
  )
})

test('metadata keys such as __proto__ are stored like any other', async () => {
  const backend = await backendWith()
  const body = `{"email":"${newUser().email}","user_metadata":{"__proto__":{"a":1},"constructor":2}}`
  const response = await backend.ask('/admin/users', { method: 'POST', body, bearer: backend.serviceKey })
  expect(await response.text()).toContain('"user_metadata":{"__proto__":{"a":1},"constructor":2}')
})

test('a user may have a lot of metadata', async () => {
  const { admin } = await backendWith()
  const many = Array.from({ length: 10_000 }, (_, i) => i)
  const { data, error } = await admin.createUser({
    email: newUser().email,
    user_metadata: { text: 'x'.repeat(900_000), many },
  })
  expect(error).toBeNull()
  const { data: changed } = await admin.updateUserById(data.user?.id ?? '', { user_metadata: { text: null } })
  expect(changed.user?.user_metadata).toEqual({ many })
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

test.each([
  'gr\u00fc\u00dfe@example.com',
  'ada@b\u00fccher.example',
  '\u{1f434}@example.com',
  'ADA\u0130@example.com',
  'a@\u212a.com',
])('the email %s with non-ASCII characters is refused', async email => {
  const { ask } = await backendWith()
  for (const path of ['/signup', '/otp', '/recover']) {
    expect((await ask(path, { body: { email, password: 'correct horse' } })).status).toBe(400)
  }
})

test('a lone surrogate becomes U+FFFD', async () => {
  const { ask } = await backendWith()
  const body = `{"email":"${newUser().email}","password":"correct horse","data":{"name":"\\ud800","\\udc00":1}}`
  const { user } = await bodyOf(ask('/signup', { method: 'POST', body }))
  expect(user.user_metadata).toMatchObject({ name: '\ufffd', '\ufffd': 1 })
})

test('a body that is not UTF-8 is refused without a server error', async () => {
  const { url, anonKey } = await backendWith()
  const response = await fetch(`${url}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: anonKey },
    body: Buffer.from('{"email":"\xff\xfe@example.com","password":"correct horse"}', 'latin1'),
  })
  expect(response.status).toBe(400)
  await expectSupabaseFormat(response, 'latin1')
})

test.each(['GET /auth/v1/admin/users/%zz', 'GET /auth/v1/verify?token=%&type=%', 'POST /auth/v1/token?grant_type=%00'])(
  '%s, sent exactly like this, is answered without a server error',
  async line => {
    const { url, anonKey } = await backendWith()
    const { hostname, port } = new URL(url)
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = createConnection(Number(port), hostname, () => {
        socket.write(
          `${line} HTTP/1.1\r\nHost: ${hostname}:${port}\r\napikey: ${anonKey}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
        )
      })
      let text = ''
      socket
        .on('data', data => (text += data))
        .on('end', () => resolve(text))
        .on('error', reject)
    })
    expect(Number(answer.split(' ')[1])).toBeLessThan(500)
  },
)

test('input never reaches the prototypes of objects', async () => {
  const backend = await backendWith()
  const { email, password } = newUser()
  const data = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}'
  const text = `{"email":"${email}","password":"${password}","data":${data},"__proto__":{"role":"service_role"}}`
  const { user, access_token } = await bodyOf(backend.ask('/signup', { method: 'POST', body: text }))
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  expect(user.role).toBe('authenticated')
  expect(user.user_metadata.polluted).toBeUndefined()
  const change = `{"data":{"__proto__":{"polluted":true},"hasOwnProperty":null}}`
  expect((await backend.ask('/user', { method: 'PUT', body: change, bearer: access_token })).status).toBe(200)
  expect((await backend.ask('/user', { bearer: access_token })).status).toBe(200)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})
