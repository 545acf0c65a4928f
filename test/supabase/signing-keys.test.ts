import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { developmentSecret, developmentSigningKey } from '../../src/core/secrets.js'
import { platformOf } from '../keys/edited.js'
import {
  adminOf,
  answerOf,
  askAuth,
  headerOf,
  type Person,
  type Place,
  sentences,
  signIn,
  signUp,
  userOf,
} from '../keys/people.js'
import { platformWith } from '../scene.js'
import { ada, inSeconds, secretToken, userToken } from '../signing.js'
import { type Algorithm, algorithms, keyFile, newKey, ownKeys, privateMembers, retired } from './signing-keys.js'

interface Jwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

async function jwksOf({ authUrl }: Place): Promise<Jwks> {
  return (await (await fetch(`${authUrl}/auth/v1/.well-known/jwks.json`)).json()) as Jwks
}

/** Checks that both layers accept a token. */
const expectAccepted = async (place: Place, { token, id }: Person) => {
  expect(await answerOf(place, token)).toBe('open')
  expect(await userOf(place, token)).toBe(id)
}

test.each(algorithms)('a configured %s key signs user tokens, which both layers accept', async alg => {
  const { platform } = await platformOf(ownKeys, keyFile(newKey(alg, 'ours', { signs: true })))
  const person = await signUp(platform)
  expect(headerOf(person.token)).toEqual({ alg, typ: 'JWT', kid: 'ours' })
  await expectAccepted(platform, person)
})

const others = (alg: Algorithm) => algorithms.filter(other => other !== alg)

test.each(['RS256', 'ES256', 'EdDSA', 'HS256'] as const)(
  'with a signing key for %s, the anon key and the service key are still signed with the secret',
  async alg => {
    const keys = others(alg).map(other => newKey(other, other))
    const { platform } = await platformOf(ownKeys, keyFile(...keys, newKey(alg, 'ours', { signs: true })))
    expect(headerOf(platform.anonKey)).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(await answerOf(platform, platform.anonKey, '/api/v1')).toBe('open')
    expect((await adminOf(platform).listUsers()).error).toBeNull()
    expect(headerOf((await signUp(platform)).token).alg).toBe(alg)
  },
)

test('the published keys contain all that is needed to verify with, and nothing private', async () => {
  const keys = algorithms.map((alg, i) => newKey(alg, alg, { signs: i === 0 }))
  const { platform } = await platformOf(ownKeys, keyFile(...keys))
  const { keys: published } = await jwksOf(platform)
  // A shared secret has no public half.
  expect(published.map(({ kid }) => kid)).toEqual(algorithms.filter(alg => alg !== 'HS256'))
  for (const key of published) {
    expect(key).toMatchObject({ alg: key.kid, use: 'sig', key_ops: ['verify'] })
    const halves = { EC: ['crv', 'x', 'y'], RSA: ['n', 'e'], OKP: ['crv', 'x'] }[String(key.kty)] ?? []
    expect(Object.keys(key).sort()).toEqual(['alg', 'key_ops', 'kid', 'kty', 'use', ...halves].sort())
  }
  const text = JSON.stringify(published)
  for (const key of keys) {
    for (const member of privateMembers) {
      const secret = key[member]
      if (typeof secret === 'string') expect(text.includes(secret) ? `${key.kid}: ${member}` : '').toBe('')
    }
  }
})

test('only the public half of the development key is published', async () => {
  const { d: _d, ...shown } = developmentSigningKey
  expect(await jwksOf(await platformWith())).toEqual({ keys: [{ ...shown, use: 'sig', key_ops: ['verify'] }] })
})

// Supabase's client caches the keys of a host by id, for all of its instances; hence unique ids.
test.each(['RS256', 'ES256'] as const)(
  "Supabase's getClaims verifies a token of %s with the published key, without a request to /user",
  async alg => {
    const { platform } = await platformOf(ownKeys, keyFile(newKey(alg, randomUUID(), { signs: true })))
    const { client, id, token } = await signUp(platform)
    const fetching = vi.spyOn(globalThis, 'fetch')
    onTestFinished(() => fetching.mockRestore())
    const { data, error } = await client.auth.getClaims(token)
    expect(error).toBeNull()
    expect(data?.claims).toMatchObject({ sub: id, role: 'authenticated', aud: 'authenticated' })
    const paths = fetching.mock.calls.map(([url]) => new URL(String(url)).pathname)
    expect(paths).toEqual(['/auth/v1/.well-known/jwks.json'])
  },
)

test("Supabase's getClaims asks the backend about a token signed with a shared secret", async () => {
  const { platform } = await platformOf(ownKeys, keyFile(newKey('HS256', randomUUID(), { signs: true })))
  const { client, id, token } = await signUp(platform)
  expect((await client.auth.getClaims(token)).data?.claims).toMatchObject({ sub: id })
  await client.auth.signOut()
  expect((await client.auth.getClaims(token)).error).not.toBeNull()
})

test('keys are rotated without interruption: the new one signs, and the old one still verifies', async () => {
  const [old, next] = [newKey('ES256', 'old', { signs: true }), newKey('ES256', 'next', { signs: true })]
  const { platform, reload } = await platformOf(ownKeys, keyFile(old))
  const before = await signUp(platform)
  await expectAccepted(platform, before)

  await reload(ownKeys, keyFile(next, retired(old)))
  await expectAccepted(platform, before)
  const { data } = await before.client.auth.refreshSession()
  const refreshed = { ...before, token: data.session?.access_token ?? '' }
  expect(headerOf(refreshed.token)).toMatchObject({ kid: 'next' })
  await expectAccepted(platform, refreshed)
  expect((await jwksOf(platform)).keys.map(({ kid }) => kid)).toEqual(['next', 'old'])

  await reload(ownKeys, keyFile(next))
  await expectAccepted(platform, refreshed)
  expect(await answerOf(platform, before.token)).toBe(sentences.wrongSignature)
  expect(await userOf(platform, before.token)).toBe('403 bad_jwt')
})

test('a key file that cannot be used leaves the keys as they were', async () => {
  const old = newKey('ES256', 'old', { signs: true })
  const { platform, reload } = await platformOf(ownKeys, keyFile(old))
  const person = await signUp(platform)
  await expect(reload(ownKeys, keyFile(retired(old)))).rejects.toThrow('exactly one key has sign')
  await expect(reload(ownKeys, { 'keys.json': 'no keys' })).rejects.toThrow('keys.json:1:1')
  await expect(reload(ownKeys, keyFile({ ...old, d: 'AAAA' }))).rejects.toThrow()
  await expectAccepted(platform, person)
  expect(headerOf((await signIn(platform, person)).token).kid).toBe('old')
})

const ownSecret = { auth: { jwtSecret: 'a-secret-of-our-own-with-enough-characters' } }

test('with your own secret, user tokens are signed with it, and no key is published', async () => {
  const platform = await platformWith(ownSecret)
  const person = await signUp(platform)
  expect(headerOf(person.token)).toEqual({ alg: 'HS256', typ: 'JWT' })
  await expectAccepted(platform, person)
  expect(await jwksOf(platform)).toEqual({ keys: [] })
  expect((await person.client.auth.getClaims(person.token)).data?.claims).toMatchObject({ sub: person.id })
})

test.each([
  ['your own secret', async () => platformWith(ownSecret)],
  [
    'your own keys',
    async () => (await platformOf(ownKeys, keyFile(newKey('ES256', 'ours', { signs: true })))).platform,
  ],
])('with %s, tokens that anyone can sign are refused', async (_what, open) => {
  const platform = await open()
  const person = await signUp(platform)
  const signedByAnyone = [
    await userToken({ sub: person.id }),
    await userToken({ role: 'service_role' }),
    await secretToken({ role: 'service_role' }),
    await secretToken({ role: 'anon' }),
    await secretToken({ role: 'authenticated', ...ada, exp: inSeconds(60) }, developmentSecret),
    (await platformWith()).serviceKey,
  ]
  for (const token of signedByAnyone) {
    expect(await answerOf(platform, token, '/api/v1')).toMatch(/^The token (was not signed by|is not signed with)/)
    expect(await userOf(platform, token)).toBe('403 bad_jwt')
    const admin = await askAuth(platform, '/admin/users', { headers: { authorization: `Bearer ${token}` } })
    expect(admin.status).toBe(403)
  }
  const withOldKey = await fetch(`${platform.authUrl}/auth/v1/settings`, {
    headers: { apikey: (await platformWith()).anonKey },
  })
  expect(withOldKey.status).toBe(401)
})

test('tokens have the configured issuer', async () => {
  const issuerOf = async (apiExternalUrl = '') => {
    const platform = await platformWith({ auth: { apiExternalUrl } })
    const { client, token } = await signUp(platform)
    const { data } = await client.auth.getClaims(token)
    await expectAccepted(platform, {
      ...(await signIn(platform, { email: 'ada@example.com', password: 'correct-horse' })),
    })
    return { iss: data?.claims.iss, own: `${platform.authUrl}/auth/v1` }
  }
  const byDefault = await issuerOf()
  expect(byDefault.iss).toBe(byDefault.own)
  expect((await issuerOf('https://auth.example.com')).iss).toBe('https://auth.example.com')
})
