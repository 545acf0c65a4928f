import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { importJWK, SignJWT } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { developmentSecret, developmentSigningKey } from '../../src/core/secrets.js'
import { runs } from '../runs.js'
import { platformWith } from '../scene.js'
import { ada, encoded, inSeconds, userToken } from '../signing.js'
import { keyFile, newKey, ownKeys } from '../supabase/signing-keys.js'
import { platformOf } from './edited.js'
import { answerOf, askAuth, type Place, sentences, userOf } from './people.js'

const kid = developmentSigningKey.kid
const claims = { role: 'authenticated', ...ada, exp: inSeconds(3600) }
const service = { role: 'service_role', exp: inSeconds(3600) }

/** A token with exactly this header and these claims, signed by this key. */
const tokenOf = async (header: object, payload: object, jwk: object, alg: string) =>
  new SignJWT({ ...payload })
    .setProtectedHeader({ alg, ...header })
    .sign(await importJWK({ ...jwk, key_ops: undefined } as never, alg))

/** A token put together by hand from strings, signed with ES256 by this key. */
function rawToken(header: string, payload: string, key: KeyObject): string {
  const input = `${Buffer.from(header).toString('base64url')}.${Buffer.from(payload).toString('base64url')}`
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

const strangers = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const strangersJwk = strangers.privateKey.export({ format: 'jwk' })
const strangersPublic = strangers.publicKey.export({ format: 'jwk' })

/** How both layers answer a token: the platform, and the auth backend on a user's and on an admin's endpoint. */
async function verdicts(place: Place, token: string) {
  const admin = await askAuth(place, '/admin/users', { headers: { authorization: `Bearer ${token}` } })
  return {
    platform: await answerOf(place, token, '/api/v1'),
    user: await userOf(place, token),
    admin: `${admin.status} ${((await admin.json()) as { error_code?: string }).error_code}`,
  }
}

const refused = (sentence: string) => ({ platform: sentence, user: '403 bad_jwt', admin: '403 bad_jwt' })

test.each(['none', 'nOnE', ''])('a token with the algorithm %j is refused on both layers', async alg => {
  const platform = await platformWith()
  for (const payload of [claims, service]) {
    for (const signature of ['', 'AAAA']) {
      const token = `${encoded({ alg, typ: 'JWT', kid })}.${encoded(payload)}.${signature}`
      expect(await verdicts(platform, token)).toMatchObject({ user: '403 bad_jwt', admin: '403 bad_jwt' })
      expect(await answerOf(platform, token, '/api/v1')).not.toBe('open')
    }
  }
})

const { d: _private, ...publicKey } = developmentSigningKey
test.each([
  ['the public JWK', () => JSON.stringify(publicKey)],
  ['both coordinates of the public key', () => Buffer.from(publicKey.x + publicKey.y, 'base64url')],
  ['the public key in PEM', () => developmentPublicKey().export({ format: 'pem', type: 'spki' })],
  ['the key id', () => kid],
])(
  'a token signed with %s as the secret is refused, with and without the key id in its header',
  async (_form, secret) => {
    const platform = await platformWith()
    const jwk = { kty: 'oct', k: Buffer.from(secret()).toString('base64url') }
    for (const header of [{ kid }, {}]) {
      expect(await verdicts(platform, await tokenOf(header, service, jwk, 'HS256'))).toEqual(
        refused(sentences.wrongSignature),
      )
    }
  },
)

const unknownIds: readonly (readonly [string, unknown])[] = [
  ['no key has', 'a3f1c1de-0000-4000-8000-000000000000'],
  ['is a relative path', '../../../../../dev/null'],
  ['is __proto__', '__proto__'],
  ['is an array with the right id', [kid]],
]

test.each(unknownIds)('a token with a key id that %s is refused, whatever key signed it', async (_what, id) => {
  const platform = await platformWith()
  const own = await tokenOf({ kid: id }, claims, developmentSigningKey, 'ES256')
  expect(await verdicts(platform, own)).toEqual(refused(sentences.wrongSignature))
  const shared = { kty: 'oct', k: Buffer.from(developmentSecret).toString('base64url') }
  expect(await verdicts(platform, await tokenOf({ kid: id }, service, shared, 'HS256'))).toEqual(
    refused(sentences.wrongSignature),
  )
})

test('a key that a token brings along is ignored, and a key URL is never fetched', async () => {
  let asked = 0
  const keyServer = createServer((_request, response) => {
    asked++
    response.end(JSON.stringify({ keys: [{ ...strangersPublic, kid, alg: 'ES256' }] }))
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => keyServer.once('listening', resolve))
  onTestFinished(() => void keyServer.close())
  const url = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/jwks.json`

  const platform = await platformWith()
  const headers = [
    { jwk: strangersPublic, kid },
    { jku: url, kid },
    { x5u: url, kid },
    { x5c: ['MIIB'], kid },
  ]
  for (const header of headers) {
    const token = await tokenOf(header, service, strangersJwk, 'ES256')
    expect(await verdicts(platform, token)).toEqual(refused(sentences.wrongSignature))
  }
  expect(asked).toBe(0)
})

/** A platform with keys of four kinds; the first one signs. */
async function manyKeys() {
  const keys = {
    rs: newKey('RS256', 'rs', { signs: true }),
    es: newKey('ES256', 'es'),
    ed: newKey('EdDSA', 'ed'),
    hs: newKey('HS256', 'hs'),
  }
  const { platform } = await platformOf(ownKeys, keyFile(...Object.values(keys)))
  return { platform, keys }
}

const kinds = ['rs', 'es', 'ed', 'hs'] as const

test('each key verifies tokens with its own id and algorithm only', async () => {
  const { platform, keys } = await manyKeys()
  for (const one of kinds) {
    const { alg } = keys[one]
    const own = await tokenOf({ kid: one }, claims, keys[one], alg)
    expect(await answerOf(platform, own, '/api/v1')).toBe('open')
    for (const other of kinds) {
      if (other === one) continue
      const mixed = await tokenOf({ kid: other }, claims, keys[one], alg)
      expect(await verdicts(platform, mixed)).toEqual(refused(sentences.wrongSignature))
    }
    const nameless = await tokenOf({}, claims, keys[one], alg)
    expect(await verdicts(platform, nameless)).toEqual(refused(sentences.wrongSignature))
  }
})

const developmentPublicKey = () => createPublicKey({ key: developmentSigningKey, format: 'jwk' })

test('a token is refused when any single character of it is changed', async () => {
  const platform = await platformWith()
  const token = await userToken()
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
  // The last character of a signature carries unused bits.
  const place = fc.nat({ max: token.length - 2 })
  const character = fc.constantFrom(...alphabet)
  await fc.assert(
    fc.asyncProperty(place, character, async (i, wrong) => {
      fc.pre(token[i] !== wrong)
      expect(await answerOf(platform, `${token.slice(0, i)}${wrong}${token.slice(i + 1)}`)).not.toBe('open')
    }),
    { numRuns: runs(150) },
  )
})

/** Claims with values of any JSON type, where GoTrue expects one specific type. */
const oddClaims = fc.dictionary(
  fc.constantFrom(
    ...['sub', 'role', 'session_id', 'email', 'phone', 'aud', 'iss', 'jti', 'aal', 'amr', 'is_anonymous', 'exp', 'nbf'],
    ...['app_metadata', 'user_metadata', 'iat', '__proto__'],
  ),
  fc.oneof(
    ...[ada.sub, 'service_role', 'authenticated', inSeconds(3600)].flatMap(value => [
      fc.constant(value),
      fc.constant([value]),
      fc.constant({ 0: value, toString: value }),
    ]),
    fc.jsonValue({ maxDepth: 2 }),
  ),
)

test('a well-signed token with claims of any type is accepted or refused, and never causes a server error', async () => {
  const platform = await platformWith()
  await fc.assert(
    fc.asyncProperty(oddClaims, fc.boolean(), async (odd, isAdmins) => {
      const whole = JSON.stringify({ ...(isAdmins ? service : claims), ...odd })
      const key = createPrivateKey({ key: { ...developmentSigningKey }, format: 'jwk' })
      const token = rawToken(JSON.stringify({ alg: 'ES256', kid }), whole, key)
      const { platform: onPlatform, user, admin } = await verdicts(platform, token)
      expect(onPlatform).not.toMatch(/^\d/)
      expect(user).toMatch(/^40[013] (bad_jwt|user_not_found|session_not_found)$/)
      expect(admin).toMatch(/^(200|40[03] (bad_jwt|not_admin|user_not_found|session_not_found))/)
      const { role } = JSON.parse(whole)
      if (admin.startsWith('200')) expect(role).toBe('service_role')
    }),
    { numRuns: runs(1000) },
  )
})

test('a claim of the wrong type is refused', async () => {
  const platform = await platformWith()
  const token = await userToken({ role: ['service_role'] })
  expect(await verdicts(platform, token)).toEqual(refused('A claim of the token has the wrong type.'))
})
