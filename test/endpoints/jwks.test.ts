import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { ada, userToken } from '../signing.js'

const path = '/auth/v1/.well-known/jwks.json'

test('anyone can read the public key of user tokens, and the private part is not published', async () => {
  const { ask } = await platformWith()
  const response = await ask(path, { bearer: null })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('cache-control')).toBe('public, max-age=600')
  expect(await response.json()).toEqual({
    keys: [
      {
        kty: 'EC',
        crv: 'P-256',
        alg: 'ES256',
        use: 'sig',
        key_ops: ['verify'],
        kid: expect.stringMatching(/^[\da-f-]{36}$/),
        x: expect.stringMatching(/^[\w-]{43}$/),
        y: expect.stringMatching(/^[\w-]{43}$/),
      },
    ],
  })
})

test('an app can verify user tokens with the published key', async () => {
  const { url } = await platformWith()
  const { payload } = await jwtVerify(await userToken(), createRemoteJWKSet(new URL(url + path)))
  expect(payload).toMatchObject({ role: 'authenticated', ...ada })
})

test('the anon key cannot be verified with the published key, since its secret is not published', async () => {
  const { url, anonKey } = await platformWith()
  expect(decodeProtectedHeader(anonKey).alg).toBe('HS256')
  await expect(jwtVerify(anonKey, createRemoteJWKSet(new URL(url + path)))).rejects.toThrow()
})
