import { expect, test } from 'vitest'
import { hello, platformWith } from '../scene.js'

const page = 'http://localhost:3000'

/** The CORS headers of an answer, and Vary. */
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))

const preflight = (headers: Record<string, string> = {}) => ({
  method: 'OPTIONS',
  bearer: null,
  headers: { origin: page, 'access-control-request-method': 'POST', ...headers },
})

test('a page of any origin may read any answer, and its headers', async () => {
  const { ask, chat } = await platformWith()
  const answers = [
    await ask('/health', { headers: { origin: page } }),
    await ask('/v1/models', { headers: { origin: page }, bearer: null }),
    await ask('/nope', { headers: { origin: page } }),
    await ask('/health', { headers: { origin: page }, method: 'DELETE' }),
    await chat(hello, { headers: { origin: page } }),
    await chat({}, { headers: { origin: page } }),
    await chat({ ...hello, stream: true }, { headers: { origin: page } }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 405, 200, 400, 200])
  for (const answer of answers) {
    expect(corsOf(answer)).toEqual({ 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' })
    await answer.text()
  }
})

test('a preflight needs no credential and lists the allowed methods and headers', async () => {
  const { ask } = await platformWith()
  const requested = 'authorization,content-type,x-stainless-lang'
  const response = await ask('/v1/chat/completions', preflight({ 'access-control-request-headers': requested }))
  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
  expect(corsOf(response)).toEqual({
    'access-control-allow-origin': '*',
    'access-control-expose-headers': '*',
    'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS, PUT, PATCH, DELETE',
    'access-control-allow-headers': requested,
    'access-control-max-age': '600',
  })
})

test.each([
  ['/nope', 404],
  ['/auth/v1/user', 405],
])('a preflight for any method on %s passes, so that the page can read the %i', async (path, status) => {
  const { ask, anonKey } = await platformWith()
  for (const method of ['PATCH', 'DELETE']) {
    const response = await ask(path, preflight({ 'access-control-request-method': method }))
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-methods')?.split(', ')).toContain(method)
    const headers = { origin: page, apikey: anonKey }
    expect(await ask(path, { method, headers })).toMatchObject({ status })
  }
})

test('a page on the internet may call a platform on this machine', async () => {
  const { ask } = await platformWith()
  const answer = await ask('/v1/models', preflight({ 'access-control-request-private-network': 'true' }))
  expect(answer.headers.get('access-control-allow-private-network')).toBe('true')
  const other = await ask('/v1/models', preflight())
  expect(other.headers.has('access-control-allow-private-network')).toBe(false)
})

test('with a list of origins the answer allows each of them by name', async () => {
  const { ask } = await platformWith({ cors: { origins: [page, 'https://app.example.com'] } })
  for (const origin of [page, 'https://app.example.com']) {
    expect(corsOf(await ask('/health', { headers: { origin } }))).toEqual({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': '*',
      vary: 'Origin',
    })
  }
})

test.each([
  ['another origin', 'https://evil.example.com'],
  ['another port', 'http://localhost:3001'],
  ['an origin with the same beginning', 'http://localhost:3000.evil.example.com'],
])('with a list of origins the answer does not allow %s', async (_who, origin) => {
  const { ask } = await platformWith({ cors: { origins: [page] } })
  const response = await ask('/health', { headers: { origin } })
  expect(response.status).toBe(200)
  expect(corsOf(response)).toEqual({ vary: 'Origin' })
  const answer = await ask('/v1/models', preflight({ origin }))
  expect(answer.headers.has('access-control-allow-origin')).toBe(false)
})
