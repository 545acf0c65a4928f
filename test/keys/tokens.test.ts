import { generateKeyPair, SignJWT } from 'jose'
import { expect, onTestFinished, test, vi } from 'vitest'
import { developmentSigningKey } from '../../src/core/secrets.js'
import { platformWith, refusalOf, unauthorized } from '../scene.js'
import { ada, encoded, inSeconds, secretToken, unsignedToken, userToken } from '../signing.js'

const expired = 'The token has expired. Sign in again for a fresh one.'
const notYet = 'The token is not valid yet.'
const algorithm = 'The token is not signed with an algorithm that is accepted here.'
const wrongSignature = "The token was not signed by this platform's auth backend."
const unreadable = 'The token is not a readable JWT.'
const noRole = 'The token has no role that grants access here. Sign in to get a user token.'

/** How `/api/v1`, which takes all tokens and no API key, refuses this one. */
async function refusalOfToken(token: string) {
  const { ask } = await platformWith()
  return refusalOf(await ask('/api/v1', { bearer: token }))
}

test('the token of a signed-in user is accepted', async () => {
  const { ask } = await platformWith()
  expect((await ask('/api/v1', { bearer: await userToken() })).status).toBe(200)
})

test('a user token signed with the shared secret is accepted as well', async () => {
  const { ask } = await platformWith()
  const token = await secretToken({ role: 'authenticated', ...ada })
  expect((await ask('/api/v1', { bearer: token })).status).toBe(200)
})

test.each([
  ['an hour ago', () => inSeconds(-3600)],
  ['this very second', () => inSeconds(0)],
  ['in 1970', () => 0],
])('a token that expired %s is refused', async (_when, exp) => {
  expect(await refusalOfToken(await userToken({ exp: exp() }))).toEqual(unauthorized(expired))
})

test('a token that is not valid yet is refused', async () => {
  expect(await refusalOfToken(await userToken({ nbf: inSeconds(600) }))).toEqual(unauthorized(notYet))
})

test('a token is refused when another key has signed it', async () => {
  const { privateKey } = await generateKeyPair('ES256')
  const token = await new SignJWT({ role: 'authenticated', ...ada, exp: inSeconds(3600) })
    .setProtectedHeader({ alg: 'ES256', kid: developmentSigningKey.kid })
    .sign(privateKey)
  expect(await refusalOfToken(token)).toEqual(unauthorized(wrongSignature))
})

test('a token is refused when another secret has signed it', async () => {
  const token = await secretToken({ role: 'anon' }, 'a-secret-of-somebody-else-32-characters')
  expect(await refusalOfToken(token)).toEqual(unauthorized(wrongSignature))
})

test('an anon key signed with another secret is refused', async () => {
  const { anonKey } = await platformWith({ auth: { jwtSecret: 'a-secret-of-somebody-else-32-characters' } })
  expect(await refusalOfToken(anonKey)).toEqual(unauthorized(wrongSignature))
})

test('a token is refused when its claims were changed after signing', async () => {
  const [header, , signature] = (await userToken()).split('.')
  const claims = encoded({ role: 'service_role', exp: inSeconds(3600) })
  expect(await refusalOfToken(`${header}.${claims}.${signature}`)).toEqual(unauthorized(wrongSignature))
})

test.each(['anon', 'service_role', 'authenticated'])('an unsigned token with the role %s is refused', async role => {
  expect(await refusalOfToken(unsignedToken({ role, ...ada }))).toEqual(unauthorized(algorithm))
})

test.each(['none', 'None', 'NONE', 'HS384', 'RS256', 'ES384'])('the algorithm %s is refused', async alg => {
  const [, claims, signature] = (await userToken()).split('.')
  expect(await refusalOfToken(`${encoded({ alg })}.${claims}.${signature}`)).toEqual(unauthorized(algorithm))
})

const { d: _private, ...publicKey } = developmentSigningKey
test.each([
  ['JSON', JSON.stringify(publicKey)],
  ['raw coordinates', Buffer.from(`${publicKey.x}${publicKey.y}`, 'base64url')],
  ['its first coordinate', Buffer.from(publicKey.x, 'base64url')],
  ['the text of its first coordinate', publicKey.x],
])('a token signed with the public key as the secret is refused: %s', async (_form, secret) => {
  const token = await secretToken({ role: 'service_role' }, secret)
  expect(await refusalOfToken(token)).toEqual(unauthorized(wrongSignature))
})

test('a token that brings its own key is refused', async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const token = await new SignJWT({ role: 'service_role', exp: inSeconds(3600) })
    .setProtectedHeader({ alg: 'ES256', jwk: { kty: 'EC' }, jku: 'http://127.0.0.1:1/jwks.json' })
    .sign(privateKey)
  expect(await refusalOfToken(token)).toEqual(unauthorized(wrongSignature))
})

test.each([
  ['three letters', 'a.b.c'],
  ['a header that is not JSON', `${Buffer.from('hello').toString('base64url')}.${encoded({})}.c2ln`],
  ['a header without an algorithm', `${encoded({ typ: 'JWT' })}.${encoded({})}.c2ln`],
])('a malformed token is refused: %s', async (_what, token) => {
  expect(await refusalOfToken(token)).toEqual(unauthorized(unreadable))
})

test('a token that never expires is refused', async () => {
  const { status, body } = await refusalOfToken(await userToken({ exp: undefined }))
  expect(status).toBe(401)
  expect(body).toEqual({ error: expect.any(String) })
})

test.each([
  ['no role', { role: undefined }],
  ['a database role', { role: 'postgres' }],
  ['no subject', { sub: undefined }],
  ['an empty subject', { sub: '' }],
])('a well-signed token with %s is refused', async (_what, claims) => {
  expect(await refusalOfToken(await userToken(claims))).toEqual(unauthorized(noRole))
})

test('a token that was accepted before is refused once it has expired', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { ask } = await platformWith()
  const bearer = await userToken({ exp: inSeconds(60) })
  expect((await ask('/v1/models', { bearer })).status).toBe(200)
  expect((await ask('/v1/models', { bearer })).status).toBe(200)
  vi.setSystemTime(Date.now() + 60_000)
  expect(await refusalOf(await ask('/v1/models', { bearer }))).toEqual(unauthorized(expired))
})

test('a token that was refused as not valid yet is accepted once it is valid', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { ask } = await platformWith()
  const bearer = await userToken({ nbf: inSeconds(30) })
  expect(await refusalOf(await ask('/v1/models', { bearer }))).toEqual(unauthorized(notYet))
  vi.setSystemTime(Date.now() + 30_000)
  expect((await ask('/v1/models', { bearer })).status).toBe(200)
})

test('a token that one platform accepts is refused by a platform with another secret', async () => {
  const one = await platformWith()
  const other = await platformWith({ auth: { jwtSecret: 'a-secret-of-somebody-else-32-characters' } })
  expect((await one.ask('/api/v1', { bearer: one.anonKey })).status).toBe(200)
  expect(await refusalOf(await other.ask('/api/v1', { bearer: one.anonKey }))).toEqual(unauthorized(wrongSignature))
})

test('the anon key and the service key are the same on every start', async () => {
  const [one, other] = [await platformWith(), await platformWith()]
  expect(one.anonKey).toBe(other.anonKey)
  expect(one.serviceKey).toBe(other.serviceKey)
  expect(one.anonKey).not.toBe(one.serviceKey)
})
