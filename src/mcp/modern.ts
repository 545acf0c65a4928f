/** Requests of versions without sessions (since 2026-07-28): each has its client, version and target in `_meta` and in headers. */
import type { Exchange } from '../core/exchange.js'
import { isObject, stringifyExact } from '../core/json.js'
import { invalidParams, RpcError, type RpcNotification, type RpcRequest, rpcCodes, targetOf } from '../rpc/frames.js'
import { metaKeys, metaOf } from '../rpc/meta.js'
import { isLogLevel, isStateless, logLevels } from '../rpc/protocol.js'
import type { CallContinuation, InputRequiredCall } from './calls.js'
import { type Context, clientFrom, type RunningServer } from './context.js'
import { cachingOf, capabilitiesOf } from './lists.js'
import { type McpResult, withCommonMembers } from './results.js'
import { holderOf } from './sessions.js'

type Message = RpcRequest | RpcNotification

const headerOf = ({ headers }: Exchange, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Whether a message uses a version without sessions. */
export const isModernMessage = ({ method, params }: Message, exchange: Exchange): boolean =>
  typeof metaOf(params)[metaKeys.version] === 'string' ||
  method === 'server/discover' ||
  isStateless(headerOf(exchange, 'mcp-protocol-version'))

/** Throws an RpcError if headers and body contradict each other, or if a required member is missing. */
export function modernContext(message: Message, server: RunningServer, exchange: Exchange): Context {
  const meta = metaOf(message.params)
  const { [metaKeys.version]: version, [metaKeys.capabilities]: capabilities } = meta
  const header = headerOf(exchange, 'mcp-protocol-version')
  if (typeof version !== 'string') throw missing(metaKeys.version)
  if (header !== version) throw mismatch('MCP-Protocol-Version', header, version)
  if (!isStateless(version) || !server.options.protocolVersions.some(one => one === version))
    throw unsupportedVersion(version, server)
  if (!isObject(capabilities)) throw missing(metaKeys.capabilities)
  requireHeaders(message, server, exchange)
  const { [metaKeys.logLevel]: level } = meta
  if (level !== undefined && !isLogLevel(level))
    throw invalidParams(`_meta["${metaKeys.logLevel}"] must be one of ${logLevels.join(', ')}.`, undefined, 400)
  return {
    ...{ server, exchange, version, session: undefined },
    client: clientFrom(meta[metaKeys.clientInfo], capabilities),
    logLevel: level,
  }
}

const missing = (key: string) => invalidParams(`_meta["${key}"] is missing.`, undefined, 400)

const mismatch = (name: string, header: string | undefined, body: string) =>
  new RpcError(
    rpcCodes.headerMismatch,
    header === undefined
      ? `Header mismatch: ${name} is missing; the body says ${JSON.stringify(body)}.`
      : `Header mismatch: ${name} is ${JSON.stringify(header)}, and the body says ${JSON.stringify(body)}.`,
    undefined,
    400,
  )

export const unsupportedVersion = (requested: string, { options }: RunningServer) =>
  new RpcError(
    rpcCodes.unsupportedVersion,
    `Unsupported protocol version: ${requested}`,
    { supported: [...options.protocolVersions].reverse(), requested },
    400,
  )

const namedMethods = new Set(['tools/call', 'resources/read', 'prompts/get'])

/** Throws an RpcError if the headers that repeat fields of the body (standard ones, and those of `x-mcp-header`) differ from it. */
function requireHeaders({ method, params = {} }: Message, { options }: RunningServer, exchange: Exchange): void {
  const methodHeader = headerOf(exchange, 'mcp-method')
  if (methodHeader !== method) throw mismatch('Mcp-Method', methodHeader, method)
  const name = targetOf(method, params)
  if (!namedMethods.has(method) || name === undefined) return
  const header = headerOf(exchange, 'mcp-name')
  if (decodedHeader(header) !== name) throw mismatch('Mcp-Name', header, name)
  const tool = method === 'tools/call' ? options.tools.find(one => one.name === name) : undefined
  for (const { header, value } of tool ? parameterHeaders(tool.inputSchema, params.arguments) : []) {
    const sent = headerOf(exchange, `mcp-param-${header.toLowerCase()}`)
    const isSame = value === undefined ? sent === undefined : isSameValue(decodedHeader(sent), value)
    if (!isSame) throw mismatch(`Mcp-Param-${header}`, sent, value === undefined ? '' : String(value))
  }
}

/** Integers are compared as numbers. */
const isSameValue = (sent: string | undefined, value: unknown) =>
  sent !== undefined &&
  (sent === String(value) || (typeof value === 'number' && sent.trim() !== '' && Number(sent) === value))

/** Decodes `=?base64?…?=`, the form of values that headers cannot contain; `undefined` if it is invalid. */
function decodedHeader(value: string | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value ?? '') ?? []
  if (encoded === undefined) return value
  return /^([A-Za-z\d+/]{4})*([A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(encoded)
    ? Buffer.from(encoded, 'base64').toString()
    : undefined
}

/** The answer to `server/discover`. */
export const discovery = (context: Context): McpResult => {
  const { options } = context.server
  return withCommonMembers(
    {
      supportedVersions: [...options.protocolVersions].reverse(),
      capabilities: capabilitiesOf(context.server),
      ...(options.instructions !== undefined && { instructions: options.instructions }),
      ...cachingOf(context),
    },
    context,
  )
}

/** The caller and the call that a state is bound to. Without `_meta`, the answers and the state, which change with each attempt. */
function bindingOf({ method, params = {} }: RpcRequest, { exchange, server }: Context) {
  const { _meta: _, inputResponses: _responses, requestState: _state, ...same } = params
  return { holder: holderOf(exchange.caller), call: stringifyExact([server.path, method, same]) }
}

/** The client's answers in this attempt and in earlier ones. Throws an RpcError for malformed answers. */
export function continuationOf(request: RpcRequest, context: Context): CallContinuation {
  const { inputResponses, requestState } = request.params ?? {}
  const state =
    requestState === undefined ? undefined : context.server.states.open(requestState, bindingOf(request, context))
  if (inputResponses !== undefined && !isObject(inputResponses))
    throw invalidParams('inputResponses must be an object.')
  const answers = Object.entries(inputResponses ?? {})
  const invalid = answers.find(([, answer]) => !isObject(answer))
  if (invalid) throw invalidParams(`inputResponses.${invalid[0]} must be an object.`)
  return { ruleAnswer: state, answers: { ...state?.answers, ...Object.fromEntries(answers) } }
}

/** The result that asks the client to call again with its answers. */
export function inputRequiredResult(
  { round, ruleAnswer, answers }: InputRequiredCall,
  request: RpcRequest,
  context: Context,
): McpResult {
  const { place, count } = ruleAnswer
  const requestState = context.server.states.seal({ place, count, answers }, bindingOf(request, context))
  return withCommonMembers({ resultType: 'input_required', inputRequests: round, requestState }, context)
}

/**
 * The arguments of a tool that clients repeat in headers: those with `x-mcp-header` in its schema.
 * Only nested properties count, as in the specification. The value is the argument, or `undefined` if it is missing or
 * null, in which case no header is sent.
 */
function* parameterHeaders(schema: unknown, args: unknown): Generator<{ header: string; value: unknown }> {
  if (!isObject(schema) || !isObject(schema.properties)) return
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = isObject(args) && Object.hasOwn(args, name) ? (args[name] ?? undefined) : undefined
    const header = isObject(property) ? property['x-mcp-header'] : undefined
    if (typeof header === 'string') yield { header, value }
    yield* parameterHeaders(property, value)
  }
}
