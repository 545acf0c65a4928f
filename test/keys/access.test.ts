import { expect, test } from 'vitest'
import { hello, platformWith, refusalOf, type Scene, unauthorized } from '../scene.js'
import { NO_CREDENTIAL } from '../sentences.js'
import { userToken } from '../signing.js'

const bearers = {
  anon: async ({ anonKey }: Scene) => anonKey,
  service: async ({ serviceKey }: Scene) => serviceKey,
  user: async () => userToken(),
  apiKey: async ({ apiKey }: Scene) => apiKey,
}

const requests = {
  '/health': { method: 'GET' },
  '/api/v1': { method: 'GET' },
  '/v1/models': { method: 'GET' },
  '/v1/chat/completions': {
    method: 'POST',
    body: JSON.stringify(hello),
    headers: { 'content-type': 'application/json' },
  },
}

const index = 'GET /api/v1. Send the anon key, the service key or a user token.'
const models = 'GET /v1/models. Send an API key or a user token.'
const chat = 'POST /v1/chat/completions. Send an API key or a user token.'

test.each([
  ['anon', '/api/v1'],
  ['service', '/api/v1'],
  ['user', '/api/v1'],
  ['apiKey', '/v1/models'],
  ['user', '/v1/models'],
  ['apiKey', '/v1/chat/completions'],
  ['user', '/v1/chat/completions'],
] as const)('the %s credential grants access to %s', async (kind, path) => {
  const scene = await platformWith()
  const response = await scene.ask(path, { ...requests[path], bearer: await bearers[kind](scene) })
  expect(response.status).toBe(200)
})

test.each([
  ['apiKey', '/api/v1', `An API key is not accepted by ${index}`],
  ['anon', '/v1/models', `The anon key is not accepted by ${models}`],
  ['service', '/v1/models', `The service key is not accepted by ${models}`],
  ['anon', '/v1/chat/completions', `The anon key is not accepted by ${chat}`],
  ['service', '/v1/chat/completions', `The service key is not accepted by ${chat}`],
] as const)('the %s credential grants no access to %s', async (kind, path, sentence) => {
  const scene = await platformWith()
  const response = await scene.ask(path, { ...requests[path], bearer: await bearers[kind](scene) })
  expect(await refusalOf(response)).toEqual(unauthorized(sentence))
})

test('the health check needs no credential and ignores an invalid one', async () => {
  const { ask } = await platformWith()
  expect((await ask('/health', { bearer: null })).status).toBe(200)
  expect((await ask('/health', { bearer: 'sk-local-nobody-made-this' })).status).toBe(200)
})

test('the health check can be made to require a credential', async () => {
  const { ask, serviceKey, apiKey } = await platformWith({ access: { health: ['service'] } })
  expect(await refusalOf(await ask('/health', { bearer: null }))).toEqual(unauthorized(NO_CREDENTIAL))
  expect(await refusalOf(await ask('/health', { bearer: apiKey }))).toEqual(
    unauthorized('An API key is not accepted by GET /health. Send the service key.'),
  )
  expect((await ask('/health', { bearer: serviceKey })).status).toBe(200)
})

test('the chat endpoint can be opened to anyone', async () => {
  const { chat } = await platformWith({ access: { chat: 'anyone' } })
  expect((await chat(hello, { bearer: null })).status).toBe(200)
})

test.each(['anon', 'service', 'user', 'apiKey'] as const)(
  'an endpoint that accepts only the %s credential refuses all others',
  async only => {
    const scene = await platformWith({ access: { models: [only] } })
    for (const kind of ['anon', 'service', 'user', 'apiKey'] as const) {
      const response = await scene.ask('/v1/models', { bearer: await bearers[kind](scene) })
      expect([kind, response.status]).toEqual([kind, kind === only ? 200 : 401])
    }
  },
)
