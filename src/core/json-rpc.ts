/** The words of MCP: its versions, its log levels, and how its messages (JSON-RPC 2.0) are read and written. */
import { isObject, stringifyExact } from './json.js'

/** Versions with sessions, oldest first. */
export const sessionVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
/** Versions without sessions, in which each request is self-contained. */
const statelessVersions = ['2026-07-28'] as const

export const protocolVersions = [...sessionVersions, ...statelessVersions] as const
export type ProtocolVersion = (typeof protocolVersions)[number]

/** The version of a client that does not name one (specification 2025-03-26 and later, "Protocol Version Header"). */
export const ASSUMED_VERSION = '2025-03-26'

export const isStateless = (version: string | undefined) =>
  (statelessVersions as readonly (string | undefined)[]).includes(version)

/** RFC 5424, least severe first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof logLevels)[number]

export const isLogLevel = (level: unknown): level is LogLevel => logLevels.some(one => one === level)

const PREFIX = 'io.modelcontextprotocol/'
/** The names of the protocol's own members. */
export const metaKeys = {
  version: `${PREFIX}protocolVersion`,
  clientInfo: `${PREFIX}clientInfo`,
  capabilities: `${PREFIX}clientCapabilities`,
  logLevel: `${PREFIX}logLevel`,
  serverInfo: `${PREFIX}serverInfo`,
  subscription: `${PREFIX}subscriptionId`,
} as const

/** The `_meta` of a message; empty if there is none. */
export const metaOf = (params: unknown): Readonly<Record<string, unknown>> =>
  isObject(params) && isObject(params._meta) ? params._meta : {}

export type RpcId = string | number

/** A notification, which has no answer. */
export interface RpcNotification {
  readonly jsonrpc: '2.0'
  readonly method: string
  readonly params?: RpcParams
}

/** A request, which is answered with the same id. */
export interface RpcRequest extends RpcNotification {
  readonly id: RpcId
}

export interface RpcResult {
  readonly jsonrpc: '2.0'
  readonly id: RpcId
  readonly result: Readonly<Record<string, unknown>>
}

interface RpcFailure {
  readonly jsonrpc: '2.0'
  /** Absent if the id of the message could not be read. */
  readonly id?: RpcId | null
  readonly error: RpcErrorBody
}

export interface RpcErrorBody {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

export type RpcParams = Readonly<Record<string, unknown>>
export type RpcResponse = RpcResult | RpcFailure
export type RpcFrame = RpcRequest | RpcNotification | RpcResponse

/** The error codes of JSON-RPC 2.0 §5.1 and of MCP 2026-07-28. */
export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Resource not found, up to version 2025-11-25. */
  noResource: -32002,
  /** Codes that JSON-RPC reserves for servers: for an unknown session, and for a call without a rule or recording. */
  badRequest: -32000,
  noSession: -32001,
  noAnswer: -32004,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** An error that the client receives as a JSON-RPC error. */
export class RpcError extends Error {
  override readonly name = 'RpcError'

  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
    /** The HTTP status, if it is not 200. */
    readonly status?: number,
  ) {
    super(message)
  }
}

export const isRequest = (frame: RpcFrame): frame is RpcRequest => 'method' in frame && 'id' in frame
export const isResponse = (frame: RpcFrame): frame is RpcResponse => !('method' in frame)

/** Parses a JSON value as a message. Throws an RpcError that says what is missing. */
export function frameFrom(value: unknown): RpcFrame {
  if (Array.isArray(value))
    throw invalidRequest('Batches are not supported. Send each message in a request of its own.')
  if (!isObject(value)) throw invalidRequest('A message must be an object.')
  if (value.jsonrpc !== '2.0') throw invalidRequest('jsonrpc must be "2.0".')
  const { id, method, params } = value
  if ('id' in value && !isId(id) && !('error' in value)) throw invalidRequest('id must be a string or a whole number.')
  if (params !== undefined && !isObject(params)) throw invalidRequest('params must be an object.')
  if (method !== undefined) {
    if (typeof method !== 'string') throw invalidRequest('method must be a string.')
    return value as unknown as RpcRequest
  }
  if (('result' in value && isObject(value.result)) || ('error' in value && isErrorBody(value.error)))
    return value as unknown as RpcResponse
  throw invalidRequest('A message must have a method, a result or an error.')
}

export const invalidRequest = (sentence: string) =>
  new RpcError(rpcCodes.invalidRequest, `Invalid request: ${sentence}`)

export const invalidParams = (sentence: string, data?: unknown, status?: number) =>
  new RpcError(rpcCodes.invalidParams, `Invalid params: ${sentence}`, data, status)

const isId = (id: unknown): id is RpcId => typeof id === 'string' || Number.isSafeInteger(id)

const isErrorBody = (error: unknown): error is RpcErrorBody =>
  isObject(error) && typeof error.code === 'number' && typeof error.message === 'string'

/** The id of a message, for the response to it; `undefined` if it has no valid one. */
export const idOf = (value: unknown): RpcId | undefined => (isObject(value) && isId(value.id) ? value.id : undefined)

export const resultFrame = (id: RpcId, result: RpcResult['result']): RpcResult => ({ jsonrpc: '2.0', id, result })

export const failureFrame = (id: RpcId | null | undefined, { code, message, data }: RpcErrorBody): RpcFailure => ({
  jsonrpc: '2.0',
  ...(id !== undefined && { id }),
  error: { code, message, ...(data !== undefined && { data }) },
})

export const notificationFrame = (method: string, params?: RpcParams): RpcNotification => ({
  jsonrpc: '2.0',
  method,
  ...(params && { params }),
})

/** Describes a call: `tools/call get_weather`, `resources/read file:///readme`, `ping`. */
export function callTitle({ method, params = {} }: Pick<RpcRequest, 'method' | 'params'>): string {
  const name = targetOf(method, params)
  return name === undefined ? method : `${method} ${name}`
}

/** The tool, prompt or resource that a call names; for a completion, the one that it refers to. */
export function targetOf(method: string, params: RpcParams): string | undefined {
  const ref = method === 'completion/complete' ? params.ref : params
  if (!isObject(ref)) return undefined
  const name = ref.name ?? ref.uri
  return typeof name === 'string' ? name : undefined
}

export function eventText(frame: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${stringifyExact(frame)}\n\n`
}
