import request from 'supertest'
import { expect, test } from 'vitest'
import { controlOperations } from '../../src/control/operations.js'
import { developmentSecret } from '../../src/core/secrets.js'
import { startReady } from '../command.js'
import { platformWith } from '../scene.js'
import { secretToken } from '../signing.js'

const open = '/__standin/ready'

/** Every operation of the control API, with something for each parameter of its path. */
const operations = Object.values(controlOperations({} as never)).map(({ at }) => {
  const [method = '', path = ''] = at.replace(/\{\w+\}/g, 'x').split(' ')
  return { method, path: `/__standin${path}` }
})
const paths = [...new Set(operations.map(({ path }) => path))]
// That of a run has a token of its own, without which it is not found.
const ofRun = '/__standin/run'
const closed = [...paths.filter(path => path !== open && path !== ofRun), '/__standin/nowhere']

const controlToken = 'control-token-of-this-test'

const ownSecret = { auth: { jwtSecret: 'a-secret-of-our-own-with-32-characters' } }
const everywhere = { host: '0.0.0.0', controlToken }

const get = (url: string, path: string, headers: Record<string, string> = {}) => request(url).get(path).set(headers)
const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` })

test('on a loopback address no token is needed, whether one is configured or not', async () => {
  for (const options of [{}, { controlToken }]) {
    const { url } = await platformWith(options)
    expect((await get(url, '/__standin/journal')).status).toBe(200)
    expect((await get(url, '/__standin/journal', bearer('of-nobody'))).status).toBe(200)
  }
})

test('where other machines can reach it, everything but readiness needs a credential', async () => {
  const { url } = await platformWith(everywhere)
  expect((await get(url, open)).status).toBe(200)
  for (const path of closed) {
    const { status, body, headers } = await get(url, path)
    expect([path, status, headers['www-authenticate'], headers['cache-control']]).toEqual([
      path,
      401,
      'Bearer',
      'no-store',
    ])
    expect(body).toEqual({
      error: expect.stringMatching(
        /^The control API needs a credential here, .* "Authorization: Bearer <control token>".* controlToken/,
      ),
    })
  }
})

test('the control token is accepted, and so is the service key of a JWT secret of your own', async () => {
  const { url, serviceKey } = await platformWith({ ...everywhere, ...ownSecret })
  for (const credential of [controlToken, serviceKey]) {
    expect((await get(url, '/__standin/journal', bearer(credential))).status).toBe(200)
    expect((await get(url, '/__standin/nowhere', bearer(credential))).status).toBe(404)
    const { status } = await request(url)
      .post('/__standin/faults')
      .set(bearer(credential))
      .send({ fault: { hang: true } })
    expect(status).toBe(201)
  }
})

test.each([
  ['of this stand-in', developmentSecret],
  ["of Supabase's examples", 'super-secret-jwt-token-with-at-least-32-characters-long'],
])('a service key signed with the public secret %s is refused', async (_whose, secret) => {
  const { url, serviceKey, ask } = await platformWith({ ...everywhere, auth: { jwtSecret: secret } })
  for (const key of [serviceKey, await secretToken({ role: 'service_role' }, secret)]) {
    for (const path of closed) {
      const { status, body } = await get(url, path, bearer(key))
      expect([path, status]).toEqual([path, 403])
      expect(body.error).toMatch(/public default of auth\.jwtSecret.*"Authorization: Bearer <control token>"/)
    }
    expect((await ask('/api/v1', { bearer: key })).status).toBe(200)
  }
  const elsewhere = await platformWith({ ...everywhere, ...ownSecret })
  const forged = await secretToken({ role: 'service_role' }, secret)
  expect((await get(elsewhere.url, '/__standin/journal', bearer(forged))).status).toBe(401)
})

test('a part of the token and an API key are refused, and the error names the control token', async () => {
  const { url, apiKey } = await platformWith(everywhere)
  for (const [credential, status] of [[controlToken.slice(0, -1), 401] as const, [apiKey, 403] as const]) {
    const response = await request(url)
      .post('/__standin/faults')
      .set(bearer(credential))
      .send({ fault: { hang: true } })
    const error = expect.stringContaining('Add the header "Authorization: Bearer <control token>"')
    expect([response.status, response.body]).toEqual([status, { error }])
  }
  const { body } = await get(url, '/__standin/situation', bearer(controlToken))
  expect(body.data).toEqual([{ what: 'mode', says: 'emulate', undo: null }])
})

test('with the token it answers under any host name, as containers need', async () => {
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const { url } = await platformWith({ host, controlToken })
    const foreign = { host: 'host.docker.internal:4100' }
    expect((await get(url, open, foreign)).status).toBe(403)
    expect((await get(url, open, { ...foreign, ...bearer('of-nobody') })).status).toBe(403)
    for (const path of [open, '/__standin/journal']) {
      expect((await get(url, path, { ...foreign, ...bearer(controlToken) })).status).toBe(200)
    }
    expect((await get(url, '/__standin/nowhere', { ...foreign, ...bearer(controlToken) })).status).toBe(404)
  }
})

test('every path refuses pages of another origin, and lists its methods when it gets another one', async () => {
  const { url } = await platformWith()
  expect(paths.length).toBeGreaterThan(30)
  for (const { method, path } of operations) {
    const foreign = await fetch(url + path, { method, headers: { origin: 'http://evil.example' } })
    expect([method, path, foreign.status]).toEqual([method, path, 403])
    expect(foreign.headers.has('access-control-allow-origin')).toBe(false)
  }
  for (const path of paths) {
    const response = await fetch(url + path, { method: 'PATCH' })
    const methods = operations.flatMap(one => (one.path === path ? [one.method] : []))
    const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods
    expect([path, response.status, response.headers.get('allow')?.split(', ').sort()]).toEqual([
      path,
      405,
      allowed.sort(),
    ])
    expect(response.headers.has('x-powered-by')).toBe(false)
  }
})

test('the token works for the control API only, not for the platform or the dashboard', async () => {
  const { url } = await platformWith({ controlToken })
  expect((await get(url, '/v1/models', bearer(controlToken))).status).toBe(401)
  expect((await get(url, '/dashboard', { host: 'evil.example', ...bearer(controlToken) })).status).toBe(403)
})

test('where other machines can reach it and no token is configured, one is generated and shown once, at the start', async () => {
  const { ready } = await startReady({ flags: ['--host', '0.0.0.0'] })
  const { controlToken = '' } = ready as { controlToken?: string }
  expect(controlToken).toMatch(/^[\w-]{32}$/)
  expect((await get(ready.url, '/__standin/journal')).status).toBe(401)
  expect((await get(ready.url, '/__standin/journal', bearer(controlToken))).status).toBe(200)
  expect((await get(ready.url, open)).text).not.toContain(controlToken)
})

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
