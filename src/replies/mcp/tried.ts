/** Calls to explain: written on a command line, or sent by a client. */
import { ProblemsError } from '../../check/problem.js'
import type { Caller, Exchange } from '../../core/exchange.js'
import { isObject } from '../../core/json.js'
import type { RpcParams } from '../../core/json-rpc.js'

import { sessionVersions } from '../../core/json-rpc.js'
import type { McpCall } from './call.js'
import { mcpTarget, namesCall, whyInvalidTarget } from './call.js'

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
