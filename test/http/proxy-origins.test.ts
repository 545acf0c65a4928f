import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import https from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import { isTraversal } from '../../src/http/proxy/headers.js'
import { openPlatform } from '../../src/platform.js'
import { selfSigned } from '../certificate.js'
import { startReady } from '../command.js'
import { runs } from '../runs.js'
import { notReached } from '../sentences.js'
import { listening, liveKey, liveWith, proxyTo } from './live.js'

const ok: RequestListener = (_request, response) => void response.end('{"ok":true}')

async function selfSignedLive(certificate = selfSigned()) {
  const url = await listening(https.createServer(certificate, ok))
  return url.replace('http:', 'https:').replace('127.0.0.1', 'localhost')
}

test('a live platform with an untrusted certificate is a 502 that says why, and the log says what to do', async () => {
  const given = { port: 0, state: 'memory', mode: 'proxy', 'upstream.baseUrl': await selfSignedLive() }
  const flags = Object.entries(given).map(([name, value]) => ({ path: name.split('.'), value, origin: 'the test' }))
  const platform = await openPlatform({ cwd: import.meta.dirname, file: false, flags })
  onTestFinished(() => platform.stop())
  const journaled = new Promise<Exchange>(resolve => platform.journal.follow(resolve))
  const response = await fetch(`${platform.url}/health`)
  expect([response.status, await response.json()]).toEqual([502, { error: notReached('DEPTH_ZERO_SELF_SIGNED_CERT') }])
  expect((await journaled).outcome?.hint).toContain('NODE_EXTRA_CA_CERTS')
})

test('NODE_EXTRA_CA_CERTS makes the certificate of the live platform trusted, on documented paths and others', async () => {
  const certificate = selfSigned()
  const live = await selfSignedLive(certificate)
  const platform = await startReady({
    flags: ['--state', 'memory', '--mode', 'proxy', '--upstream', live],
    files: { 'ca.pem': certificate.cert },
    env: { NODE_EXTRA_CA_CERTS: 'ca.pem' },
  })
  const { url, apiKey } = platform.ready
  const headers = { authorization: `Bearer ${apiKey}` }
  for (const path of ['/v1/models', '/v1/things'])
    expect(await (await fetch(url + path, { headers })).json()).toEqual({ ok: true })
})

test('with NODE_TLS_REJECT_UNAUTHORIZED=0, any certificate is accepted', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { ask } = await proxyTo(await selfSignedLive())
  for (const path of ['/v1/models', '/v1/things']) expect(await (await ask(path)).json()).toEqual({ ok: true })
})

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some(one => one?.address === '::1')

test.skipIf(!hasIpv6).each(['', '/live'])(
  'the live platform may have an IPv6 address, with the path "%s"',
  async prefix => {
    const received: (string | undefined)[] = []
    const server = http.createServer((request, response) => {
      received.push(request.headers.host, request.url)
      ok(request, response)
    })
    server.listen(0, '::1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { ask } = await proxyTo(`http://[::1]:${port}${prefix}`)
    expect(await (await ask('/v1/models?x=1')).json()).toEqual({ ok: true })
    expect(received).toEqual([`[::1]:${port}`, `${prefix}/v1/models?x=1`])
  },
)

/** Requests `target` exactly as written; returns the status. */
async function askFor(target: string, { url, apiKey }: { readonly url: string; readonly apiKey: string }) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setEncoding('latin1')
  socket.write(
    `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\nConnection: close\r\n\r\n`,
    'latin1',
  )
  let answer = ''
  for await (const piece of socket) answer += piece
  return Number(answer.split(' ')[1])
}

test.each([
  ['HTTP://user:word@evil.test:81/x?y', '/live/x?y'],
  ['//evil.test/x', '/live//evil.test/x'],
  ['/\\evil.test/x', '/live/\\evil.test/x'],
  ['/x?next=http://evil.test/../..', '/live/x?next=http://evil.test/../..'],
])('a request for %s reaches the live platform as %s', async (target, arrived) => {
  const { url, seen } = await liveWith(ok)
  expect(await askFor(target, await proxyTo(`${url}/live`))).toBe(200)
  expect(seen.map(({ request }) => [request.headers.host, request.url])).toEqual([[new URL(url).host, arrived]])
})

test.each(['/../admin', '/v1/%2e%2e/%2e%2e/admin', '/v1/..%252fadmin', 'http://evil.test/..;/admin'])(
  '%s never leaves the prefix of the live platform',
  async target => {
    const { url, seen } = await liveWith(ok)
    const scene = await proxyTo(`${url}/live`)
    expect(await askFor(target, scene)).toBe(404)
    expect(seen).toEqual([])
  },
)

test('no accepted path climbs, however a server decodes its dots and slashes', () => {
  const part = fc.constantFrom(...'. .. %2e %2E %252e / \\ %2f %5c ; a v1 // % 25'.split(' '))
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), parts => {
      const path = `/${parts.join('')}`
      if (isTraversal(path)) return
      let text = path
      for (let before = ''; before !== text; ) {
        before = text
        expect(new URL(`http://live.test/live${text}`).pathname.startsWith('/live')).toBe(true)
        const names = text
          .replaceAll('\\', '/')
          .split('/')
          .map(name => name.split(';', 1)[0])
        expect(names).not.toContain('..')
        text = text.replace(/%(25|2e|2f|5c)/gi, code => decodeURIComponent(code))
      }
    }),
    { numRuns: runs(3000) },
  )
})

test('the live key goes only to the live platform, whatever host the request names', async () => {
  const [live, other] = [await liveWith(ok), await liveWith(ok)]
  const { url, apiKey } = await proxyTo(live.url)
  await askFor(`${other.url}/v1/models`, { url, apiKey })
  await askFor(`//${new URL(other.url).host}/v1/models`, { url, apiKey })
  expect(other.seen).toEqual([])
  const keys = live.seen.map(({ request }) => request.headers.authorization)
  expect(keys).toEqual([`Bearer ${liveKey}`, `Bearer ${liveKey}`])
})
