import { writeFileSync } from 'node:fs'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { folderWith } from '../command.js'
import { runs } from '../runs.js'
import { platformWith, type Scene } from '../scene.js'
import { connected } from './everything.js'

const tools = (...names: string[]) => `mcp: { tools: [${names.map(name => `{ name: ${name} }`).join(', ')}] }\n`

/** Sends a message as it is. */
const post = (platform: Scene, body: string, headers: Record<string, string>) =>
  platform.ask('/mcp', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })

const initialize = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'many', version: '1' } },
})

const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

const methods = ['tools/call', 'tools/list', 'resources/read', 'prompts/get', 'completion/complete', 'initialize']
const params = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      name: fc.oneof(fc.constant('look'), fc.jsonValue()),
      arguments: fc.jsonValue(),
      uri: fc.jsonValue(),
      ref: fc.jsonValue(),
      _meta: fc.oneof(fc.constant(modern), fc.jsonValue()),
      inputResponses: fc.jsonValue(),
      requestState: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
)
const message = fc.record(
  {
    jsonrpc: fc.oneof(fc.constant('2.0'), fc.jsonValue()),
    id: fc.oneof(fc.integer(), fc.jsonValue()),
    method: fc.oneof(fc.constantFrom(...methods), fc.string()),
    params,
    result: fc.jsonValue(),
  },
  { requiredKeys: ['jsonrpc'] },
)

test('whatever a client sends, it gets an answer that is no failure of ours', async () => {
  const platform = await platformWith({ mcp: { tools: [{ name: 'look' }], prompts: [{ name: 'look' }] } })
  const begun = await post(platform, initialize, {})
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
  const headers = fc.constantFrom({}, session, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' })
  const body = fc.oneof(
    message.map(value => JSON.stringify(value)),
    fc.string(),
    fc.array(message, { maxLength: 3 }).map(value => JSON.stringify(value)),
  )
  await fc.assert(
    fc.asyncProperty(body, headers, async (body, headers) => {
      const answer = await post(platform, body, headers)
      expect(answer.status).toBeLessThan(500)
      const text = await answer.text()
      if (answer.status >= 400) expect(JSON.parse(text)).toHaveProperty('error')
    }),
    { numRuns: runs(500) },
  )
})

test('a thousand sessions are open at the same time', async () => {
  const platform = await platformWith({ mcp: { tools: [{ name: 'look' }] } })
  const ids: string[] = []
  for (let i = 0; i < 1000; i++) ids.push((await post(platform, initialize, {})).headers.get('mcp-session-id') ?? '')
  expect(new Set(ids).size).toBe(1000)
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' })
  for (const id of [ids[0], ids[500], ids[999]])
    expect((await post(platform, ping, { 'mcp-session-id': id ?? '' })).status).toBe(200)
})

test('a reload keeps the sessions, and tells them of tools that have come', async () => {
  const dir = folderWith({ 'platform.config.yaml': `port: 0\nstate: memory\n${tools('look')}` })
  const platform = await openPlatform({ cwd: dir })
  onTestFinished(() => platform.stop())
  const { client, transport } = await connected({ url: platform.url, apiKey: platform.apiKey ?? '' })
  const told = new Promise<void>(resolve =>
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
  )
  const before = transport.sessionId
  // The client opens its stream for notifications once it has connected.
  await expect.poll(() => platform.forTests.traffic.underWay()).toBeGreaterThan(0)
  writeFileSync(`${dir}/platform.config.yaml`, `port: 0\nstate: memory\n${tools('look', 'listen')}`)
  await platform.reload()
  await told
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['look', 'listen'])
  expect(transport.sessionId).toBe(before)
})

test('a client that leaves in the middle of a call does not affect other clients', async () => {
  const platform = await platformWith({
    mcp: { tools: [{ name: 'look' }] },
    rules: [
      {
        on: 'tools/call look',
        when: { client: 'by hand' },
        reply: { ask: { user: { elicitation: { message: 'Where?' } } }, text: 'Never.' },
      },
      { on: 'tools/call look', reply: { text: 'Here.' } },
    ],
  })
  const capable = initialize
    .replace('"capabilities":{}', '"capabilities":{"elicitation":{}}')
    .replace('many', 'by hand')
  const begun = await post(platform, capable, {})
  const call = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'look' } })
  const open = await post(platform, call, { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' })
  await open.body?.cancel()
  const { client } = await connected(platform)
  expect(await client.callTool({ name: 'look' })).toMatchObject({ content: [{ text: 'Here.' }] })
})
