import { expect, onTestFinished, test, vi } from 'vitest'
import { platformWith, refusalOf, unauthorized } from '../scene.js'
import { ada, inSeconds, secretToken, userToken } from '../signing.js'

const notYet = 'The token is not valid yet.'
const noRole = 'The token has no role that grants access here. Sign in to get a user token.'

/** How `/api/v1`, which takes all tokens and no API key, refuses this one. */
async function refusalOfToken(token: string) {
  const { ask } = await platformWith()
  return refusalOf(await ask('/api/v1', { bearer: token }))
}

test('a user token signed with the shared secret is accepted as well', async () => {
  const { ask } = await platformWith()
  const token = await secretToken({ role: 'authenticated', ...ada })
  expect((await ask('/api/v1', { bearer: token })).status).toBe(200)
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
])('a well-signed token with %s is refused', async (_what, claims) => {
  expect(await refusalOfToken(await userToken(claims))).toEqual(unauthorized(noRole))
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
