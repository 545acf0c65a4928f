import { execFile, spawnSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import request from 'supertest'
import { expect, test } from 'vitest'
import { version } from '../../src/version.js'
import { platformWith } from '../scene.js'

const run = promisify(execFile)
const noCurl = spawnSync('curl', ['--version']).status !== 0

const views = [
  '',
  '/',
  '/try',
  '/answers',
  '/people',
  '/connect',
  // Views of earlier versions.
  '/requests',
  '/resources',
  '/new-password',
]

test.each(views)('the page is served at /dashboard%s, so that a reload works', async view => {
  const { url } = await platformWith()
  const { status, type, headers } = await request(url).get(`/dashboard${view}`)
  expect({ status, type, cache: headers['cache-control'] }).toEqual({
    status: 200,
    type: 'text/html',
    cache: 'no-store',
  })
})

test('the page may only run, load and connect to what is our own', async () => {
  const { url } = await platformWith()
  const { headers } = await request(url).get('/dashboard')
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
      "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
  expect(headers).not.toHaveProperty('access-control-allow-origin')
  expect(headers).not.toHaveProperty('x-powered-by')
})

test('the files of the page are cached for good, because their names change with their content', async () => {
  const { url } = await platformWith()
  const { text } = await request(url).get('/dashboard')
  const loaded = [...text.matchAll(/(?:href|src)="(\/dashboard\/[^"]+)"/g)].map(([, path]) => path ?? '')
  // The style sheet, the script, and what it shares with other views.
  expect(loaded.length).toBeGreaterThanOrEqual(3)
  for (const path of loaded) {
    expect(path).toMatch(/^\/dashboard\/assets\/\w+-[\w-]{8}\.(js|css)$/)
    const { status, type, headers } = await request(url).get(path)
    expect({ status, type }).toEqual({ status: 200, type: path.endsWith('.js') ? 'text/javascript' : 'text/css' })
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(headers['x-content-type-options']).toBe('nosniff')
  }
})

/** How many bytes of body a browser downloads from this address. */
async function downloadSizeOf(url: string, coding: string): Promise<number> {
  const { stdout } = await run('curl', [
    '-s',
    '-H',
    `Accept-Encoding: ${coding}`,
    '-w',
    '%{size_download}',
    '-o',
    '/dev/null',
    url,
  ])
  return Number(stdout)
}

test.skipIf(noCurl)('the first view downloads less than 42 kB', async () => {
  const { url } = await platformWith()
  const { text } = await request(url).get('/dashboard')
  const loaded = [...text.matchAll(/(?:href|src)="(\/dashboard\/[^"]+)"/g)].map(([, path]) => path ?? '')
  const sizes = await Promise.all(
    ['/dashboard', '/dashboard/api/config', ...loaded].map(path => downloadSizeOf(url + path, 'gzip')),
  )
  expect(sizes.reduce((sum, bytes) => sum + bytes)).toBeLessThan(42_000)
})

test('a file is compressed for clients that accept it, and each encoding has its own ETag', async () => {
  const { url } = await platformWith()
  const { text } = await request(url).get('/dashboard')
  const script = /src="([^"]+)"/.exec(text)?.[1] ?? ''
  for (const path of ['/dashboard', script]) {
    const forms = await Promise.all(
      ['gzip, deflate, br', 'gzip;q=0', 'identity'].map(coding =>
        request(url).get(path).set('accept-encoding', coding),
      ),
    )
    expect(forms.map(({ headers }) => headers['content-encoding'])).toEqual(['gzip', undefined, undefined])
    expect(forms.map(({ headers }) => headers.vary?.toLowerCase())).toEqual(Array(3).fill('accept-encoding'))
    // supertest has decompressed it.
    const [first, ...others] = forms.map(({ text, type }) => ({ text, type }))
    for (const other of others) expect(other).toEqual(first)
  }
  const tagOf = async (coding: string) => (await request(url).get(script).set('accept-encoding', coding)).headers.etag
  const [gzip, plain] = [await tagOf('gzip'), await tagOf('identity')]
  expect(gzip).not.toBe(plain)
  const again = request(url)
    .get(script)
    .set({ 'accept-encoding': 'gzip', 'if-none-match': gzip ?? '' })
  expect((await again).status).toBe(304)
})

test.each(['/assets/nothing.js', '/assets/', '/assets/..%2findex.html', '/index.html', '/keys/of/mine', '/%zz'])(
  'there is nothing at /dashboard%s',
  async path => {
    const { url } = await platformWith()
    const { status, body } = await request(url).get(`/dashboard${path}`)
    expect({ status, body }).toEqual({ status: 404, body: { error: 'Not found.', path: `/dashboard${path}` } })
  },
)

test('a browser that requests an unknown path gets a page as its 404', async () => {
  const { url } = await platformWith()
  const { status, type } = await request(url).get('/dashboard/nosuch').set('accept', 'text/html,*/*;q=0.8')
  expect({ status, type }).toEqual({ status: 404, type: 'text/html' })
})

test('the page allows only GET and HEAD', async () => {
  const { url } = await platformWith()
  const { status, headers } = await request(url).post('/dashboard/keys')
  expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' })
})

test('the configuration contains what is public, and nothing else', async () => {
  const { url, anonKey, serviceKey, apiKey } = await platformWith({
    version: '3.2.1',
    models: [{ id: 'model-one' }],
    users: [{ email: 'own@example.com', password: 'a secret of mine' }],
    upstream: { apiKey: 'sk-live-secret' },
  })
  const { body, text } = await request(url).get('/dashboard/api/config')
  expect(body).toEqual({
    url,
    auth_url: url,
    anon_key: anonKey,
    auth_mode: 'local',
    mode: 'emulate',
    // Standin's own, not the one that /health answers with.
    version,
    password_rule: 'At least 6 characters.',
    development_key: apiKey,
    clock: { now: expect.any(String), frozen: false, offsetMs: 0 },
    users: { run: expect.any(String), replaced: 0 },
    models: ['model-one'],
    endpoints: expect.arrayContaining([
      { method: 'GET', path: '/health', access: 'anyone', name: 'health' },
      { method: 'GET', path: '/api/v1', access: ['anon', 'service', 'user'], name: 'index' },
      { method: 'GET', path: '/v1/models', access: ['apiKey', 'user'], name: 'models' },
      { method: 'POST', path: '/v1/chat/completions', access: ['apiKey', 'user'], name: 'chat', callsModel: true },
    ]),
    folders: { rules: process.cwd(), recordings: path.resolve('fixtures/recordings') },
  })
  for (const secret of [serviceKey, 'a secret of mine', 'sk-live-secret']) expect(text).not.toContain(secret)
})

test('the configuration contains the development user', async () => {
  const { url } = await platformWith()
  const { body } = await request(url).get('/dashboard/api/config')
  expect(body.sign_in).toEqual({ email: 'developer@example.com', password: 'developer' })
})
