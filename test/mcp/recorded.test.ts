import { Client as NewestClient, StreamableHTTPClientTransport as NewestTransport } from '@modelcontextprotocol/client'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { tape } from '../recordings/live.js'
import { platformWith, type Scene } from '../scene.js'
import { eventsIn, post, session } from './by-hand.js'
import { connected, everythingServer } from './everything.js'

/** A recorded conversation with a real server, and its result for the client. */
async function taped<T>(converse: (platform: Scene) => Promise<T>) {
  const live = await everythingServer()
  const scene = tape(live.url)
  const recording = await scene.recording()
  const original = await converse(recording)
  await recording.stop()
  return { ...scene, original, live }
}

const sum = (a: number, b: number) => ({ name: 'get-sum', arguments: { a, b } })
const longRun = { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } }

test('a recorded conversation is replayed offline, to another client in its own session', async () => {
  async function converse(platform: Scene) {
    const { client, transport } = await connected(platform)
    // Ids and progress tokens are counters, so the ping makes them differ from the recording.
    if ((await platform.mode) === 'replay') await client.ping()
    const session = transport.sessionId
    const progress: unknown[] = []
    const said = {
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      tools: await client.listTools(),
      sum: await client.callTool(sum(2, 3)),
      resource: await client.readResource({ uri: 'demo://resource/static/document/features.md' }),
      prompt: await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Oslo' } }),
      long: await client.callTool(longRun, undefined, { onprogress: step => void progress.push(step) }),
      progress,
    }
    expect(transport.sessionId).toBe(session)
    await transport.terminateSession()
    return { said, session }
  }
  const { original, files, text, live, replaying } = await taped(converse)
  const offline = await converse(await replaying())
  expect(offline.said).toEqual(original.said)
  expect(original.said.progress).toHaveLength(2)
  expect(offline.session).not.toBe(original.session)
  expect(live.sessions.size).toBe(0)
  expect(files().map(file => file.replace(/-[0-9a-f]{8}/, ''))).toEqual([
    'mcp/initialize.yaml',
    'mcp/prompts-get-args-prompt.yaml',
    'mcp/resources-read-demo-resource-static-document.yaml',
    'mcp/tools-call-get-sum.yaml',
    'mcp/tools-call-trigger-long-running-operation.yaml',
    'mcp/tools-list.yaml',
  ])
  for (const file of files()) expect(text(file)).not.toContain(original.session)
})

test('a client that does not ask for progress gets none of the recorded notifications', async () => {
  const { replaying } = await taped(async platform => {
    const { client } = await connected(platform)
    await client.callTool(longRun, undefined, { onprogress: () => {} })
  })
  const { ask } = await replaying()
  const call = { jsonrpc: '2.0', id: 'mine', method: 'tools/call', params: longRun }
  const response = await ask('/mcp', {
    method: 'POST',
    body: JSON.stringify(call),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  })
  const events = (await response.text()).split('\n').filter(line => line.startsWith('data:'))
  expect(events.map(line => JSON.parse(line.slice(5)))).toEqual([
    { jsonrpc: '2.0', id: 'mine', result: { content: [{ type: 'text', text: expect.stringContaining('completed') }] } },
  ])
})

test('a recorded elicitation during a call is sent again on replay', async () => {
  async function converse(platform: Scene) {
    const { client } = await connected(platform, { capabilities: { elicitation: {} } })
    const asked: unknown[] = []
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params)
      return { action: 'decline' }
    })
    const result = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} })
    return { asked, result }
  }
  const { original, replaying } = await taped(converse)
  expect(original.asked).toHaveLength(1)
  expect(await converse(await replaying())).toEqual(original)
})

test('an unrecorded call is an error that names the nearest call and the difference', async () => {
  const { replaying } = await taped(async platform => {
    const { client } = await connected(platform)
    await client.callTool(sum(2, 3))
    await client.callTool({ name: 'echo', arguments: { message: 'hello' } })
  })
  const platform = await replaying()
  const { client } = await connected(platform)
  await expect(client.callTool(sum(2, 4))).rejects.toThrow(
    /^MCP error -32004: .* tools\/call get-sum\. .* mcp\/tools-call-get-sum-\w+\.yaml; there params\.arguments\.b is 3, here it is 4\.$/,
  )
  expect(await platform.misses()).toMatchObject([{ nearest: { differences: [{ field: 'params.arguments.b' }] } }])
})

test('in a replayed session an unrecorded call is an error, and is not recorded', async () => {
  const { replaying, files } = await taped(async platform => {
    const { client } = await connected(platform)
    await client.callTool(sum(2, 3))
  })
  const recorded = files()
  for (const onMiss of ['emulate', 'record'] as const) {
    const { client } = await connected(await replaying({ recordings: { onMiss } }))
    await expect(client.callTool(sum(2, 4))).rejects.toThrow(/^MCP error -32004: /)
  }
  expect(files()).toEqual(recorded)
})

test('the newest version, without sessions, is recorded and replayed as well', async () => {
  const live = await platformWith({
    mcp: { '/mcp': { tools: [{ name: 'get_weather', inputSchema: { type: 'object' } }] } },
  })
  const between = { mcp: { '/mcp': {} }, upstream: { baseUrl: live.url, apiKey: live.apiKey } }
  async function converse({ url, apiKey }: Scene) {
    const client = new NewestClient(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    const headers = { authorization: `Bearer ${apiKey}` }
    await client.connect(new NewestTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
    onTestFinished(() => client.close())
    const { tools } = await client.listTools()
    return { tools, weather: await client.callTool({ name: 'get_weather', arguments: { city: 'Oslo' } }) }
  }
  const scene = tape(live.url)
  const recording = await scene.recording(between)
  const original = await converse(recording)
  await Promise.all([recording.stop(), live.stop()])
  expect(await converse(await scene.replaying(between))).toEqual(original)
  expect(JSON.stringify(original)).toContain('Oslo')
})

test('recorded notifications on the stream of a server are replayed, and the stream stays open', async () => {
  const live = await platformWith({ mcp: { tools: [{ name: 'grow', reply: { text: 'Mehr ü', changed: ['tools'] } }] } })
  const between = { mcp: { '/mcp': {} }, upstream: { baseUrl: live.url, apiKey: live.apiKey } }
  const listening = async (platform: Scene) => {
    const { headers } = await session(platform)
    const stream = await platform.ask('/mcp', { headers: { ...headers, accept: 'text/event-stream' } })
    return { headers, stream, events: stream.ok ? eventsIn(stream) : undefined }
  }
  const scene = tape(live.url)
  const recording = await scene.recording(between)
  const silent = await listening(recording)
  await silent.stream.body?.cancel()
  const { headers, events } = await listening(recording)
  await post(recording, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'grow' } }, headers)
  const original = await events?.next()
  await events?.return()
  await Promise.all([recording.stop(), live.stop()])
  expect(original?.value).toContain('notifications/tools/list_changed')

  const replaying = await scene.replaying(between)
  const offline = await listening(replaying)
  expect(await offline.events?.next()).toEqual(original)
  const ended = offline.events?.next().catch(() => 'stopped')
  await replaying.stop()
  expect(await ended).toBe('stopped')
})

test('on replay, the stream of a server without recorded notifications is a 405', async () => {
  const { replaying } = await taped(platform => connected(platform).then(({ client }) => client.listTools()))
  const platform = await replaying()
  const { headers } = await session(platform)
  expect((await platform.ask('/mcp', { headers: { ...headers, accept: 'text/event-stream' } })).status).toBe(405)
})

test('secrets in arguments and results are not written to recordings', async () => {
  const secret = 'sk-live-0123456789abcdefABCDEF'
  const { files, text, replaying } = await taped(async platform => {
    const { client } = await connected(platform)
    return client.callTool({ name: 'echo', arguments: { message: secret } })
  })
  expect(files().map(text).join()).not.toContain(secret)
  const { client } = await connected(await replaying())
  const { content } = await client.callTool({ name: 'echo', arguments: { message: secret } })
  expect(JSON.stringify(content)).toContain('Echo: [')
})
