/** Answers one request of a client: a list, a setting, or a call from a rule, the configuration, or generated values, in this order. */
import { stringifyExact } from '../core/json.js'
import {
  invalidParams,
  isLogLevel,
  logLevels,
  metaOf,
  notificationFrame,
  RpcError,
  type RpcNotification,
  type RpcParams,
  type RpcRequest,
  rpcCodes,
} from '../core/json-rpc.js'
import type { McpCall, McpGeneration, McpRound, McpRuleAnswer } from '../replies/index.js'
import {
  answersInRounds,
  type CheckedCall,
  checkCall,
  openRound,
  readableResource,
  requireValidAnswers,
} from './check-call.js'
import { outputMistake } from './check-output.js'
import {
  cachingOf,
  capabilitiesOf,
  completion,
  listResult,
  type McpResult,
  resourceContent,
  resultOf,
  toolResult,
  userMessage,
  withCommonMembers,
} from './results.js'
import { type Context, isModern, listChanged } from './sessions.js'

/** A result, or questions that the client has to answer first. */
export type CallOutcome = AnsweredCall | InputRequiredCall

interface AnsweredCall {
  readonly kind: 'answered'
  readonly result: McpResult
  /** Notifications that are sent before the result. */
  readonly notifications: readonly RpcNotification[]
  /** What the rule generated; `undefined` without a rule. */
  readonly generation: McpGeneration | undefined
  /** What is wrong with the result, or why no rule answered, for the log. */
  readonly mistake?: string | undefined
}

export interface InputRequiredCall {
  readonly kind: 'input-required'
  readonly round: McpRound
  readonly ruleAnswer: McpRuleAnswer
  readonly answers: Readonly<Record<string, unknown>>
}

/** The client's answers so far, and the rule that asked for them. */
export interface CallContinuation {
  readonly answers: Readonly<Record<string, unknown>>
  readonly ruleAnswer?: Pick<McpRuleAnswer, 'place' | 'count'> | undefined
}

/** An error that a rule answers with. `generation` has everything that the rule generated, such as a fault. */
export class RuleError extends RpcError {
  constructor(
    readonly generation: McpGeneration,
    { code, message, data }: NonNullable<McpGeneration['error']>,
  ) {
    super(code, message, data)
  }
}

/** The capability that a server must have for the methods that begin with a word. */
const capabilities: Readonly<Record<string, string>> = {
  tools: 'tools',
  resources: 'resources',
  prompts: 'prompts',
  completion: 'completions',
}

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
  earlier: CallContinuation = { answers: {} },
): Promise<CallOutcome> {
  const { method, params = {} } = request
  const [word = ''] = method.split('/')
  const capability = Object.hasOwn(capabilities, word) ? capabilities[word] : undefined
  const isSupported = capability === undefined || capabilitiesOf(context.server)[capability] !== undefined
  if (!isSupported || (isModern(context) && removedMethods.has(method))) throw unknownMethod(method, context)
  if (callMethods.has(method)) return answerCall(request, context, earlier)
  const generation = await takeRule(request, context)
  const result = listResult(method, params, context) ?? simpleResult(method, params, context)
  return answeredCall(result, context, generation)
}

function answeredCall(
  result: McpResult,
  context: Context,
  generation: McpGeneration | undefined,
  notifications: AnsweredCall['notifications'] = [],
): AnsweredCall {
  return { kind: 'answered', result: withCommonMembers(result, context), notifications, generation }
}

const unknownMethod = (method: string, context: Context) =>
  new RpcError(rpcCodes.unknownMethod, `Method not found: ${method}`, undefined, isModern(context) ? 404 : undefined)

/** Uses the rule that matches a request. Throws its error, because a rule can make any request fail. */
export async function takeRule(request: RpcRequest, context: Context): Promise<McpGeneration | undefined> {
  const ruleAnswer = await (await context.server.replies()).take(callFor(request, context, {}))
  if (ruleAnswer?.generation.error) throw new RuleError(ruleAnswer.generation, ruleAnswer.generation.error)
  return ruleAnswer?.generation
}

function simpleResult(method: string, params: RpcParams, context: Context): McpResult {
  const { session, server } = context
  switch (method) {
    case 'server/discover':
      return {
        supportedVersions: server.options.protocolVersions.toReversed(),
        capabilities: capabilitiesOf(server),
        ...(server.options.instructions !== undefined && { instructions: server.options.instructions }),
        ...cachingOf(context),
      }
    case 'ping':
      return {}
    case 'logging/setLevel':
      if (!isLogLevel(params.level)) throw invalidParams(`level must be one of ${logLevels.join(', ')}.`)
      if (session) session.logLevel = params.level
      return {}
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      if (typeof params.uri !== 'string') throw invalidParams('uri is missing.')
      if (method === 'resources/unsubscribe') session?.subscriptions.delete(params.uri)
      else session?.subscriptions.add(readableResource(params.uri, context).name)
      return {}
  }
  throw unknownMethod(method, context)
}

async function answerCall(
  request: RpcRequest,
  context: Context,
  { answers, ruleAnswer: earlier }: CallContinuation,
): Promise<CallOutcome> {
  const checkedCall = checkCall(request, context)
  const replies = await context.server.replies()
  const call = callFor(request, context, answers)
  const ruleAnswer = (earlier && (await replies.resume(earlier, call))) ?? (await replies.take(call))
  if (!ruleAnswer) {
    const result = (await configuredResult(checkedCall, context)) ?? (await defaultResult(checkedCall, call, context))
    const mistake = mistakeIn(result, checkedCall, context) ?? replies.whyNone(call)
    return { ...answeredCall(result, context, undefined), mistake }
  }
  const { generation } = ruleAnswer
  requireValidAnswers(generation.rounds, answers)
  const round = openRound(generation.rounds, answers, context)
  if (round) return { kind: 'input-required', round, ruleAnswer, answers: answersInRounds(generation.rounds, answers) }
  if (generation.error) throw new RuleError(generation, generation.error)
  announce(generation, context)
  const notifications = [...progressOf(generation, request), ...logOf(generation, context)]
  const result = resultOf(generation, checkedCall, context)
  const mistake = mistakeIn(result, checkedCall, context)
  return { ...answeredCall(result, context, generation, notifications), mistake }
}

/** Versions before 2025-06-18 have no structured content. */
const mistakeIn = (result: McpResult, { tool }: CheckedCall, { version }: Context) =>
  tool && version >= '2025-06-18' ? outputMistake(tool, result) : undefined

function callFor(
  { method, params = {} }: RpcRequest,
  { exchange, server, client, version, session }: Context,
  answers: CallContinuation['answers'],
): McpCall {
  const { headers, caller, scope } = exchange
  return {
    method,
    params,
    headers,
    caller,
    scope,
    server: server.path,
    version,
    answers,
    client: client.name,
    session: session?.id ?? '',
  }
}

/** Notifies clients of the changes that the rule announces. */
function announce({ content: { changed = [], updated = [] } }: McpGeneration, { server, exchange }: Context): void {
  const { sessions, path } = server
  for (const list of changed) sessions.notify(path, exchange.scope, listChanged(list))
  for (const uri of updated) sessions.notify(path, exchange.scope, 'notifications/resources/updated', { uri })
}

/** Progress is sent only if the client gave a token for it. */
function progressOf({ content: { progress = [] } }: McpGeneration, { params }: RpcRequest) {
  const { progressToken } = metaOf(params)
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return []
  const isCounted = progress.every(step => step.progress === undefined)
  return progress.map((step, i) =>
    notificationFrame('notifications/progress', {
      progress: i + 1,
      ...(isCounted && { total: progress.length }),
      ...step,
      progressToken,
    }),
  )
}

/** Log lines are sent only from the client's log level upwards. */
function logOf({ content: { log = [] } }: McpGeneration, { logLevel }: Context) {
  const lowest = logLevel === undefined ? logLevels.length : logLevels.indexOf(logLevel)
  return log
    .map(line => ({ ...line, level: line.level ?? 'info' }))
    .filter(({ level }) => logLevels.indexOf(level) >= lowest)
    .map(line => notificationFrame('notifications/message', line))
}

/** The answer from the configuration: the content of a resource, or values that complete an argument. */
async function configuredResult(checked: CheckedCall, context: Context): Promise<McpResult | undefined> {
  const { server } = context
  const { resource, method, name, mimeType } = checked
  if (method === 'completion/complete') {
    const { completions } = server.options
    const known = (Object.hasOwn(completions, name) && completions[name]) || {}
    const [argument = '', value] = Object.entries(checked.arguments)[0] ?? []
    const wanted = String(value).toLowerCase()
    const values = Object.hasOwn(known, argument) ? (known[argument] ?? []) : []
    return completion(values.filter(one => one.toLowerCase().startsWith(wanted)))
  }
  const { text, blob, file } = resource ?? {}
  if (text === undefined && blob === undefined && file === undefined) return undefined
  const content = file === undefined ? (text ?? '') : await server.readFile(file)
  return { contents: [resourceContent(name, mimeType, content, blob)], ...cachingOf(context) }
}

/** A generated answer; an RpcError in strict mode. */
async function defaultResult(checked: CheckedCall, call: McpCall, context: Context): Promise<McpResult> {
  const replies = await context.server.replies()
  const { tool, prompt, method, name } = checked
  if (context.server.strict) {
    const sentence = `No rule matches ${method} ${name}. ${replies.nearest(call)}`
    throw new RpcError(rpcCodes.noAnswer, sentence, { code: 'no_rule_matches' })
  }
  const structuredContent = tool?.outputSchema && (await replies.madeUp(tool.outputSchema, call))
  if (structuredContent !== undefined) return toolResult({ structuredContent }, context)
  const echo = `${name}(${stringifyExact(checked.arguments)})`
  if (method === 'tools/call') return toolResult({ text: echo }, context)
  if (method === 'resources/read')
    return { contents: [resourceContent(name, checked.mimeType ?? 'text/plain', name)], ...cachingOf(context) }
  return { ...(prompt?.description && { description: prompt.description }), messages: [userMessage(echo)] }
}
