import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { answerTo, onTheWire } from '../wire.js'

test.each([
  '/',
  '/nope',
  '/v1/embedding',
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

test.each([
  ['/v1/responses', /has no \/v1\/responses, only \/v1\/chat\/completions: .*setOpenAIAPI/],
  ['/responses', /has no \/v1\/responses/],
  ['/v1/v1/responses', /has no \/v1\/responses/],
  ['/v1/completions', /only \/v1\/chat\/completions/],
  ['/v1/embeddings', /has no \/v1\/embeddings\. A rule can answer it \(on: POST \/v1\/embeddings\)/],
  ['/v1/audio/transcriptions', /has no \/v1\/audio/],
  ['/v1/files/file-1/content', /has no \/v1\/files/],
  ['/v1/threads/t/runs', /has no \/v1\/threads/],
  ['/v1/realtime', /has no \/v1\/realtime/],
  ['/v1/models/gpt-4o', /GET \/v1\/models lists them/],
  ['/chat/completions', /Did you mean \/v1\/chat\/completions\?.*OPENAI_BASE_URL/],
  ['/v1/v1/chat/completions', /Did you mean \/v1\/chat\/completions\?/],
  ['/api/v1/chat/completions', /Did you mean \/v1\/chat\/completions\?/],
  ['/models', /Did you mean \/v1\/models\?/],
  ['/rest/v1/todos', /no tables here.*@electric-sql\/pglite/],
  ['/storage/v1/object/a', /nothing at \/storage\/v1/],
  ['/functions/v1/hello', /on: POST \/functions\/v1\/NAME/],
  ['/realtime/v1/websocket', /nothing at \/realtime\/v1/],
  ['/graphql/v1', /nothing at \/graphql\/v1/],
  ['/v1/messages', /a path of Anthropic/],
  ['/api/chat', /a path of Ollama/],
  ['/v1beta/models/gemini-pro:generateContent', /a path of Gemini/],
  ['/openai/deployments/gpt/chat/completions', /a path of Azure/],
])('the 404 of %s, which clients know from elsewhere, says what to do', async (path, says) => {
  const { ask } = await platformWith()
  const response = await ask(path, { method: 'POST', body: '{}' })
  expect(response.status).toBe(404)
  expect(await response.json()).toEqual({ error: expect.stringMatching(says), path })
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
