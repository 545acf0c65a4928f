import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { liveKey, liveWith, proxyTo } from '../http/live.js'
import { connected, everythingServer } from './everything.js'

/** A real server, and a platform in mode proxy in front of it. */
async function inFront() {
  const live = await everythingServer()
  return { live, ...(await proxyTo(live.url, { mcp: { '/mcp': {} } })) }
}

test('a client works with the real server through Standin, which sends the live key', async () => {
  const { live, ...platform } = await inFront()
  const { client, transport } = await connected(platform)
  expect([...live.sessions.keys()]).toEqual([transport.sessionId])
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('get-sum')
  const seen: unknown[] = []
  const { content } = await client.callTool(
    { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
    undefined,
    { onprogress: progress => void seen.push(progress) },
  )
  expect([content, seen.length]).toEqual([[expect.objectContaining({ type: 'text' })], 2])
  await transport.terminateSession()
  expect(live.sessions.size).toBe(0)
  expect(new Set(live.seen.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${liveKey}`]))
  expect(live.seen.map(({ method }) => method)).toEqual(expect.arrayContaining(['POST', 'GET', 'DELETE']))
})

test('a request on the stream of the server reaches the client, and the response reaches the server', async () => {
  const { live: _, ...platform } = await inFront()
  const { client } = await connected(platform, { capabilities: { roots: { listChanged: true } } })
  const asked = new Promise<void>(resolve =>
    client.setRequestHandler(ListRootsRequestSchema, () => {
      resolve()
      return { roots: [{ uri: 'file:///here', name: 'here' }] }
    }),
  )
  await asked
  const { content } = await client.callTool({ name: 'get-roots-list', arguments: {} })
  expect(JSON.stringify(content)).toContain('file:///here')
})

test('errors of the server keep their JSON-RPC format', async () => {
  const { ask } = await inFront()
  const response = await ask('/mcp', { method: 'POST', body: '{}', headers: { ...json, 'mcp-session-id': 'gone' } })
  expect([response.status, await response.json()]).toEqual([
    404,
    { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null },
  ])
})

test('a request from a foreign origin or without a credential never reaches the server', async () => {
  const { live, ask, url } = await inFront()
  const foreign = await ask('/mcp', {
    method: 'POST',
    body: '{}',
    headers: { ...json, origin: 'https://evil.example' },
  })
  expect(foreign.status).toBe(403)
  const unknown = await ask('/mcp', { method: 'POST', body: '{}', headers: json, bearer: null })
  expect(unknown.status).toBe(401)
  const [, document = ''] = /resource_metadata="(.+)"/.exec(unknown.headers.get('www-authenticate') ?? '') ?? []
  expect(await (await fetch(document)).json()).toMatchObject({
    resource: `${url}/mcp`,
    authorization_servers: [`${url}/auth/v1`],
  })
  expect(live.seen).toEqual([])
})

test('the MCP headers of all versions pass in both directions', async () => {
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': '=?base64?w6Y=?=',
    'mcp-param-city': 'Oslo',
    'mcp-session-id': 'session-1',
    'last-event-id': 'event-1',
  }
  const live = await liveWith((_request, response) => {
    response.writeHead(200, { ...json, 'mcp-session-id': 'session-2', 'x-accel-buffering': 'no' }).end('{}')
  })
  const { ask } = await proxyTo(live.url, { mcp: { '/mcp': {} } })
  const response = await ask('/mcp', { method: 'POST', body: '{}', headers: { ...json, ...headers } })
  expect(live.seen[0]?.request.headers).toMatchObject(headers)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'mcp-session-id': 'session-2',
    'x-accel-buffering': 'no',
  })
})

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
