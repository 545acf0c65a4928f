import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { answerTo, onTheWire } from '../wire.js'

test.each([
  '/',
  '/nope',
  '/v1/embeddings',
  '/v1/models/',
  '/V1/models',
  '/api/v2',
  '/health/',
  '/%68ealth',
  '/n%C3%B6pe%20%2F',
  '/a/../health',
  '/__proto__',
])('the unknown path %s is a 404, even without a credential', async path => {
  const { url } = await platformWith()
  const { status, headers, body } = await answerTo(url, onTheWire(`GET ${path}`))
  expect(status).toBe(404)
  expect(headers.get('content-type')).toBe('application/json')
  expect(headers.get('www-authenticate')).toBeNull()
  expect(JSON.parse(body)).toEqual({ error: 'Not found.', path })
})

test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('%s on an unknown path is a 404 as well', async method => {
  const { ask } = await platformWith()
  const response = await ask('/v1/nope', { method })
  expect(response.status).toBe(404)
  expect(await response.json()).toEqual({ error: 'Not found.', path: '/v1/nope' })
})

test('the auth backend answers an unknown path with a 404 in plain text', async () => {
  const { ask, anonKey } = await platformWith()
  const response = await ask('/auth/v1/nope', { bearer: null, headers: { apikey: anonKey } })
  expect(response.status).toBe(404)
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await response.text()).toBe('404 page not found\n')
})

test.each([
  ['POST', '/health', 'GET, HEAD, OPTIONS', 'GET, HEAD or OPTIONS'],
  ['PUT', '/api/v1', 'GET, HEAD, OPTIONS', 'GET, HEAD or OPTIONS'],
  ['DELETE', '/v1/models', 'GET, HEAD, OPTIONS', 'GET, HEAD or OPTIONS'],
  ['GET', '/v1/chat/completions', 'POST, OPTIONS', 'POST or OPTIONS'],
])('%s %s gets a 405 with the allowed methods', async (method, path, allow, alternatives) => {
  const { ask } = await platformWith()
  const response = await ask(path, { method, bearer: null })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe(allow)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toEqual({ error: `${method} is not allowed here. Use ${alternatives}.` })
})

test('a 405 of the auth backend has an Allow header and no body', async () => {
  const { ask } = await platformWith()
  const response = await ask('/auth/v1/.well-known/jwks.json', { method: 'POST', bearer: null })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  expect(await response.text()).toBe('')
})

test.each(['TRACE', 'PROPFIND'])('the unusual method %s is a 405', async method => {
  const { url } = await platformWith()
  const { status, headers, body } = await answerTo(url, onTheWire(`${method} /health`))
  expect(status).toBe(405)
  expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  expect(JSON.parse(body)).toEqual({ error: `${method} is not allowed here. Use GET, HEAD or OPTIONS.` })
})
