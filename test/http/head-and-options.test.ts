import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'

/** The headers of an answer, without those that differ from request to request. */
const headersOf = ({ headers }: Response) =>
  Object.fromEntries(
    [...headers].filter(([name]) => !['date', 'connection', 'keep-alive', 'x-request-id'].includes(name)),
  )

test.each(['/health', '/v1/models', '/dashboard'])(
  'HEAD %s has the status and the headers of GET and no body',
  async path => {
    const { ask } = await platformWith()
    // The Content-Length of a compressed page is not the length of what `fetch` returns.
    const headers = { 'accept-encoding': 'identity' }
    const [get, head] = [await ask(path, { headers }), await ask(path, { method: 'HEAD', headers })]
    expect(head.status).toBe(get.status)
    expect(headersOf(head)).toEqual(headersOf(get))
    expect(head.headers.get('content-length')).toBe(String((await get.arrayBuffer()).byteLength))
    expect(await head.text()).toBe('')
  },
)

test('HEAD is not allowed where GET is not', async () => {
  const { ask } = await platformWith()
  const response = await ask('/v1/chat/completions', { method: 'HEAD' })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('POST, OPTIONS')
  expect(await response.text()).toBe('')
})

test.each([
  ['/health', 'GET, HEAD, OPTIONS'],
  ['/v1/models', 'GET, HEAD, OPTIONS'],
  ['/v1/chat/completions', 'POST, OPTIONS'],
])('OPTIONS %s lists the allowed methods, without a credential', async (path, allow) => {
  const { ask } = await platformWith()
  const response = await ask(path, { method: 'OPTIONS', bearer: null })
  expect(response.status).toBe(204)
  expect(response.headers.get('allow')).toBe(allow)
  expect(response.headers.has('content-type')).toBe(false)
  expect(response.headers.has('content-length')).toBe(false)
  expect(await response.text()).toBe('')
})
