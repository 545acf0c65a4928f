import { writeFileSync } from 'node:fs'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { clientFrom, createMcpSessions } from '../../src/mcp/sessions.js'
import { openPlatform } from '../../src/platform.js'
import { folderWith } from '../command.js'
import { runs } from '../runs.js'
import { platformWith } from '../scene.js'
import { eventsIn, post, session } from './by-hand.js'
import { connected } from './everything.js'

const tools = (...names: string[]) => `mcp: { tools: [${names.map(name => `{ name: ${name} }`).join(', ')}] }\n`

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

test('no client input causes a 5xx', async () => {
  const platform = await platformWith({ mcp: { tools: [{ name: 'look' }], prompts: [{ name: 'look' }] } })
  const { headers: inSession } = await session(platform)
  const headers = fc.constantFrom({}, inSession, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' })
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
  const all: Awaited<ReturnType<typeof session>>[] = []
  for (let i = 0; i < 1000; i++) all.push(await session(platform))
  expect(new Set(all.map(({ headers }) => headers['mcp-session-id'])).size).toBe(1000)
  for (const one of [all[0], all[500], all[999]])
    expect((await post(platform, { jsonrpc: '2.0', id: 2, method: 'ping' }, one?.headers)).status).toBe(200)
})

test('a reload keeps sessions and notifies them of new tools', async () => {
  const dir = folderWith({ 'platform.config.yaml': `port: 0\nstate: memory\n${tools('look')}` })
  const platform = await openPlatform({ cwd: dir })
  onTestFinished(() => platform.stop())
  const { client, transport } = await connected({ url: platform.url, apiKey: platform.apiKey ?? '' })
  const notified = new Promise<void>(resolve =>
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
  )
  const before = transport.sessionId
  // The client opens its stream for notifications once it has connected.
  await expect.poll(() => platform.forTests.traffic.pending()).toBeGreaterThan(0)
  writeFileSync(`${dir}/platform.config.yaml`, `port: 0\nstate: memory\n${tools('look', 'listen')}`)
  await platform.reload()
  await notified
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['look', 'listen'])
  expect(transport.sessionId).toBe(before)
})

test('a client that disconnects during a call does not affect other clients', async () => {
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
  const { headers } = await session(platform, '2025-11-25', { elicitation: {} })
  const open = await post(platform, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'look' } }, headers)
  await open.body?.cancel()
  const { client } = await connected(platform)
  expect(await client.callTool({ name: 'look' })).toMatchObject({ content: [{ text: 'Here.' }] })
})

test('a client that lost its stream gets the missed notifications with Last-Event-ID', async () => {
  const platform = await platformWith({ mcp: { tools: [{ name: 'look' }], prompts: [{ name: 'look' }] } })
  await platform.mcp.tool('look').reply([{ changed: ['tools'] }, { changed: ['prompts'] }])
  const { headers } = await session(platform)
  const stream = (more = {}) => platform.ask('/mcp', { headers: { ...headers, accept: 'text/event-stream', ...more } })
  const change = () =>
    post(platform, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'look' } }, headers)

  const lost = await stream()
  await change()
  const events = eventsIn(lost)
  const [, last = ''] = /^id: (.*)$/m.exec((await events.next()).value ?? '') ?? []
  await events.return()
  await change()
  const missed = (await eventsIn(await stream({ 'last-event-id': last })).next()).value
  expect(missed).toContain('notifications/prompts/list_changed')
})

test('comments keep every open stream alive', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const sessions = createMcpSessions(() => 0)
  onTestFinished(() => sessions.close())
  const begun = { server: '/mcp', version: '2025-11-25', scope: '', holder: 'key', client: clientFrom({}, {}) }
  const written: string[] = []
  const sink = { write: (text: string) => void written.push(text), end: () => {} }
  sessions.stream(sessions.begin(begun)).attach(sink)
  vi.advanceTimersByTime(30_000)
  expect(written).toEqual([':\n\n', ':\n\n'])
})
