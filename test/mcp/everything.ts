/** A real server of the Model Context Protocol, and clients for it. */
import { randomUUID } from 'node:crypto'
import http, { type IncomingMessage } from 'node:http'
import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
// @ts-expect-error It has no types.
import { createServer } from '@modelcontextprotocol/server-everything/dist/server/index.js'
import { onTestFinished } from 'vitest'
import { listening } from '../http/live.js'

/** Starts `@modelcontextprotocol/server-everything` at /mcp, as its own command does; records the headers of requests. */
export async function everythingServer() {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const seen: { readonly method: string; readonly headers: IncomingMessage['headers'] }[] = []

  async function open(): Promise<StreamableHTTPServerTransport> {
    const { server, cleanup } = createServer()
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, transport),
      onsessionclosed: id => void (sessions.delete(id) && cleanup(id)),
    })
    await server.connect(transport)
    onTestFinished(async () => {
      cleanup(transport.sessionId)
      await server.close()
    })
    return transport
  }

  const live = http.createServer(async (request, response) => {
    const { method = '', headers } = request
    seen.push({ method, headers })
    const id = headers['mcp-session-id']
    const transport = id === undefined ? await open() : sessions.get(String(id))
    if (transport) await transport.handleRequest(request, response)
    else response.writeHead(404, { 'content-type': 'application/json' }).end(unknownSession)
  })
  onTestFinished(() => live.closeAllConnections())
  return { url: await listening(live), seen, sessions }
}

const unknownSession = JSON.stringify({
  jsonrpc: '2.0',
  error: { code: -32001, message: 'Session not found' },
  id: null,
})

/** Connects the client that most apps use, of SDK 1.x. */
export async function connected(platform: { readonly url: string; readonly apiKey: string }, options?: ClientOptions) {
  const client = new Client({ name: 'test', version: '1.0.0' }, options)
  const transport = new StreamableHTTPClientTransport(new URL(`${platform.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${platform.apiKey}` } },
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, transport }
}
