/** Requests of versions without sessions (since 2026-07-28): each has its client, version and target in `_meta` and in headers. */
import type { Exchange } from '../core/exchange.js'
import { isObject, stringifyExact } from '../core/json.js'
import {
  eventText,
  invalidParams,
  isLogLevel,
  isStateless,
  logLevels,
  metaKeys,
  metaOf,
  notificationFrame,
  RpcError,
  type RpcNotification,
  type RpcRequest,
  resultFrame,
  rpcCodes,
  targetOf,
} from '../core/json-rpc.js'
import { openBody } from '../core/reply.js'
import { isSameSecret } from '../core/secrets.js'
import type { CallContinuation, InputRequiredCall } from './calls.js'
import { type McpResult, withCommonMembers } from './results.js'
import {
  type Context,
  clientFrom,
  holderOf,
  KEEP_ALIVE,
  listChanged,
  type RunningServer,
  unsupportedVersion,
} from './sessions.js'

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
    server,
    exchange,
    version,
    session: undefined,
    client: clientFrom(meta[metaKeys.clientInfo], capabilities),
    logLevel: level,
  }
}

const missing = (key: string) => invalidParams(`_meta["${key}"] is missing.`, undefined, 400)

function mismatch(name: string, header: string | undefined, body: string): RpcError {
  const sent = header === undefined ? 'missing' : JSON.stringify(header)
  const sentence = `Header mismatch: ${name} is ${sent}, and the body says ${JSON.stringify(body)}.`
  return new RpcError(rpcCodes.headerMismatch, sentence, undefined, 400)
}

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
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded ? bytes.toString() : undefined
}

/** The client's answers in this attempt and in earlier ones. Throws an RpcError for malformed answers. */
export function continuationOf(request: RpcRequest, context: Context): CallContinuation {
  const { inputResponses = {}, requestState } = request.params ?? {}
  const state = requestState === undefined ? undefined : openedState(requestState, request, context)
  if (!isObject(inputResponses)) throw invalidParams('inputResponses must be an object.')
  const invalid = Object.entries(inputResponses).find(([, answer]) => !isObject(answer))
  if (invalid) throw invalidParams(`inputResponses.${invalid[0]} must be an object.`)
  return { ruleAnswer: state, answers: { ...state?.answers, ...inputResponses } }
}

/** The result that asks the client to call again with its answers. */
export function inputRequiredResult(call: InputRequiredCall, request: RpcRequest, context: Context): McpResult {
  const requestState = sealedState(call, request, context)
  return withCommonMembers({ resultType: 'input_required', inputRequests: call.round, requestState }, context)
}

/** Long enough for a person to fill in a form. */
const STATE_VALID_MS = 600_000

/** The state of a call that has asked the client: the place of the rule, how often it has answered, and the answers so far. */
interface CallState extends Pick<InputRequiredCall, 'answers'> {
  readonly place: string
  readonly count: number
  readonly untilMs: number
}

/** The state as a text, which the client sends back with its next attempt. It is signed, and bound to caller and call. */
function sealedState({ ruleAnswer, answers }: InputRequiredCall, request: RpcRequest, context: Context): string {
  const { place, count } = ruleAnswer
  const state: CallState = { place, count, answers, untilMs: context.server.sessions.now() + STATE_VALID_MS }
  const payload = Buffer.from(stringifyExact(state)).toString('base64url')
  return `${payload}.${signatureOf(payload, request, context)}`
}

function openedState(written: unknown, request: RpcRequest, context: Context): CallState {
  const [payload = '', ...signature] = String(written).split('.')
  if (!isSameSecret(signatureOf(payload, request, context), signature.join('.')))
    throw invalidState('it was changed, or belongs to another caller, another call or another server')
  const state: CallState = JSON.parse(Buffer.from(payload, 'base64url').toString())
  if (context.server.sessions.now() >= state.untilMs) throw invalidState('it has expired')
  return state
}

const invalidState = (why: string) => new RpcError(rpcCodes.invalidParams, `Invalid requestState: ${why}.`)

/** Without `_meta`, the answers and the state, which change with each attempt. */
function signatureOf(payload: string, { method, params = {} }: RpcRequest, { exchange, server }: Context): string {
  const { _meta: _, inputResponses: _responses, requestState: _state, ...same } = params
  return server.sessions.sign(stringifyExact([payload, holderOf(exchange.caller), server.path, method, same]))
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

/** The member of the filter for each notification. */
const filterMembers: Readonly<Record<string, string>> = {
  [listChanged('tools')]: 'toolsListChanged',
  [listChanged('prompts')]: 'promptsListChanged',
  [listChanged('resources')]: 'resourcesListChanged',
}

/**
 * The body of `subscriptions/listen`, the stream on which a client receives changes. The first event acknowledges the
 * subscriptions, the last one is the result.
 */
export function listenBody(request: RpcRequest, context: Context) {
  const filter = request.params?.notifications
  if (!isObject(filter)) throw invalidParams('notifications is missing.')
  const { server, exchange } = context
  const uris = Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions.map(String) : []
  const members = Object.values(filterMembers).filter(member => filter[member] === true)
  const subscribed = {
    ...Object.fromEntries(members.map(member => [member, true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  }
  const _meta = { [metaKeys.subscription]: request.id }
  return openBody(sink => {
    const notify = (method: string, params: object = {}) =>
      sink.write(eventText(notificationFrame(method, { ...params, _meta })))
    notify('notifications/subscriptions/acknowledged', { notifications: subscribed })
    return server.sessions.listen({
      server: server.path,
      scope: exchange.scope,
      notify(method, params) {
        const isWanted =
          params?.uri === undefined ? members.includes(filterMembers[method] ?? '') : uris.includes(String(params.uri))
        if (isWanted) notify(method, params)
      },
      keepAlive: () => sink.write(KEEP_ALIVE),
      end() {
        sink.write(eventText(resultFrame(request.id, withCommonMembers({ _meta }, context))))
        sink.end()
      },
    })
  }, true)
}
