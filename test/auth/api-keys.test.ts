import { expect, onTestFinished, test, vi } from 'vitest'
import { platformWith, refusalOf, unauthorized } from '../scene.js'

const working = { name: 'working', key: 'sk-local-working' }

test('the API key of the platform opens the language model API', async () => {
  const { ask, apiKey } = await platformWith()
  expect((await ask('/v1/models', { bearer: apiKey })).status).toBe(200)
})

test('an API key that nobody made is refused', async () => {
  const { ask } = await platformWith()
  expect(await refusalOf(await ask('/v1/models', { bearer: 'sk-local-nobody-made-this' }))).toEqual(
    unauthorized('The API key is not known.'),
  )
})

test.each([
  ['cut', (key: string) => key.slice(0, -1)],
  ['lengthened', (key: string) => `${key}a`],
  ['in capitals', (key: string) => key.toUpperCase()],
])('an API key is refused when it is %s', async (_how, changed) => {
  const { ask, apiKey } = await platformWith()
  expect(await refusalOf(await ask('/v1/models', { bearer: changed(apiKey) }))).toEqual(
    unauthorized('The API key is not known.'),
  )
})

test('a revoked API key is refused, and says so', async () => {
  const { ask } = await platformWith({ apiKeys: [working, { name: 'old', key: 'sk-local-old', revoked: true }] })
  expect(await refusalOf(await ask('/v1/models', { bearer: 'sk-local-old' }))).toEqual(
    unauthorized('The API key has been revoked.'),
  )
})

test('an expired API key is refused, and says so', async () => {
  const expired = { name: 'expired', key: 'sk-local-expired', expiresAt: '2020-01-01T00:00:00Z' }
  const { ask } = await platformWith({ apiKeys: [working, expired] })
  expect(await refusalOf(await ask('/v1/models', { bearer: expired.key }))).toEqual(
    unauthorized('The API key has expired.'),
  )
})

test('an API key works until the moment it expires', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2030-01-01T11:59:30Z') })
  onTestFinished(() => void vi.useRealTimers())
  const { ask } = await platformWith({ apiKeys: [{ ...working, expiresAt: '2030-01-01T12:00:00Z' }] })
  expect((await ask('/v1/models', { bearer: working.key })).status).toBe(200)
  vi.setSystemTime(new Date('2030-01-01T12:00:00Z'))
  expect(await refusalOf(await ask('/v1/models', { bearer: working.key }))).toEqual(
    unauthorized('The API key has expired.'),
  )
})

test('an API key may have dots in it, as many as a token', async () => {
  const key = 'sk.local.dotted'
  const { ask } = await platformWith({ apiKeys: [{ name: 'dotted', key }] })
  expect((await ask('/v1/models', { bearer: key })).status).toBe(200)
})

test('the platform hands out the first of its API keys that works', async () => {
  const { apiKey } = await platformWith({
    apiKeys: [
      { name: 'revoked', key: 'sk-local-revoked', revoked: true },
      { name: 'expired', key: 'sk-local-expired', expiresAt: '2020-01-01T00:00:00Z' },
      working,
    ],
  })
  expect(apiKey).toBe('sk-local-working')
})

test('with API keys of your own the one from the docs stops working', async () => {
  const { apiKey: published } = await platformWith()
  const { ask } = await platformWith({ apiKeys: [working] })
  expect((await ask('/v1/models', { bearer: published })).status).toBe(401)
  expect((await ask('/v1/models', { bearer: working.key })).status).toBe(200)
})
