import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'

test('the index lists the four endpoints and the credentials of each', async () => {
  const { ask, anonKey } = await platformWith()
  const response = await ask('/api/v1', { bearer: anonKey })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toEqual({
    status: 'ok',
    endpoints: [
      { method: 'GET', path: '/health', credential: [] },
      { method: 'GET', path: '/api/v1', credential: ['anon', 'service', 'user'] },
      { method: 'GET', path: '/v1/models', credential: ['apiKey', 'user'] },
      { method: 'POST', path: '/v1/chat/completions', credential: ['apiKey', 'user'] },
    ],
  })
})

test('the index lists the configured credentials of each endpoint', async () => {
  const { ask } = await platformWith({ access: { health: ['service'], index: 'anyone', chat: ['user'] } })
  expect(await (await ask('/api/v1', { bearer: null })).json()).toMatchObject({
    endpoints: [
      { path: '/health', credential: ['service'] },
      { path: '/api/v1', credential: [] },
      { path: '/v1/models', credential: ['apiKey', 'user'] },
      { path: '/v1/chat/completions', credential: ['user'] },
    ],
  })
})

test('every endpoint in the index exists', async () => {
  const { ask, anonKey } = await platformWith()
  const { endpoints } = (await (await ask('/api/v1', { bearer: anonKey })).json()) as {
    endpoints: { method: string; path: string }[]
  }
  for (const { method, path } of endpoints) {
    const { status } = await ask(path, { method, bearer: null })
    expect([path, status]).toEqual([path, path === '/health' ? 200 : 401])
  }
})
