/** Answers calls of tools, resources, prompts and completions from a rule, the configuration, or generated values, in this order. */
import { stringifyExact } from '../core/json.js'
import type { McpCall, McpGeneration, McpRound, McpRuleAnswer } from '../replies/index.js'
import { notificationFrame, RpcError, type RpcNotification, type RpcRequest, rpcCodes } from '../rpc/frames.js'
import { metaOf } from '../rpc/meta.js'
import { logLevels } from '../rpc/protocol.js'
import { type CheckedCall, checkCall } from './check-call.js'
import type { Context } from './context.js'
import { cachingOf } from './lists.js'
import {
  completion,
  contentOf,
  type McpResult,
  resultOf,
  toolResult,
  userMessage,
  withCommonMembers,
} from './results.js'
import { answersInRounds, openRound, requireValidAnswers } from './rounds.js'

/** A result, or questions that the client has to answer first. */
export type CallOutcome = AnsweredCall | InputRequiredCall

interface AnsweredCall {
  readonly kind: 'answered'
  readonly result: McpResult
  /** Notifications that are sent before the result. */
  readonly notifications: readonly RpcNotification[]
  /** What the rule generated; `undefined` without a rule. */
  readonly generation: McpGeneration | undefined
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

export async function answerCall(
  request: RpcRequest,
  context: Context,
  { answers, ruleAnswer: earlierRuleAnswer }: CallContinuation = { answers: {} },
): Promise<CallOutcome> {
  const checkedCall = checkCall(request, context)
  const { server } = context
  const replies = await server.replies()
  const call = callFor(request, context, answers)
  const ruleAnswer =
    (earlierRuleAnswer && (await replies.resume(earlierRuleAnswer, call))) ?? (await replies.take(call))
  if (!ruleAnswer) return answeredCall(await defaultResult(checkedCall, call, context), context)
  const { generation } = ruleAnswer
  requireValidAnswers(generation.rounds, answers)
  const round = openRound(generation.rounds, answers, context)
  if (round) return { kind: 'input-required', round, ruleAnswer, answers: answersInRounds(generation.rounds, answers) }
  if (generation.error) throw new RuleError(generation, generation.error)
  announce(generation, context)
  const ruleParts = { notifications: notificationsOf(generation, request, context), generation }
  return { ...answeredCall(resultOf(generation, checkedCall, context), context), ...ruleParts }
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

const answeredCall = (result: McpResult, context: Context): AnsweredCall => ({
  ...{ kind: 'answered', result: withCommonMembers(result, context), notifications: [], generation: undefined },
})

export function callFor(
  { method, params = {} }: RpcRequest,
  context: Context,
  answers: CallContinuation['answers'] = {},
): McpCall {
  const { exchange, server, client, version, session } = context
  const { headers, caller, scope } = exchange
  return {
    ...{ method, params, headers, caller, scope, server: server.path, version, answers },
    ...{ client: client.name, session: session?.id ?? '' },
  }
}

/** Notifies clients of the changes that the rule announces. */
function announce({ content: { changed = [], updated = [] } }: McpGeneration, { server, exchange }: Context): void {
  for (const list of changed) server.sessions.listChanged(server.path, list, exchange.scope)
  for (const uri of updated) server.sessions.resourceUpdated(server.path, uri, exchange.scope)
}

/** Progress is sent only if the client gave a token for it, and log lines only from the client's log level upwards. */
function notificationsOf(
  { content }: McpGeneration,
  { params }: RpcRequest,
  { logLevel }: Context,
): readonly RpcNotification[] {
  const { progress = [], log = [] } = content
  const { progressToken } = metaOf(params)
  const isToken = typeof progressToken === 'string' || typeof progressToken === 'number'
  const isCounted = progress.every(step => step.progress === undefined)
  const steps = progress.map((step, i) => ({
    ...{ progress: i + 1, ...(isCounted && { total: progress.length }) },
    ...step,
    progressToken,
  }))
  const lowest = logLevel === undefined ? logLevels.length : logLevels.indexOf(logLevel)
  const lines = log
    .map(line => ({ ...line, level: line.level ?? 'info' }))
    .filter(({ level }) => logLevels.indexOf(level) >= lowest)
  return [
    ...(isToken ? steps.map(step => notificationFrame('notifications/progress', step)) : []),
    ...lines.map(line => notificationFrame('notifications/message', line)),
  ]
}

async function defaultResult(checked: CheckedCall, call: McpCall, context: Context): Promise<McpResult> {
  const configured = await configuredResult(checked, context)
  if (configured) return configured
  const replies = await context.server.replies()
  if (context.server.strict) {
    const sentence = `No rule matches ${checked.method} ${checked.name}. ${replies.nearest(call)}`
    throw new RpcError(rpcCodes.noAnswer, sentence, { code: 'no_rule_matches' })
  }
  const { tool, prompt, method, name } = checked
  if (tool?.outputSchema) {
    const structuredContent = await replies.madeUp(tool.outputSchema, call)
    if (structuredContent !== undefined) return toolResult({ structuredContent }, context)
  }
  const echo = `${name}(${stringifyExact(checked.arguments)})`
  if (method === 'tools/call') return toolResult({ text: echo }, context)
  if (method === 'resources/read') {
    return { contents: [contentOf(name, checked.mimeType ?? 'text/plain', name)], ...cachingOf(context) }
  }
  return { ...(prompt?.description && { description: prompt.description }), messages: [userMessage(echo)] }
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
  if (!resource) return undefined
  const { text, blob, file } = resource
  if (text === undefined && blob === undefined && file === undefined) return undefined
  const content = file === undefined ? (text ?? '') : await server.readFile(file)
  return { contents: [contentOf(name, mimeType, content, blob)], ...cachingOf(context) }
}
