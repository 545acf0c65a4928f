import { expect, test } from 'vitest'
import { startReady } from '../command.js'
import { forwardProxy } from '../forward-proxy.js'
import { liveKey, liveWith } from './live.js'

/** A platform in its own process with these variables, in front of a live platform and its auth backend. */
async function behindProxy(variables: (proxy: string) => Record<string, string>) {
  const live = await liveWith(({ url }, response) => {
    if (url === '/auth/v1/user') return void response.end(JSON.stringify({ id: 'someone' }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ path: url }))
  })
  const proxy = await forwardProxy()
  const config = {
    mode: 'proxy',
    auth: { mode: 'proxy' },
    upstream: { baseUrl: live.url, authUrl: live.url, apiKey: liveKey },
  }
  const { ready } = await startReady({
    flags: ['--state', 'memory'],
    files: { 'platform.config.yaml': JSON.stringify(config) },
    env: { HTTP_PROXY: '', HTTPS_PROXY: '', NO_PROXY: '', ...variables(proxy.url) },
  })
  const pathFrom = async (path: string, bearer = ready.apiKey) => {
    const response = await fetch(ready.url + path, { headers: { authorization: `Bearer ${bearer}` } })
    return ((await response.json()) as { path: string }).path
  }
  return { live, proxy, pathFrom, host: new URL(live.url).host }
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

/** Node's own client honours the variables from 22.21 and 24.5 on. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const nodeKnowsProxies = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)

test.skipIf(!nodeKnowsProxies)('with HTTP_PROXY, undocumented requests go through the proxy', async () => {
  const { live, proxy, pathFrom, host } = await behindProxy(url => ({ HTTP_PROXY: url }))
  expect(await pathFrom('/v1/things')).toBe('/v1/things')
  expect(proxy.asked).toEqual([host])
  expect(live.seen[0]?.request.headers).toMatchObject({ host, authorization: `Bearer ${liveKey}` })
})

test('a live platform that NO_PROXY names is reached directly', async () => {
  const { live, proxy, pathFrom } = await behindProxy(url => ({ HTTP_PROXY: url, NO_PROXY: '127.0.0.1' }))
  expect(await pathFrom('/v1/models')).toBe('/v1/models')
  expect(await pathFrom('/v1/things')).toBe('/v1/things')
  expect(await pathFrom('/v1/models?user', aToken)).toBe('/v1/models?user')
  expect(proxy.asked).toEqual([])
  expect(live.seen).toHaveLength(4)
})
