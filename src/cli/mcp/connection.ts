/** A connection to an MCP server over HTTP, with its session. */
import { createEventSplitter, dataOf } from '../../completions/events.js'
import { jsonOf } from '../../core/json.js'
import { isRequest, type RpcFrame } from '../../rpc/frames.js'
import { statelessHeaders, versionIn } from './headers.js'

interface SendOptions {
  readonly frame?: RpcFrame
  readonly lastId?: string | undefined
  readonly signal?: AbortSignal
}

export class ServerConnection {
  session: string | undefined
  #version: string | undefined
  /** The input schemas of the tools that the server has listed. */
  readonly #schemas = new Map<unknown, unknown>()

  constructor(private readonly address: { readonly url: string; readonly key: string }) {}

  reset(): void {
    this.session = undefined
    this.#version = undefined
  }

  keepSession({ headers }: Response): void {
    this.session = headers.get('mcp-session-id') ?? this.session
  }

  /** `message` is the answer to `initialize`. */
  keepVersion(message: unknown): void {
    const { result } = (message ?? {}) as { readonly result?: { readonly protocolVersion?: unknown } }
    if (typeof result?.protocolVersion === 'string') this.#version = result.protocolVersion
  }

  /** `message` is an answer to `tools/list`. */
  keepSchemas(message: unknown): void {
    const { result } = (message ?? {}) as { readonly result?: { readonly tools?: unknown } }
    if (!Array.isArray(result?.tools)) return
    for (const tool of result.tools) this.#schemas.set(tool?.name, tool?.inputSchema)
  }

  #schemaFor(frame: RpcFrame): unknown {
    return isRequest(frame) && frame.method === 'tools/call' ? this.#schemas.get(frame.params?.name) : undefined
  }

  /** Sends a request to the server, within the session if the message belongs to one. */
  send(method: string, { frame, lastId, signal }: SendOptions = {}): Promise<Response> {
    const inSession = frame === undefined || versionIn(frame) === undefined
    return fetch(this.address.url, {
      ...{ method, redirect: 'error' },
      headers: {
        authorization: `Bearer ${this.address.key}`,
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        ...(frame && { 'content-type': 'application/json', ...statelessHeaders(frame, this.#schemaFor(frame)) }),
        ...(inSession && this.session !== undefined && { 'mcp-session-id': this.session }),
        ...(inSession && this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      },
      ...(frame && { body: JSON.stringify(frame) }),
      ...(signal && { signal }),
    })
  }
}

/** The messages of an answer: one as JSON, or those of a stream as they arrive. `onEventId` gets the ids of events. */
export async function* messagesIn(
  response: Response,
  onEventId: (id: string) => void = () => {},
): AsyncGenerator<unknown> {
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('text/event-stream')) {
    const value = /\bjson\b/.test(type) ? jsonOf(await response.clone().text()) : undefined
    if (isMessage(value)) yield value
    return
  }
  const splitter = createEventSplitter()
  for await (const bytes of response.body ?? []) {
    for (const event of splitter.push(Buffer.from(bytes))) {
      const [, id] = /^id: ?(.+)$/m.exec(event.toString()) ?? []
      if (id !== undefined) onEventId(id.trim())
      const value = jsonOf(dataOf(event) ?? '')
      if (isMessage(value)) yield value
    }
  }
}

const isMessage = (value: unknown) =>
  [value].flat().every(one => typeof one === 'object' && one !== null && 'jsonrpc' in one)
