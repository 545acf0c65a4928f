/** Answers calls of tools, resources, prompts and completions: by a rule, else from the configuration, else with generated values. */
import { stringifyExact } from '../core/json.js'
import type { McpCall, McpGeneration, McpRound, McpRuleAnswer } from '../replies/index.js'
import { notificationFrame, RpcError, type RpcNotification, type RpcRequest, rpcCodes } from '../rpc/frames.js'
import { logLevels } from '../rpc/log-levels.js'
import { metaOf } from '../rpc/meta.js'
import { type CheckedCall, checkedCall } from './called.js'
import type { Context } from './context.js'
import { cachingOf } from './lists.js'
import { completed, completion, contentOf, type McpResult, resultOf, toolResult, userMessage } from './results.js'
import { answersInRounds, openRound, requireFittingAnswers } from './rounds.js'

/** The outcome of a call: a result, or questions that the client has to answer first. */
export type CallOutcome = AnsweredCall | Asking

export interface AnsweredCall {
  readonly kind: 'answered'
  readonly result: McpResult
  /** Notifications that are sent before the result. */
  readonly before: readonly RpcNotification[]
  /** What the rule generated; `undefined` without a rule. */
  readonly by: McpGeneration | undefined
}

export interface Asking {
  readonly kind: 'asking'
  readonly round: McpRound
  readonly ruleAnswer: McpRuleAnswer
  readonly answers: Readonly<Record<string, unknown>>
}

/** Where to continue a call that has asked the client before. */
export interface Earlier {
  readonly answers: Readonly<Record<string, unknown>>
  readonly ruleAnswer?: Pick<McpRuleAnswer, 'place' | 'count'> | undefined
}

export async function answerCall(
  request: RpcRequest,
  context: Context,
  { answers, ruleAnswer: before }: Earlier = { answers: {} },
): Promise<CallOutcome> {
  const checked = checkedCall(request, context)
  const { server } = context
  const replies = await server.replies()
  const call = callFor(request, context, answers)
  const ruleAnswer = (before && (await replies.resume(before, call))) ?? (await replies.take(call))
  if (!ruleAnswer) return answered(await withoutRule(checked, call, context), context)
  const { generation } = ruleAnswer
  requireFittingAnswers(generation.rounds, answers)
  const round = openRound(generation.rounds, answers, context)
  if (round) return { kind: 'asking', round, ruleAnswer, answers: answersInRounds(generation.rounds, answers) }
  if (generation.error) throw new RuleError(generation, generation.error)
  announce(generation, context)
  const own = { before: notificationsOf(generation, request, context), by: generation }
  return { ...answered(resultOf(generation, checked, context), context), ...own }
}

/** An error from a rule. It keeps what else the rule generated, such as a fault. */
export class RuleError extends RpcError {
  constructor(
    readonly by: McpGeneration,
    { code, message, data }: NonNullable<McpGeneration['error']>,
  ) {
    super(code, message, data)
  }
}

const answered = (result: McpResult, context: Context): AnsweredCall => ({
  ...{ kind: 'answered', result: completed(result, context), before: [], by: undefined },
})

export function callFor(
  { method, params = {} }: RpcRequest,
  context: Context,
  answers: Earlier['answers'] = {},
): McpCall {
  const { exchange, server, client, version, session } = context
  const { headers, caller, scope } = exchange
  return {
    ...{ method, params, headers, caller, scope, server: server.path, version, answers },
    ...{ client: client.name, session: session?.id ?? '' },
  }
}

/** Notifies open streams of the changes that the rule announces. */
function announce({ content: { changed = [], updated = [] } }: McpGeneration, { server, exchange }: Context): void {
  for (const list of changed) server.sessions.changed(server.path, list, exchange.scope)
  for (const uri of updated) server.sessions.updated(server.path, uri, exchange.scope)
}

/** Progress is sent if the client gave a token for it, and log lines from the level that the client has set. */
function notificationsOf(
  { content }: McpGeneration,
  { params }: RpcRequest,
  { logLevel }: Context,
): readonly RpcNotification[] {
  const { progress = [], log = [] } = content
  const { progressToken } = metaOf(params)
  const isToken = typeof progressToken === 'string' || typeof progressToken === 'number'
  const counts = progress.every(step => step.progress === undefined)
  const steps = progress.map((step, i) => ({
    ...{ progress: i + 1, ...(counts && { total: progress.length }) },
    ...step,
    progressToken,
  }))
  const least = logLevel === undefined ? logLevels.length : logLevels.indexOf(logLevel)
  const lines = log
    .map(line => ({ ...line, level: line.level ?? 'info' }))
    .filter(({ level }) => logLevels.indexOf(level) >= least)
  return [
    ...(isToken ? steps.map(step => notificationFrame('notifications/progress', step)) : []),
    ...lines.map(line => notificationFrame('notifications/message', line)),
  ]
}

async function withoutRule(checked: CheckedCall, call: McpCall, context: Context): Promise<McpResult> {
  const configured = await fromConfiguration(checked, context)
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
  const repeated = `${name}(${stringifyExact(checked.arguments)})`
  if (method === 'tools/call') return toolResult({ text: repeated }, context)
  if (method === 'resources/read') {
    return { contents: [contentOf(name, checked.mimeType ?? 'text/plain', name)], ...cachingOf(context) }
  }
  return { ...(prompt?.description && { description: prompt.description }), messages: [userMessage(repeated)] }
}

/** The answer from the configuration: the content of a resource, or values that complete an argument. */
async function fromConfiguration(checked: CheckedCall, context: Context): Promise<McpResult | undefined> {
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
  const content = file === undefined ? (text ?? '') : await server.file(file)
  return { contents: [contentOf(name, mimeType, content, blob)], ...cachingOf(context) }
}
