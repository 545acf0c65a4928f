import { once } from 'node:events'
import https, { type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { fetchFrom } from '../../src/core/http.js'
import { selfSigned } from '../certificate.js'

/** A server with a self-signed certificate that echoes requests. */
async function untrusted() {
  const options: ServerOptions = selfSigned()
  const server = https.createServer(options, async (request, response) => {
    if (request.url === '/away') return void response.writeHead(302, { location: '/elsewhere' }).end()
    if (request.url === '/slow') return
    let body = ''
    for await (const chunk of request) body += chunk
    const { method, headers } = request
    response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })
    response.end(JSON.stringify({ method, body, apikey: headers.apikey }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a self-signed certificate is refused unless insecure is set', async () => {
  const url = await untrusted()
  await expect(fetchFrom({ insecure: false })(url)).rejects.toThrow('fetch failed')
  const response = await fetchFrom({ insecure: true })(url, {
    method: 'POST',
    body: 'hi',
    headers: { apikey: 'anon' },
  })
  expect(response.status).toBe(201)
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(await response.json()).toEqual({ method: 'POST', body: 'hi', apikey: 'anon' })
})

test("a redirect is refused with redirect: 'error'", async () => {
  const url = await untrusted()
  await expect(fetchFrom({ insecure: true })(`${url}/away`, { redirect: 'error' })).rejects.toThrow('fetch failed')
})

test('a slow server causes a TimeoutError', async () => {
  const url = await untrusted()
  const asking = fetchFrom({ insecure: true })(`${url}/slow`, { signal: AbortSignal.timeout(50) })
  await expect(asking).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('an unreachable server causes an error with its code', async () => {
  const asking = fetchFrom({ insecure: true })('https://127.0.0.1:1')
  await expect(asking).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
})
