/** Malformed messages, headers and versions get the errors of the specification, never a 5xx. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../runs.js'
import { platformWith, type Scene } from '../scene.js'
import { framesIn, post, session, stateless } from './by-hand.js'
import type { Frame } from './specification.js'

const city = { type: 'string', 'x-mcp-header': 'City' }
const days = { type: 'integer', 'x-mcp-header': 'Days' }
const server = {
  tools: [
    { name: 'look', inputSchema: { type: 'object', properties: { city, days } } },
    { name: 'ask', reply: { ask: { user: { elicitation: { message: 'Where?' } } }, text: 'There.' } },
    { name: 'think', reply: { ask: { model: { sampling: { messages: [] } } }, text: 'Thought.' } },
    { name: 'strict', inputSchema: { type: 'object', additionalProperties: false } },
  ],
  resources: [{ uri: 'docs://readme', text: 'Read me.' }],
  resourceTemplates: [{ name: 'part', uriTemplate: 'part:{a}.{b}.{c}.{d}.{e}.{f}' }],
}

/** An integer that a JavaScript number cannot represent. */
const LONG = '1186398424392011776'

type Headers = Record<string, string>
/** What is sent, then the expected status and error code. */
type Row = readonly [sent: unknown, headers: Headers, status: number, code?: number | undefined]

async function expectErrors(platform: Scene, rows: readonly Row[]): Promise<void> {
  for (const [sent, headers, status, code] of rows) {
    const answer = await post(platform, sent, headers)
    const text = await answer.text()
    const error = text === '' ? undefined : JSON.parse(text).error
    expect([sent, headers, answer.status, error?.code]).toEqual([sent, headers, status, code])
  }
}

const request = (method: string, params?: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const ping = request('ping')

test('the name of an argument is shortened in the error, however long it is', async () => {
  const platform = await platformWith({ mcp: server })
  const { headers } = await session(platform)
  const call = request('tools/call', { name: 'strict', arguments: { ['x'.repeat(100_000)]: 1 } })
  const text = await (await post(platform, call, headers)).text()
  expect(text).toContain('is not known here')
  expect(text.length).toBeLessThan(1000)
})

test('malformed messages and headers in a session get the errors of the specification', async () => {
  const platform = await platformWith({ mcp: server })
  const { headers } = await session(platform)
  const tooDeep = `${'['.repeat(2000)}${']'.repeat(2000)}`
  await expectErrors(platform, [
    ['', headers, 400, -32700],
    ['{', headers, 400, -32700],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}}', headers, 400, -32700],
    ['5', headers, 400, -32600],
    ['null', headers, 400, -32600],
    [{}, headers, 400, -32600],
    [{ ...ping, jsonrpc: '1.0' }, headers, 400, -32600],
    [{ ...ping, id: null }, headers, 400, -32600],
    [{ ...ping, id: 1.5 }, headers, 400, -32600],
    [{ ...ping, id: [] }, headers, 400, -32600],
    [{ ...ping, method: 5 }, headers, 400, -32600],
    [{ ...ping, params: [] }, headers, 400, -32600],
    [{ jsonrpc: '2.0', id: 1 }, headers, 400, -32600],
    [{ jsonrpc: '2.0', id: 1, result: 'no object' }, headers, 400, -32600],
    [{ jsonrpc: '2.0', id: 1, error: 'no object' }, headers, 400, -32600],
    [tooDeep, headers, 400, undefined],
    [ping, {}, 400, -32000],
    [ping, { 'mcp-session-id': 'unknown' }, 404, -32001],
    [ping, { ...headers, 'mcp-protocol-version': '2019-01-01' }, 400, -32000],
    [ping, { ...headers, 'content-type': 'text/plain' }, 415, -32000],
    [ping, { ...headers, 'content-type': 'application/json-patch+json' }, 415, -32000],
    [ping, { ...headers, accept: 'text/html' }, 406, -32000],
    [request('initialize', {}), {}, 200, -32602],
    [request('tools/lost'), headers, 200, -32601],
    [request('prompts/list'), headers, 200, -32601],
    [request('tools/list', { cursor: 'x' }), headers, 200, -32602],
    [request('tools/list', { cursor: 5 }), headers, 200, -32602],
    [request('tools/call'), headers, 200, -32602],
    [request('tools/call', { name: '__proto__' }), headers, 200, -32602],
    [request('tools/call', { name: 'look', arguments: [] }), headers, 200, -32602],
    [request('tools/call', { name: 'look', arguments: { city: 5 } }), headers, 200, -32602],
    [request('tools/call', { name: 'strict', arguments: { '\ud800': 1 } }), headers, 200, -32602],
    [
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"days":${LONG}}}}`,
      headers,
      200,
    ],
    // With backtracking this would take years.
    [request('resources/read', { uri: `part:${'.'.repeat(1900)}/` }), headers, 200, -32002],
    [request('resources/subscribe', { uri: 'docs://lost' }), headers, 200, -32002],
    [request('logging/setLevel', { level: 'loud' }), headers, 200, -32602],
    // Unsolicited responses and unknown notifications are accepted without effect.
    [{ jsonrpc: '2.0', id: 'standin-1', result: {} }, headers, 202, undefined],
    [{ jsonrpc: '2.0', method: 'notifications/lost' }, headers, 202, undefined],
    [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, headers, 202, undefined],
  ])
})

const look = stateless('tools/call', { name: 'look', arguments: { city: 'Malmö', days: 2 } })
const malmo = { ...look.headers, 'mcp-param-city': '=?base64?TWFsbcO2?=', 'mcp-param-days': '2' }

/** The same message with another `_meta`. */
const withMeta = (change: object) => ({
  ...look.body,
  params: { ...look.body.params, _meta: { ...look.body.params._meta, ...change } },
})
const without = (headers: Headers, name: string) =>
  Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name))

test('malformed messages and headers without a session get the errors of the specification', async () => {
  const platform = await platformWith({ mcp: server })
  const prefix = 'io.modelcontextprotocol'
  const removed = stateless('ping', {})
  const listen = stateless('subscriptions/listen', {})
  await expectErrors(platform, [
    [look.body, malmo, 200, undefined],
    [look.body, { ...malmo, 'mcp-param-days': '2.0' }, 200, undefined],
    [look.body, without(malmo, 'mcp-protocol-version'), 400, -32020],
    [look.body, { ...malmo, 'mcp-protocol-version': '2025-11-25' }, 400, -32020],
    [look.body, without(malmo, 'mcp-method'), 400, -32020],
    [look.body, { ...malmo, 'mcp-method': 'tools/list' }, 400, -32020],
    [look.body, without(malmo, 'mcp-name'), 400, -32020],
    [look.body, { ...malmo, 'mcp-name': 'Look' }, 400, -32020],
    [look.body, { ...malmo, 'mcp-name': '=?base64?bG9vaw==?=' }, 200, undefined],
    [look.body, { ...malmo, 'mcp-name': '=?base64?bG9va?=' }, 400, -32020],
    [look.body, without(malmo, 'mcp-param-city'), 400, -32020],
    [look.body, { ...malmo, 'mcp-param-city': 'Malmo' }, 400, -32020],
    [look.body, { ...malmo, 'mcp-param-city': '=?base64?!?=' }, 400, -32020],
    [look.body, { ...malmo, 'mcp-param-days': '3' }, 400, -32020],
    [withMeta({ [`${prefix}/clientCapabilities`]: undefined }), malmo, 400, -32602],
    [withMeta({ [`${prefix}/clientCapabilities`]: 'all' }), malmo, 400, -32602],
    [withMeta({ [`${prefix}/protocolVersion`]: undefined }), malmo, 400, -32602],
    [withMeta({ [`${prefix}/protocolVersion`]: '2027-01-01' }), malmo, 400, -32020],
    [withMeta({ [`${prefix}/logLevel`]: 'loud' }), malmo, 400, -32602],
    [
      withMeta({ [`${prefix}/protocolVersion`]: '2027-01-01' }),
      { ...malmo, 'mcp-protocol-version': '2027-01-01' },
      400,
      -32022,
    ],
    [removed.body, removed.headers, 404, -32601],
    [listen.body, listen.headers, 400, -32602],
  ])
  for (const method of ['GET', 'DELETE'])
    expect((await platform.ask('/mcp', { method, headers: malmo })).status).toBe(405)
})

test('a stream needs a session and a client that accepts events', async () => {
  const platform = await platformWith({ mcp: server })
  const { headers } = await session(platform)
  const statuses = async (method: string, all: readonly Headers[]) =>
    Promise.all(all.map(async headers => (await platform.ask('/mcp', { method, headers })).status))
  const unknown = { 'mcp-session-id': 'unknown', accept: 'text/event-stream' }
  expect(await statuses('GET', [{}, unknown, { ...headers, accept: 'application/json' }])).toEqual([400, 404, 406])
  expect(await statuses('DELETE', [{}, unknown])).toEqual([400, 404])
  expect(await statuses('PUT', [headers])).toEqual([405])
})

test('a HEAD request leaves the stream of the session open', async () => {
  const platform = await platformWith({
    mcp: { tools: [{ name: 'grow', reply: { text: 'More.', changed: ['tools'] } }] },
  })
  const { headers } = await session(platform)
  const stream = { ...headers, accept: 'text/event-stream' }
  const frames = framesIn(await platform.ask('/mcp', { headers: stream }))
  expect((await platform.ask('/mcp', { method: 'HEAD', headers: stream })).status).toBe(200)
  await post(platform, request('tools/call', { name: 'grow' }), headers)
  expect((await frames.next()).value).toMatchObject({ method: 'notifications/tools/list_changed' })
  await frames.return(undefined)
})

test('a batch is refused as a whole, in every version', async () => {
  const platform = await platformWith({ mcp: server })
  const { headers } = await session(platform, '2025-03-26')
  const modern = stateless('tools/list', {})
  await expectErrors(platform, [
    [[ping, request('tools/list', {}, 2)], headers, 400, -32600],
    [[{ jsonrpc: '2.0', method: 'notifications/initialized' }], headers, 400, -32600],
    [[], headers, 400, -32600],
    [[modern.body], modern.headers, 400, -32600],
  ])
})

test('a requestState that was changed, is too old or belongs to another call or caller is refused', async () => {
  const platform = await platformWith({ mcp: server })
  const ask = (params: object = {}) => stateless('tools/call', { name: 'ask', ...params }, { elicitation: {} })
  const first = await post(platform, ask().body, ask().headers)
  const { requestState } = ((await first.json()) as { result: { requestState: string } }).result
  const inputResponses = { user: { action: 'decline' } }
  async function again(state: unknown, more: object = {}, headers: Headers = {}): Promise<Frame> {
    const { body, headers: own } = ask({ inputResponses, requestState: state, ...more })
    return (await (await post(platform, body, { ...own, ...headers })).json()) as Frame
  }
  const refused = { error: { code: -32602, message: expect.stringContaining('requestState') } }
  expect(await again(requestState)).toMatchObject({ result: { content: [{ text: 'There.' }] } })

  const anyChange = fc.asyncProperty(
    fc.nat(requestState.length - 1),
    fc.constantFrom('A', '.', '_'),
    async (at, by) => {
      fc.pre(requestState[at] !== by)
      const changed = requestState.slice(0, at) + by + requestState.slice(at + 1)
      expect(await again(changed)).toMatchObject(refused)
    },
  )
  await fc.assert(anyChange, { numRuns: runs(300) })
  for (const state of ['', 5, {}, null, `${requestState}.`]) expect(await again(state)).toMatchObject(refused)
  expect(await again(requestState, { arguments: { other: 1 } })).toMatchObject(refused)
  const { accessToken } = await platform.signIn()
  expect(await again(requestState, {}, { authorization: `Bearer ${accessToken}` })).toMatchObject(refused)
  await platform.clock.advance(11 * 60_000)
  expect(await again(requestState)).toMatchObject(refused)
})

test('a call that the client cancels ends without an answer', async () => {
  const platform = await platformWith({ mcp: server })
  const { headers } = await session(platform, '2025-11-25', { elicitation: {} })
  const frames = framesIn(await post(platform, request('tools/call', { name: 'ask' }, 'mine'), headers))
  expect((await frames.next()).value).toMatchObject({ method: 'elicitation/create' })
  await post(platform, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'mine' } }, headers)
  expect(await frames.next()).toMatchObject({ done: true })
})

test('the journal names the JSON-RPC error of a call with status 200', async () => {
  const platform = await platformWith({ mcp: server })
  const { headers } = await session(platform)
  await post(platform, request('tools/call', { name: 'nope' }), headers)
  expect(await platform.journal.last()).toMatchObject({
    status: 200,
    remark: expect.stringMatching(/^JSON-RPC error -32602: /),
  })
})
