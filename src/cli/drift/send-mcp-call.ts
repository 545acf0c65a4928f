/** Sends a recorded MCP call to a live server, in a session of its own if its version of the protocol has sessions. */
import { dataIn } from '../../completions/events.js'
import { headerIn } from '../../core/http.js'
import { jsonOf } from '../../core/json.js'
import { type Capture, messagesOf, type RecordedRequest } from '../../recordings/index.js'
import type { RpcFrame } from '../../rpc/frames.js'
import { sessionVersions } from '../../rpc/versions.js'
import { statelessHeaders, versionIn } from '../mcp/headers.js'

/** Sends one request, with these additional headers. */
export type SendRequest = (
  request: RecordedRequest,
  signal: AbortSignal,
  headers?: Readonly<Record<string, string>>,
) => Promise<Capture>

/** The parameters of the recorded `initialize` at a path, since the tools of a server may depend on the client's capabilities. */
export type InitializeParamsFor = (path: string) => object | undefined

const defaultParams = {
  protocolVersion: sessionVersions.at(-1),
  capabilities: {},
  clientInfo: { name: 'standin drift', version: '1.0.0' },
}
const accept = 'application/json, text/event-stream'

export async function sendMcpCall(
  recorded: RecordedRequest,
  {
    send,
    initializeParamsFor,
    signal,
  }: { readonly send: SendRequest; readonly initializeParamsFor: InitializeParamsFor; readonly signal: AbortSignal },
): Promise<Capture> {
  const [message] = messagesOf(recorded.body) as readonly unknown[] as readonly RpcFrame[]
  if (message && versionIn(message) !== undefined)
    return send(recorded, signal, { accept, ...statelessHeaders(message) })
  const post = (value: object): RecordedRequest => ({ ...recorded, body: { kind: 'json', value } })
  const isInitialize = message !== undefined && 'method' in message && message.method === 'initialize'
  const params = initializeParamsFor(recorded.path) ?? defaultParams
  const initialize = isInitialize ? recorded : post({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  const initialized = await send(initialize, signal, { accept })
  const session = headerIn(initialized.headers, 'mcp-session-id')
  const headers = { accept, ...versionHeader(initialized), ...(session !== undefined && { 'mcp-session-id': session }) }
  try {
    if (isInitialize || initialized.status >= 300) return initialized
    await send(post({ jsonrpc: '2.0', method: 'notifications/initialized' }), signal, headers)
    return await send(recorded, signal, headers)
  } finally {
    if ('mcp-session-id' in headers)
      await send({ ...recorded, method: 'DELETE', body: { kind: 'none' } }, signal, headers)
  }
}

/** The header with the version that the server has chosen. */
function versionHeader({ chunks }: Capture): Readonly<Record<string, string>> {
  const body = Buffer.concat(chunks.map(({ bytes }) => bytes))
  const answer = jsonOf(body) ?? jsonOf(dataIn(body).at(-1) ?? '')
  const { result } = (answer ?? {}) as { readonly result?: { readonly protocolVersion?: unknown } }
  const version = result?.protocolVersion
  return typeof version === 'string' ? { 'mcp-protocol-version': version } : {}
}
