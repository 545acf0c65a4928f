/** Answers one request of a client, with or without a session. */
import type { McpGeneration } from '../replies/index.js'
import { invalidParams, RpcError, type RpcParams, type RpcRequest, rpcCodes } from '../rpc/frames.js'
import { isLogLevel, logLevels } from '../rpc/protocol.js'
import { answerCall, type CallContinuation, type CallOutcome, callFor, RuleError } from './calls.js'
import { readableResource } from './check-call.js'
import { type Context, isModern } from './context.js'
import { capabilitiesOf, listResult } from './lists.js'
import { discovery } from './modern.js'
import { type McpResult, withCommonMembers } from './results.js'
import type { Session } from './sessions.js'

/** The capability that a server must have for a method. */
const capabilityOf: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'tools/call': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'completion/complete': 'completions',
}

/** The methods that version 2026-07-28 removed. */
const removedMethods = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
])

const callMethods = new Set(['tools/call', 'resources/read', 'prompts/get', 'completion/complete'])

/** Answers a request of any method. Throws an RpcError for a request that cannot be answered. */
export async function answerRequest(
  request: RpcRequest,
  context: Context,
  earlier?: CallContinuation,
): Promise<CallOutcome> {
  const { method, params = {} } = request
  const capability = capabilityOf[method]
  const isSupported = capability === undefined || capabilitiesOf(context.server)[capability] !== undefined
  if (!isSupported || (isModern(context) && removedMethods.has(method))) throw unknownMethod(method, context)
  if (callMethods.has(method)) return answerCall(request, context, earlier)
  const generation = await takeRule(request, context)
  const result = listResult(method, params, context) ?? simpleResult(method, params, context)
  return { kind: 'answered', result: withCommonMembers(result, context), notifications: [], generation }
}

/** Uses the rule that matches a request. Throws its error, because a rule can make any request fail. */
export async function takeRule(request: RpcRequest, context: Context): Promise<McpGeneration | undefined> {
  const ruleAnswer = await (await context.server.replies()).take(callFor(request, context))
  if (ruleAnswer?.generation.error) throw new RuleError(ruleAnswer.generation, ruleAnswer.generation.error)
  return ruleAnswer?.generation
}

function simpleResult(method: string, params: RpcParams, context: Context): McpResult {
  const { session } = context
  switch (method) {
    case 'server/discover':
      return discovery(context)
    case 'ping':
      return {}
    case 'logging/setLevel':
      if (!isLogLevel(params.level)) throw invalidParams(`level must be one of ${logLevels.join(', ')}.`)
      if (session) session.logLevel = params.level
      return {}
    case 'resources/subscribe':
    case 'resources/unsubscribe': {
      if (typeof params.uri !== 'string') throw invalidParams('uri is missing.')
      if (method === 'resources/unsubscribe') session?.subscriptions.delete(params.uri)
      else if (session) subscribe(session, readableResource(params.uri, context).name)
      return {}
    }
  }
  throw unknownMethod(method, context)
}

/** At most this many subscriptions of a session are kept. */
const MOST_SUBSCRIPTIONS = 1000

function subscribe({ subscriptions }: Session, uri: string): void {
  subscriptions.add(uri)
  if (subscriptions.size <= MOST_SUBSCRIPTIONS) return
  subscriptions.delete(uri)
  throw invalidParams(`a session has at most ${MOST_SUBSCRIPTIONS} subscriptions.`)
}

const unknownMethod = (method: string, context: Context) =>
  new RpcError(rpcCodes.unknownMethod, `Method not found: ${method}`, undefined, isModern(context) ? 404 : undefined)
