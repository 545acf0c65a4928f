/** A call of MCP as rules see it, and the target of a rule as written in `on`: a method, and a name or URI if the method has one. */

import { didYouMean } from '../../check/suggest.js'
import type { Caller, Exchange } from '../../core/exchange.js'
import type { RpcParams } from '../../core/json-rpc.js'
import { targetOf } from '../../core/json-rpc.js'

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

export class McpInput {
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

/** Methods whose calls name something. */
const namedMethods = ['tools/call', 'resources/read', 'prompts/get', 'completion/complete'] as const
type NamedMethod = (typeof namedMethods)[number]

/** Methods whose calls name nothing. Their answers follow from the configuration, so a rule can only make them fail. */
const plainMethods = [
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'subscriptions/listen',
  'logging/setLevel',
]
const methods: readonly string[] = [...namedMethods, ...plainMethods]

/** The parts of `tools/call get_weather`. `name` may contain `*`. */
interface McpTarget {
  readonly method: string
  readonly name: string
}

const METHOD = /^[a-z]+(\/[a-zA-Z]+)+( |$)|^(initialize|ping)( |$)/

/** Whether `on` is an MCP call rather than a path. */
export const isMcpOn = (on: unknown): on is string => typeof on === 'string' && METHOD.test(on)

export const isNamed = (method: string): method is NamedMethod => (namedMethods as readonly string[]).includes(method)

export function mcpTarget(on: string): McpTarget {
  const space = on.indexOf(' ')
  return space < 0 ? { method: on, name: '*' } : { method: on.slice(0, space), name: on.slice(space + 1).trim() }
}

/** Why `on` is not a valid target, as the rest of a sentence such as "…, which"; `undefined` if it is valid. */
export function whyInvalidTarget(on: string): string | undefined {
  const { method, name } = mcpTarget(on)
  if (!methods.includes(method)) return `is not a method that rules can answer.${didYouMean(method, methods)}`
  if (isNamed(method)) return on.includes(' ') && name !== '' ? undefined : 'has no name.'
  return on.includes(' ') ? `has a name, but ${method} takes none.` : undefined
}

/** Whether a text begins with a method that rules can answer, and so is a call rather than a prompt. */
export const namesCall = (written: string): boolean =>
  written.includes('/') && methods.includes(mcpTarget(written).method)
