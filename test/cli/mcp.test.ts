import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client as NewestClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewestTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { Bridge } from '../../src/cli/mcp/bridge.js'
import { run } from '../command.js'
import { liveWith } from '../http/live.js'
import { everythingServer } from '../mcp/everything.js'
import { platformWith } from '../scene.js'

const key = 'sk-of-this-client-alone'
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

test('a client that only speaks stdio works with a server over HTTP, in both directions', async () => {
  const live = await everythingServer()
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { roots: { listChanged: true } } })
  const asked = new Promise<void>(resolve =>
    client.setRequestHandler(ListRootsRequestSchema, () => {
      resolve()
      return { roots: [{ uri: 'file:///here', name: 'here' }] }
    }),
  )
  const args = [cli, 'mcp', '--stdio', '--url', live.url]
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args, stderr: 'pipe', env: { OPENAI_API_KEY: key } },
  })
  let said = ''
  transport.stderr?.on('data', bytes => {
    said += bytes
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const progress: unknown[] = []
  const { content } = await client.callTool(
    { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
    undefined,
    { onprogress: told => void progress.push(told) },
  )
  expect(content).toEqual([expect.objectContaining({ type: 'text' })])
  expect(progress.length).toBeGreaterThan(0)
  await asked
  await client.close()
  await expect.poll(() => live.sessions.size).toBe(0)
  expect(said).toContain(`Messages are sent to ${live.url}/mcp.`)
  expect(said).not.toContain(key)
  expect(new Set(live.seen.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${key}`]))
})

/** A bridge to this address, and what it writes, message by message. */
function bridgeTo(url: string) {
  const messages: unknown[] = []
  const waiting: (() => void)[] = []
  const bridge = new Bridge({
    ...{ url, key, report: sentence => void messages.push(sentence) },
    write(message) {
      messages.push(JSON.parse(message))
      for (const go of waiting.splice(0)) go()
    },
  })
  return {
    messages,
    end: () => bridge.end(),
    take: (message: object) => bridge.receiveLine(JSON.stringify({ jsonrpc: '2.0', ...message })),
    next: () => new Promise<void>(resolve => waiting.push(resolve)),
  }
}

const initialize = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const sum = (id: number) => ({ id, method: 'tools/call', params: { name: 'get-sum', arguments: { a: 1, b: id } } })

test('after a restart of the server the bridge opens a new session, and the client notices nothing', async () => {
  const live = await everythingServer()
  const { take, next, messages, end } = bridgeTo(`${live.url}/mcp`)
  take(initialize)
  await next()
  take({ method: 'notifications/initialized' })
  take(sum(1))
  await next()
  live.sessions.clear()
  take(sum(2))
  await next()
  await end()
  expect(messages).toMatchObject([
    { id: 0, result: { protocolVersion: '2025-11-25' } },
    { id: 1, result: { content: [{ text: 'The sum of 1 and 1 is 2.' }] } },
    { id: 2, result: { content: [{ text: 'The sum of 1 and 2 is 3.' }] } },
  ])
  expect(live.sessions.size).toBe(0)
})

const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }

test('without a session, headers describe each message, and cancelling a call closes its connection', async () => {
  const live = await liveWith(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n'),
  )
  const { take, end, messages } = bridgeTo(`${live.url}/mcp`)
  const asked = live.nextRequest()
  take({ id: 'a', method: 'tools/call', params: { name: 'vær', arguments: {}, _meta } })
  const [request, response] = await asked
  expect(request.headers).toMatchObject({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': '=?base64?dsOmcg==?=',
    authorization: `Bearer ${key}`,
  })
  const left = once(response, 'close')
  take({ method: 'notifications/cancelled', params: { requestId: 'a', _meta } })
  await left
  await end()
  expect([messages, live.seen.length]).toEqual([[], 1])
})

test('a client of the newest version calls a tool with arguments in headers', async () => {
  const inputSchema = { type: 'object', properties: { city: { type: 'string', 'x-mcp-header': 'City' } } }
  const platform = await platformWith({ mcp: { '/mcp': { tools: [{ name: 'get_weather', inputSchema }] } } })
  const client = new NewestClient(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  const args = [cli, 'mcp', '--stdio', '--quiet', '--url', platform.url]
  await client.connect(
    new NewestTransport({ command: process.execPath, args, env: { OPENAI_API_KEY: platform.apiKey } }),
  )
  onTestFinished(() => client.close())
  await client.listTools()
  const { content } = await client.callTool({ name: 'get_weather', arguments: { city: 'Tromsø' } })
  expect(JSON.stringify(content)).toContain('Tromsø')
  const call = await platform.journal.last({ text: 'tools/call' })
  expect(call?.request.headers).toMatchObject({ 'mcp-param-city': '=?base64?VHJvbXPDuA==?=' })
})

test('a stream that ends before the answer is resumed', async () => {
  const live = await liveWith((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (request.method === 'POST') response.end('id: first\ndata:\n\n')
    else
      response.end(
        `id: second\ndata: {"jsonrpc":"2.0","id":1,"result":{"after":"${request.headers['last-event-id']}"}}\n\n`,
      )
  })
  const { take, end, messages } = bridgeTo(live.url)
  take({ id: 1, method: 'tools/list' })
  await end()
  expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: { after: 'first' } }])
})

test('every failure becomes a JSON-RPC error in words', async () => {
  const live = await liveWith((request, response) => {
    const status = request.headers['mcp-method'] === 'ping' ? 400 : 401
    const body =
      status === 401 ? { error: 'This key is unknown.' } : { jsonrpc: '2.0', error: { code: -32020, message: 'No.' } }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const input = [
    'no json',
    '[1]',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":${JSON.stringify(_meta)}}}`,
    '',
  ].join('\n')
  const { stdout, stderr, code } = await run(['mcp', '--stdio', '--url', live.url, '--key', key, '--quiet'], { input })
  const messages = stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
  expect(messages.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual([
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'The line is not JSON.' } },
    { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid request: A message must be an object.' } },
    {
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32000, message: `${live.url}/mcp refused the message (401): This key is unknown.` },
    },
    { jsonrpc: '2.0', id: 2, error: { code: -32020, message: 'No.' } },
  ])
  expect([stderr, code]).toEqual(['', 0])
})

test('if no server is reachable, each call gets an error that says so', async () => {
  const input =
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
  const { stdout, stderr } = await run(['mcp', '--stdio', '--url', 'http://127.0.0.1:9', '--quiet'], { input })
  expect(JSON.parse(stdout)).toMatchObject({
    id: 1,
    error: { message: expect.stringMatching(/does not answer .*Is Standin running\?$/) },
  })
  expect(stderr).toContain('does not answer')
})

test.each([
  [['mcp'], 'standin mcp needs --stdio'],
  [['mcp', '--stdio', '--url', 'somewhere'], '--url must be an http or https address'],
  [
    ['mcp', '--stdio', '--url', 'https://tools.example'],
    'tools.example is not on this machine. Give the credential for it with --key.',
  ],
])('%j is refused with the reason', async (args, reason) => {
  const { stderr, code } = await run(args, { env: { OPENAI_API_KEY: key } })
  expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
})
