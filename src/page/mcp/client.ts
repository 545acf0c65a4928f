/** Asks an MCP server of this Standin, as any client does: each time in a session of its own. */
import { DASHBOARD_HEADER } from '../../core/paths.js'
import type { RpcParams, RpcResponse } from '../../rpc/frames.js'
import { sessionVersions } from '../../rpc/versions.js'
import { Failure, failureOf, unanswered } from '../failure.js'
import { eventsIn, isObject, parsed } from '../widgets/json.js'

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

/** What the page does by itself stays out of the list of requests. */
const quietly = { [DASHBOARD_HEADER]: 'yes' }

/** A server whose pages never end is read this far. */
const MOST_PAGES = 100

/** All tools that a server lists. Rejects with a Failure. */
export const listTools = (server: McpAddress): Promise<readonly ListedTool[]> =>
  inSession(server, async (ask, capabilities) => {
    // A server without this does not know the method.
    if (capabilities.tools === undefined) return []
    const tools: ListedTool[] = []
    let cursor: unknown
    for (let page = 0; page < MOST_PAGES; page++) {
      const result = await ask('tools/list', cursor === undefined ? {} : { cursor }, quietly)
      if (Array.isArray(result.tools)) tools.push(...(result.tools as ListedTool[]))
      cursor = result.nextCursor
      if (cursor === undefined) break
    }
    return tools
  })

/** Calls a tool. Rejects with a Failure, which is about a field where the server names one. */
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
    // Nothing: servers ask their client only what it has declared.
    capabilities: {},
    clientInfo: { name: 'standin-dashboard', version: '1' },
  }
  const begun = await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, quietly)
  const { protocolVersion, capabilities } = await resultOf(begun)
  common['mcp-protocol-version'] = String(protocolVersion)
  const session = begun.headers.get('mcp-session-id')
  if (session !== null) common['mcp-session-id'] = session
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, quietly)
  try {
    return await work(ask, (capabilities ?? {}) as Result)
  } finally {
    // A session that cannot be ended expires.
    if (session !== null) fetch(server.path, { method: 'DELETE', headers: { ...common, ...quietly } }).catch(failureOf)
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
    errorIn(text) ?? `The response (${response.status}) is no message of the protocol.`,
  )
}

/** The answer in a body: JSON, or the events of a stream, where notifications may come before it. */
export function responseIn(text: string): RpcResponse | undefined {
  const whole = parsed(text)
  if (whole !== undefined) return isResponse(whole) ? whole : undefined
  return eventsIn(text).findLast(isResponse)
}

const isResponse = (value: unknown): value is RpcResponse =>
  isObject(value) && 'jsonrpc' in value && ('result' in value || 'error' in value)

/** The platform's `{ error }`. */
function errorIn(text: string): string | undefined {
  const { error } = (parsed(text) ?? {}) as { readonly error?: unknown }
  return typeof error === 'string' ? error : undefined
}

/** Standin lists the arguments that do not fit as `[{ field }]`. */
function failureFrom(status: number, { message, data }: { readonly message: string; readonly data?: unknown }) {
  const field: unknown = Array.isArray(data) ? data[0]?.field : undefined
  const name = typeof field === 'string' ? /^[\w-]+/.exec(field)?.[0] : undefined
  return new Failure(status, message, { field: name })
}
