import http from 'node:http'
import { expect, test } from 'vitest'
import { runInProcess, startReady } from '../command.js'
import { forwardProxy } from '../forward-proxy.js'
import { freePort } from '../free-port.js'
import { listening, liveKey, liveOnSocket, liveWith } from './live.js'

/** A platform in its own process with these variables, in front of a live platform and its auth backend. */
async function behindProxy(variables: (proxy: string) => Record<string, string>, baseUrl?: string) {
  const live = await liveWith(({ url }, response) => {
    if (url === '/auth/v1/user') return void response.end(JSON.stringify({ id: 'someone' }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ path: url }))
  })
  const proxy = await forwardProxy()
  const config = {
    mode: 'proxy',
    auth: { mode: 'proxy' },
    upstream: { baseUrl: baseUrl ?? live.url, authUrl: live.url, apiKey: liveKey },
  }
  const { ready } = await startReady({
    flags: ['--state', 'memory'],
    files: { 'platform.config.yaml': JSON.stringify(config) },
    env: { HTTP_PROXY: '', HTTPS_PROXY: '', NO_PROXY: '', ...variables(proxy.url) },
  })
  const answerOf = async (path: string, bearer = ready.apiKey) => {
    const response = await fetch(ready.url + path, { headers: { authorization: `Bearer ${bearer}` } })
    return [response.status, (await response.json()) as { path: string }] as const
  }
  const pathFrom = async (path: string, bearer?: string) => (await answerOf(path, bearer))[1].path
  return { live, proxy, answerOf, pathFrom, host: new URL(live.url).host }
}

const aToken = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'

test('with HTTP_PROXY, documented requests and token checks go through the proxy, each over a kept connection', async () => {
  const { live, proxy, pathFrom, host } = await behindProxy(url => ({ HTTP_PROXY: url }))
  expect(await pathFrom('/v1/models')).toBe('/v1/models')
  expect(await pathFrom('/v1/models?again')).toBe('/v1/models?again')
  expect(proxy.asked).toEqual([host])
  expect(await pathFrom('/v1/models?user', aToken)).toBe('/v1/models?user')
  expect(proxy.asked).toEqual([host, host])
  expect(live.seen.map(({ request }) => request.headers.authorization)).toEqual([
    `Bearer ${liveKey}`,
    `Bearer ${liveKey}`,
    `Bearer ${aToken}`,
    `Bearer ${liveKey}`,
  ])
})

test('HTTP_PROXY may be host:port, as for curl', async () => {
  const { proxy, pathFrom, host } = await behindProxy(url => ({ HTTP_PROXY: new URL(url).host }))
  const paths = ['/v1/models', ...(nodeKnowsProxies ? ['/v1/things'] : [])]
  for (const path of paths) expect(await pathFrom(path)).toBe(path)
  expect(new Set(proxy.asked)).toEqual(new Set([host]))
  expect(proxy.asked).toHaveLength(paths.length)
})

test.each(['socks5://ada:hush@proxy.example:1080', 'proxy.example:port', 'http://'])(
  'a start refuses HTTP_PROXY=%s in a sentence with its name, and without its value',
  async HTTP_PROXY => {
    const flags = ['--port', '0', '--mode', 'proxy', '--upstream', 'http://live.example', '--state', 'memory']
    expect(await runInProcess(flags, { env: { HTTP_PROXY } })).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'HTTP_PROXY: must be the address of an http or https proxy, such as http://proxy.example:3128 or proxy.example:3128.\n',
    })
  },
)

/** Node's own client honours the variables from 22.21 and 24.5 on. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const nodeKnowsProxies = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)

test.skipIf(!nodeKnowsProxies)('with HTTP_PROXY, undocumented requests go through the proxy', async () => {
  const { live, proxy, pathFrom, host } = await behindProxy(url => ({ HTTP_PROXY: url }))
  expect(await pathFrom('/v1/things')).toBe('/v1/things')
  expect(proxy.asked).toEqual([host])
  expect(live.seen[0]?.request.headers).toMatchObject({ host, authorization: `Bearer ${liveKey}` })
})

test.each([
  [407, 'The proxy that HTTP_PROXY names requires a user name and a password (407).'],
  [403, 'The proxy that HTTP_PROXY names opened no connection (status 403).'],
])('a proxy that answers %i is a 502 that says so', async (status, error) => {
  const refusing = http.createServer((_request, response) => void response.writeHead(status).end())
  refusing.on('connect', (_request, socket) => void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`))
  const url = await listening(refusing)
  const { live, answerOf } = await behindProxy(() => ({ HTTP_PROXY: url }))
  const undocumented = nodeKnowsProxies && status === 407 ? ['/v1/things'] : []
  for (const path of ['/v1/models', ...undocumented]) expect(await answerOf(path)).toEqual([502, { error }])
  expect(await answerOf('/v1/models', aToken)).toEqual([502, { error }])
  expect(live.seen).toEqual([])
})

test('a proxy that is not there is a 502 that names its variable', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const { answerOf } = await behindProxy(() => ({ HTTP_PROXY: url }))
  const error = 'The proxy that HTTP_PROXY names could not be reached (ECONNREFUSED).'
  const paths = ['/v1/models', ...(nodeKnowsProxies ? ['/v1/things'] : [])]
  for (const path of paths) expect(await answerOf(path)).toEqual([502, { error }])
  expect(await answerOf('/v1/models', aToken)).toEqual([502, { error }])
})

test('through a proxy, too, 100 Continue is passed over', async () => {
  const url = await liveOnSocket(
    socket => void socket.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'),
  )
  const { answerOf } = await behindProxy(proxy => ({ HTTP_PROXY: proxy }), url)
  expect(await answerOf('/v1/models')).toEqual([200, {}])
})

test('a live platform that NO_PROXY names is reached directly', async () => {
  const { live, proxy, pathFrom } = await behindProxy(url => ({ HTTP_PROXY: url, NO_PROXY: '127.0.0.1' }))
  expect(await pathFrom('/v1/models')).toBe('/v1/models')
  expect(await pathFrom('/v1/things')).toBe('/v1/things')
  expect(await pathFrom('/v1/models?user', aToken)).toBe('/v1/models?user')
  expect(proxy.asked).toEqual([])
  expect(live.seen).toHaveLength(4)
})
