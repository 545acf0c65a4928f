/** A call of MCP as rules see it, and the target of a rule as written in `on`: a method, and a name or URI if the method has one. */
import { ProblemsError } from '../../check/problem.js'
import { didYouMean } from '../../check/suggest.js'
import type { Caller, Exchange } from '../../core/exchange.js'
import { isObject } from '../../core/json.js'
import { type RpcParams, sessionVersions, targetOf } from '../../core/json-rpc.js'
import { fingerprintOf } from '../fingerprint.js'

export interface McpCall {
  readonly method: string
  readonly params: RpcParams
  readonly headers: Exchange['headers']
  readonly caller: Caller
  readonly scope: string
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

  get fingerprint(): string {
    return fingerprintOf([this.call.server, this.method, this.name, this.arguments])
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
const namesCall = (written: string): boolean => written.includes('/') && methods.includes(mcpTarget(written).method)

export interface TriedCall extends Pick<McpCall, 'method' | 'params' | 'server'> {
  readonly scope?: string | undefined
  readonly headers?: Exchange['headers'] | undefined
  /** By default, an API key. */
  readonly caller?: Caller | undefined
}

const latest = sessionVersions.at(-1) as string

export const callFrom = ({ scope = '', headers = {}, caller = anyKey, ...call }: TriedCall): McpCall => ({
  ...call,
  scope,
  headers,
  caller,
  client: undefined,
  version: String(headers['mcp-protocol-version'] ?? latest),
  session: '',
  answers: {},
})

const anyKey: Caller = { kind: 'apiKey', name: '', id: '' }

/** `tools/call get_weather {"city":"Oslo"}`; `undefined` for any other text. Throws a ProblemsError for arguments that are not JSON. */
export function writtenCall(written: string): Pick<TriedCall, 'method' | 'params'> | undefined {
  const [, on = '', json = ''] = /^\s*(\S+(?:\s+[^\s{]\S*)?)\s*(.*)$/s.exec(written) ?? []
  if (!namesCall(on)) return undefined
  const target = on.replace(/\s+/, ' ')
  const trouble = whyInvalidTarget(target)
  if (trouble !== undefined) throw notACall(target, `The call ${trouble}`)
  const { method, name } = mcpTarget(target)
  return { method, params: paramsOf(method, name, json === '' ? {} : objectIn(json, target)) }
}

const notACall = (origin: string, sentence: string) => new ProblemsError([{ origin, sentence }])

function objectIn(json: string, target: string): RpcParams {
  try {
    const value: unknown = JSON.parse(json)
    if (isObject(value)) return value
  } catch {
    // Reported below, as for JSON of another kind.
  }
  throw notACall(target, 'The arguments must be a JSON object, such as {"city":"Oslo"}.')
}

function paramsOf(method: string, name: string, given: RpcParams): RpcParams {
  switch (method) {
    case 'tools/call':
    case 'prompts/get':
      return { name, arguments: given }
    case 'resources/read':
      return { uri: name }
    case 'completion/complete': {
      const [argument, value] = Object.entries(given)[0] ?? []
      const ref = name.includes(':') ? { type: 'ref/resource', uri: name } : { type: 'ref/prompt', name }
      return { ref, argument: { name: argument, value } }
    }
    default:
      return given
  }
}

/** The call in the body of a request; `undefined` for any other body. */
export function sentCall(body: unknown): Pick<TriedCall, 'method' | 'params'> | undefined {
  const { jsonrpc, method, params } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (jsonrpc !== '2.0' || typeof method !== 'string') return undefined
  return { method, params: (params ?? {}) as RpcParams }
}
