/** Repeats recorded MCP calls at a live server, in a session if their version has sessions. */
import { dataIn } from '../../completions/events.js'
import { headerIn } from '../../core/http.js'
import { jsonOf } from '../../core/json.js'
import { type Capture, messagesOf, type RecordedRequest } from '../../recordings/index.js'
import type { RpcFrame } from '../../rpc/frames.js'
import { sessionVersions } from '../../rpc/versions.js'
import { statelessHeaders, versionIn } from '../mcp/headers.js'

/** Sends one request with further headers. */
export type Ask = (
  request: RecordedRequest,
  signal: AbortSignal,
  headers?: Readonly<Record<string, string>>,
) => Promise<Capture>

/** The parameters of the recorded `initialize` at a path, since the tools of a server may depend on the client's capabilities. */
export type OpeningAt = (path: string) => object | undefined

const ownOpening = {
  protocolVersion: sessionVersions.at(-1),
  capabilities: {},
  clientInfo: { name: 'standin drift', version: '1.0.0' },
}
const accept = 'application/json, text/event-stream'

export async function askServer(
  recorded: RecordedRequest,
  { ask, openingAt, signal }: { readonly ask: Ask; readonly openingAt: OpeningAt; readonly signal: AbortSignal },
): Promise<Capture> {
  const [message] = messagesOf(recorded.body) as readonly unknown[] as readonly RpcFrame[]
  if (message && versionIn(message) !== undefined)
    return ask(recorded, signal, { accept, ...statelessHeaders(message) })
  const post = (value: object): RecordedRequest => ({ ...recorded, body: { kind: 'json', value } })
  const isOpening = message !== undefined && 'method' in message && message.method === 'initialize'
  const params = openingAt(recorded.path) ?? ownOpening
  const first = isOpening ? recorded : post({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  const opened = await ask(first, signal, { accept })
  const session = headerIn(opened.headers, 'mcp-session-id')
  const headers = { accept, ...versionHeader(opened), ...(session !== undefined && { 'mcp-session-id': session }) }
  try {
    if (isOpening || opened.status >= 300) return opened
    await ask(post({ jsonrpc: '2.0', method: 'notifications/initialized' }), signal, headers)
    return await ask(recorded, signal, headers)
  } finally {
    if ('mcp-session-id' in headers)
      await ask({ ...recorded, method: 'DELETE', body: { kind: 'none' } }, signal, headers)
  }
}

/** The version that both sides have agreed on. */
function versionHeader({ chunks }: Capture): Readonly<Record<string, string>> {
  const body = Buffer.concat(chunks.map(({ bytes }) => bytes))
  const answer = jsonOf(body) ?? jsonOf(dataIn(body).at(-1) ?? '')
  const { result } = (answer ?? {}) as { readonly result?: { readonly protocolVersion?: unknown } }
  const version = result?.protocolVersion
  return typeof version === 'string' ? { 'mcp-protocol-version': version } : {}
}
