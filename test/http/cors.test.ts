import { expect, test } from 'vitest'
import { hello, platformWith } from '../scene.js'

const page = 'http://localhost:3000'

/** The headers of an answer that have to do with other origins. */
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

test('a preflight needs no credential and is told what may be sent', async () => {
  const { ask } = await platformWith()
  const asked = 'authorization,content-type,x-stainless-lang'
  const response = await ask('/v1/chat/completions', preflight({ 'access-control-request-headers': asked }))
  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
  expect(corsOf(response)).toEqual({
    'access-control-allow-origin': '*',
    'access-control-expose-headers': '*',
    'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS, PUT, PATCH, DELETE',
    'access-control-allow-headers': asked,
    'access-control-max-age': '600',
  })
})

test('a preflight that asks for no headers is promised none', async () => {
  const { ask } = await platformWith()
  const response = await ask('/v1/models', preflight({ 'access-control-request-method': 'GET' }))
  expect(response.headers.has('access-control-allow-headers')).toBe(false)
})

test.each([
  ['/nope', 404],
  ['/v1/models', 405],
  ['/auth/v1/nope', 404],
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
  const asked = await ask('/v1/models', preflight({ 'access-control-request-private-network': 'true' }))
  expect(asked.headers.get('access-control-allow-private-network')).toBe('true')
  const unasked = await ask('/v1/models', preflight())
  expect(unasked.headers.has('access-control-allow-private-network')).toBe(false)
})

test('with a list of origins only those are let in, each by its own name', async () => {
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
  ['another scheme', 'https://localhost:3000'],
  ['an origin that only begins alike', 'http://localhost:3000.evil.example.com'],
  ['an origin that is none', 'null'],
])('with a list of origins the answer names no origin to %s', async (_who, origin) => {
  const { ask } = await platformWith({ cors: { origins: [page] } })
  const response = await ask('/health', { headers: { origin } })
  expect(response.status).toBe(200)
  expect(corsOf(response)).toEqual({ vary: 'Origin' })
  const asked = await ask('/v1/models', preflight({ origin }))
  expect(asked.headers.has('access-control-allow-origin')).toBe(false)
})

test('with a list of origins a caller that is no page gets its answer, marked as depending on the origin', async () => {
  const { ask } = await platformWith({ cors: { origins: [page] } })
  const response = await ask('/v1/models')
  expect(response.status).toBe(200)
  expect(corsOf(response)).toEqual({ vary: 'Origin' })
})

test("Standin's own pages can be read by no other origin", async () => {
  const { ask, url } = await platformWith()
  for (const path of ['/dashboard', '/__standin/ready']) {
    const foreign = await ask(path, { bearer: null, headers: { origin: page } })
    expect(foreign.status).toBe(403)
    expect(await foreign.json()).toEqual({ error: 'Pages of another origin may not read this.' })
    expect(corsOf(foreign)).toEqual({})
    const own = await ask(path, { bearer: null, headers: { origin: url } })
    expect(own.status).toBe(200)
    await own.text()
  }
})
