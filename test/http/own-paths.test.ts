import request from 'supertest'
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'

const ownPages = ['/dashboard', '/dashboard/keys', '/dashboard/api/config', '/__standin/ready'] as const

test('/__standin/ready says that the platform is ready, and reveals no secret', async () => {
  const { url, apiKey, anonKey, serviceKey } = await platformWith({ version: '3.2.1' })
  const { status, body, text } = await request(url).get('/__standin/ready')
  expect(status).toBe(200)
  expect(body).toEqual({ ready: true, mode: 'emulate', url, version: '3.2.1' })
  for (const secret of [apiKey, anonKey, serviceKey]) expect(text).not.toContain(secret)
})

test.each(['/__standin', '/__standin/ready/nowhere', '/__standin/%2e%2e/health', '/dashboard/%zz'])(
  'an unknown path of our own is a 404 like any other: %s',
  async path => {
    const { url } = await platformWith()
    const { status, body, type } = await request(url).get(`${path}?with=query`)
    expect({ status, type, body }).toEqual({
      status: 404,
      type: 'application/json',
      body: { error: 'Not found.', path },
    })
  },
)

test.each(['/__standinx', '/dashboards', '//dashboard'])(
  'a path that only looks like our own belongs to the platform: %s',
  async path => {
    const { url } = await platformWith()
    const { status, body, headers } = await request(url).get(path).set('Host', 'evil.example')
    expect({ status, body }).toEqual({ status: 404, body: { error: 'Not found.', path } })
    expect(headers['access-control-allow-origin']).toBe('*')
  },
)

test.each(['evil.example', '127.0.0.1.evil.example', 'evil.example#127.0.0.1'])(
  'our own pages refuse a foreign host name, which may be rebound to this machine: %s',
  async host => {
    const { url } = await platformWith()
    for (const path of ownPages) {
      const { status, body } = await request(url).get(path).set('Host', host)
      expect({ status, body }).toEqual({ status: 403, body: { error: expect.stringContaining('its own name') } })
    }
  },
)

test('our own pages answer under every name of this machine', async () => {
  const { url } = await platformWith()
  const { port } = new URL(url)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`, '192.168.1.7']) {
    for (const path of ownPages) expect((await request(url).get(path).set('Host', host)).status).toBe(200)
  }
})

test.each(['http://evil.example', 'null', 'http://127.0.0.1:1', 'https://localhost'])(
  'our own pages refuse pages of a foreign origin: %s',
  async origin => {
    const { url } = await platformWith()
    for (const path of ownPages) {
      const { status, headers } = await request(url).get(path).set('Origin', origin)
      expect(status).toBe(403)
      expect(headers).not.toHaveProperty('access-control-allow-origin')
    }
  },
)

test.each([
  ['/health', '*'],
  ['/v1/models', '*'],
  ['/auth/v1/.well-known/jwks.json', 'http://app.example'],
])("the platform's paths accept foreign hosts and origins: %s", async (path, allowed) => {
  const { url, apiKey } = await platformWith()
  const { status, headers } = await request(url)
    .get(path)
    .set({ Host: 'platform.example', Origin: 'http://app.example', Authorization: `Bearer ${apiKey}` })
  expect(status).toBe(200)
  expect(headers['access-control-allow-origin']).toBe(allowed)
})

test.each(ownPages)('our own pages allow GET and HEAD only: %s', async path => {
  const { url } = await platformWith()
  expect((await request(url).head(path)).status).toBe(200)
  for (const method of ['post', 'put', 'delete', 'patch'] as const) {
    const { status, headers, body } = await request(url)[method](path)
    expect({ status, allow: headers.allow, body }).toEqual({
      status: 405,
      allow: 'GET, HEAD',
      body: { error: `${method.toUpperCase()} is not allowed here. Use GET or HEAD.` },
    })
  }
})
