/** An MCP call as rules see it. */
import type { Caller, Exchange } from '../../core/exchange.js'
import type { RpcParams } from '../../rpc/frames.js'
import { targetOf } from '../../rpc/frames.js'
import type { MatchInput } from '../dialect.js'

/** A call and its caller. */
export interface McpCall {
  readonly method: string
  readonly params: RpcParams
  readonly headers: Exchange['headers']
  readonly caller: Caller
  readonly scope: string
  /** The path of the server. */
  readonly server: string
  /** The name that the client gives itself. */
  readonly client: string | undefined
  readonly version: string
  /** The session; empty if there is none. */
  readonly session: string
  /** What the client has answered so far, by the name of the question. */
  readonly answers: Readonly<Record<string, unknown>>
}

export class McpInput implements MatchInput {
  readonly headers: Exchange['headers']
  readonly caller: Caller
  readonly scope: string
  readonly isDemanding = false
  readonly method: string
  /** The name of the tool, resource or prompt; empty if the call has none. */
  readonly name: string

  constructor(readonly call: McpCall) {
    this.headers = call.headers
    this.caller = call.caller
    this.scope = call.scope
    this.method = call.method
    this.name = targetOf(call.method, call.params) ?? ''
  }

  /** For a completion: the argument that is being completed, and those that are already known. */
  get arguments(): unknown {
    const { params, method } = this.call
    if (method !== 'completion/complete') return params.arguments ?? {}
    const { argument, context } = params as {
      readonly argument?: { readonly name?: unknown; readonly value?: unknown }
      readonly context?: { readonly arguments?: object }
    }
    return { ...context?.arguments, [String(argument?.name ?? '')]: argument?.value }
  }

  get conversation(): string {
    return String(this.headers['x-conversation-id'] ?? this.call.session)
  }
}
