/** A client for the MCP servers of this Standin. Each call has its own session. */
import { DASHBOARD_HEADER } from '../../core/paths.js'
import type { RpcParams, RpcResponse } from '../../rpc/frames.js'
import { sessionVersions } from '../../rpc/versions.js'
import { Failure, failureOf, unanswered } from '../failure.js'
import { errorIn, eventsIn, isObject, parsed } from '../widgets/json.js'

export interface ListedTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
}

export interface McpAddress {
  readonly path: string
  /** Rejects with a Failure if the session has ended. */
  readonly bearer: () => Promise<string | undefined>
}

type Result = Readonly<Record<string, unknown>>

type Ask = (method: string, params: RpcParams, headers?: Readonly<Record<string, string>>) => Promise<Result>

/** Keeps requests that the user did not ask for out of the list of requests. */
const unlisted = { [DASHBOARD_HEADER]: 'yes' }

/** Where to stop reading from a server whose pages never end. */
const MOST_PAGES = 100

/** All tools that a server lists. Rejects with a Failure. */
export const listTools = (server: McpAddress): Promise<readonly ListedTool[]> =>
  inSession(server, async (ask, capabilities) => {
    // A server without this capability does not know the method.
    if (capabilities.tools === undefined) return []
    const tools: ListedTool[] = []
    let cursor: unknown
    for (let page = 0; page < MOST_PAGES; page++) {
      const result = await ask('tools/list', cursor === undefined ? {} : { cursor }, unlisted)
      if (Array.isArray(result.tools)) tools.push(...(result.tools as ListedTool[]))
      cursor = result.nextCursor
      if (cursor === undefined) break
    }
    return tools
  })

/** Calls a tool. Rejects with a Failure, which names the field if the server does. */
export const callTool = (server: McpAddress, name: string, given: RpcParams): Promise<Result> =>
  inSession(server, ask => ask('tools/call', { name, arguments: given }))

async function inSession<Value>(
  server: McpAddress,
  work: (ask: Ask, capabilities: Result) => Promise<Value>,
): Promise<Value> {
  const bearer = await server.bearer()
  const common: Record<string, string> = {
    ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  }
  const send = (message: object, more = {}) => {
    const headers = { ...common, ...more }
    return fetch(server.path, { method: 'POST', headers, body: JSON.stringify(message) }).catch(unanswered)
  }
  const ask: Ask = async (method, params, headers) =>
    resultOf(await send({ jsonrpc: '2.0', id: 1, method, params }, headers))

  const params = {
    protocolVersion: sessionVersions[sessionVersions.length - 1],
    // None, so that the server sends no requests to this client.
    capabilities: {},
    clientInfo: { name: 'standin-dashboard', version: '1' },
  }
  const begun = await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, unlisted)
  const { protocolVersion, capabilities } = await resultOf(begun)
  common['mcp-protocol-version'] = String(protocolVersion)
  const session = begun.headers.get('mcp-session-id')
  if (session !== null) common['mcp-session-id'] = session
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, unlisted)
  try {
    return await work(ask, (capabilities ?? {}) as Result)
  } finally {
    // If this fails, the session expires by itself.
    if (session !== null) fetch(server.path, { method: 'DELETE', headers: { ...common, ...unlisted } }).catch(failureOf)
  }
}

async function resultOf(response: Response): Promise<Result> {
  const text = await response.text().catch(() => {
    throw new Failure(-1, 'The connection was closed before the end of the response.')
  })
  const frame = responseIn(text)
  if (frame && 'error' in frame) throw failureFrom(response.status, frame.error)
  if (response.ok && frame) return frame.result
  throw new Failure(
    response.status,
    errorIn(parsed(text)) ?? `The response (${response.status}) is not an MCP message.`,
  )
}

/** The response in a body of JSON, or in a stream, where notifications may precede it. */
export function responseIn(text: string): RpcResponse | undefined {
  const whole = parsed(text)
  if (whole !== undefined) return isResponse(whole) ? whole : undefined
  return eventsIn(text).findLast(isResponse)
}

const isResponse = (value: unknown): value is RpcResponse =>
  isObject(value) && 'jsonrpc' in value && ('result' in value || 'error' in value)

/** Standin lists invalid arguments as `[{ field }]`. */
function failureFrom(status: number, { message, data }: { readonly message: string; readonly data?: unknown }) {
  const field: unknown = Array.isArray(data) ? data[0]?.field : undefined
  const name = typeof field === 'string' ? /^[\w-]+/.exec(field)?.[0] : undefined
  return new Failure(status, message, { field: name })
}
