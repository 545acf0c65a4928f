import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dataIn } from '../../src/chat/events.js'
import { ignoreFrom } from '../../src/recordings/ignore.js'
import { withIdsOf } from '../../src/recordings/json-rpc.js'
import { requestKey } from '../../src/recordings/key.js'
import { recordedBody } from '../../src/recordings/recording.js'
import { runs } from '../runs.js'
import { asking, recorded, streamed } from './scene.js'

const id = fc.oneof(fc.integer(), fc.string(), fc.uuid())
const keyFor = (body: unknown) => requestKey(asking(body, { path: '/mcp' }), ignoreFrom([]))

const call = (of: { id: unknown; token?: unknown; arguments?: unknown }) => ({
  jsonrpc: '2.0',
  id: of.id,
  method: 'tools/call',
  params: { name: 'get_weather', arguments: of.arguments ?? { city: 'Oslo' }, _meta: { progressToken: of.token ?? 0 } },
})

test('ids, progress tokens and other _meta fields do not affect matching', () => {
  fc.assert(
    fc.property(id, id, fc.jsonValue(), (id, token, arguments_) => {
      const plain = call({ id: 1, arguments: arguments_ })
      const other = call({ id, token, arguments: arguments_ })
      expect(keyFor(other)).toBe(keyFor(plain))
      expect(keyFor(call({ id, arguments: { city: 'Bergen', arguments_ } }))).not.toBe(keyFor(plain))
    }),
    { numRuns: runs(200) },
  )
})

test('protocol versions affect matching, client versions do not', () => {
  const initialize = (protocolVersion: string, version: string) =>
    keyFor({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion, clientInfo: { version } } })
  expect(initialize('2025-11-25', '1.0')).toBe(initialize('2025-11-25', '2.0'))
  expect(initialize('2025-11-25', '1.0')).not.toBe(initialize('2025-06-18', '1.0'))
  const discover = (version: string, traceparent: string) =>
    keyFor({
      ...{ jsonrpc: '2.0', id: 0, method: 'tools/list' },
      params: { _meta: { 'io.modelcontextprotocol/protocolVersion': version, traceparent } },
    })
  expect(discover('2026-07-28', 'a')).toBe(discover('2026-07-28', 'b'))
  expect(discover('2026-07-28', 'a')).not.toBe(discover('2027-01-01', 'a'))
})

const serverRequest = { jsonrpc: '2.0', id: 7, method: 'sampling/createMessage', params: {} }
const changed = (subscription: unknown) => ({
  ...{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
  params: { _meta: { 'io.modelcontextprotocol/subscriptionId': subscription, other: 7 } },
})
const progress = (progressToken: unknown) => ({
  ...{ jsonrpc: '2.0', method: 'notifications/progress' },
  params: { progressToken, progress: 1, message: 'søker' },
})

test('an answer gets the ids of the call, however the network cut it, and ids of the server stay', () => {
  const then = { id: 7, token: 'a' }
  const messages = (now: typeof then | { id: unknown; token: unknown }) => [
    progress(now.token),
    serverRequest,
    progress('of another call'),
    changed(now.id),
    changed('of another call'),
    { jsonrpc: '2.0', id: now.id, result: { content: [{ type: 'text', text: '{"id":7}' }] } },
  ]
  const bytes = Buffer.from(
    messages(then)
      .map(one => `id: 1\nevent: message\ndata: ${JSON.stringify(one)}\n\n`)
      .join(''),
  )
  fc.assert(
    fc.property(id, id, fc.array(fc.nat(bytes.length)), (id, token, cuts) => {
      const borders = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      const chunks = borders.slice(1).map((end, i) => ({ atMs: i, bytes: bytes.subarray(borders[i], end) }))
      const recording = streamed(chunks, asking(call(then)))
      const response = withIdsOf(asking(call({ id, token })), recording)
      expect(dataIn(recordedBody(response)).map(data => JSON.parse(data))).toEqual(messages({ id, token }))
      expect(response.chunks.map(({ atMs }) => atMs)).toEqual(
        response.chunks.map(({ atMs }) => atMs).toSorted((a, b) => a - b),
      )
      expect(response.chunks.at(-1)?.atMs).toBe(chunks.findLast(({ bytes }) => bytes.length > 0)?.atMs)
    }),
    { numRuns: runs(200) },
  )
})

test('a body that does not change keeps its bytes', () => {
  const body = '{"jsonrpc":"2.0","id":1, "result":{"n":12345678901234567890}}'
  const recording = recorded({ chunks: [{ atMs: 0, bytes: Buffer.from(body) }] }, asking(call({ id: 1 })))
  const under = (id: unknown) => recordedBody(withIdsOf(asking(call({ id })), recording)).toString()
  expect(under(1)).toBe(body)
  expect(under('x')).toBe('{"jsonrpc":"2.0","id":"x","result":{"n":12345678901234567890}}')
})
