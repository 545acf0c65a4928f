/** POST: answers the messages that a client sends. */
import type { Exchange } from '../core/exchange.js'
import { noBytes } from '../core/http.js'
import { jsonText, parseExact } from '../core/json.js'
import {
  failureFrame,
  frameFrom,
  idOf,
  isRequest,
  RpcError,
  type RpcFrame,
  type RpcRequest,
  resultFrame,
  rpcCodes,
} from '../core/json-rpc.js'
import type { Pace, PaceInput } from '../core/pace.js'
import type { OpenBody, Reply } from '../core/reply.js'
import type { McpGeneration } from '../replies/index.js'
import { answerRequest, type CallOutcome, type InputRequiredCall, RuleError, takeRule } from './calls.js'
import {
  acceptedTypes,
  type CallMessages,
  EVENT_STREAM,
  errorReply,
  httpError,
  replyWith,
  requireNoFault,
  ruleFacts,
  streamHeaders,
  withWrongIdFault,
} from './deliver.js'
import { initialize, questionsBody, SESSION_HEADER, sessionContext, sessionOf, takeMessage } from './legacy.js'
import { continuationOf, inputRequiredResult, isModernMessage, listenBody, modernContext } from './modern.js'
import type { Context, RunningServer, Session } from './sessions.js'

/** The pace of a stream, from the request, the rule and the configuration. */
export type PaceOf = (exchange: Exchange, own: PaceInput | undefined) => Pace

const acceptedReply: Reply = { kind: 'reply', status: 202, contentType: '', body: '' }

/** Answers a POST. An invalid message gets the error that the specification defines. */
export async function postReply(server: RunningServer, exchange: Exchange, paceOf: PaceOf): Promise<Reply> {
  let value: unknown
  try {
    value = rpcMessage(exchange)
    return await messageReply(frameFrom(value), server, exchange, paceOf)
  } catch (error) {
    if (error instanceof RpcError) return errorReply(error, idOf(value))
    throw error
  }
}

function rpcMessage({ headers, body }: Exchange): unknown {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    throw httpError(415, 'Unsupported Media Type: Content-Type must be application/json')
  try {
    return parseExact(jsonText(body ?? noBytes))
  } catch (error) {
    throw new RpcError(rpcCodes.parse, `Parse error: ${(error as Error).message}`)
  }
}

async function messageReply(
  frame: RpcFrame,
  server: RunningServer,
  exchange: Exchange,
  paceOf: PaceOf,
): Promise<Reply> {
  const accepted = acceptedTypes(exchange.headers.accept)
  if (!accepted.json && !accepted.stream)
    throw httpError(406, 'Not Acceptable: the client must accept application/json and text/event-stream')
  if ('method' in frame && isModernMessage(frame, exchange)) {
    const context = modernContext(frame, server, exchange)
    return isRequest(frame) ? requestReply(frame, context, paceOf) : acceptedReply
  }
  if (isRequest(frame) && frame.method === 'initialize') return initializeReply(frame, server, exchange)
  const session = sessionOf(server, exchange)
  const context = sessionContext(server, exchange, session)
  if (isRequest(frame)) return requestReply(frame, context, paceOf)
  takeMessage(frame, session)
  return acceptedReply
}

async function initializeReply(request: RpcRequest, server: RunningServer, exchange: Exchange): Promise<Reply> {
  const context = sessionContext(server, exchange, undefined)
  let session: Session | undefined
  const messages = await messagesFor(request, context, async () => {
    const generation = await takeRule(request, context)
    const started = initialize(request, server, exchange)
    session = started.session
    return { kind: 'answered', result: started.result, notifications: [], generation }
  })
  const headers = session ? [SESSION_HEADER, session.id] : []
  return replyWith(messages as CallMessages, { ...context, session }, { headers })
}

/** The answer to a request in a session, or to one without. */
async function requestReply(request: RpcRequest, context: Context, paceOf: PaceOf): Promise<Reply> {
  const { session, exchange } = context
  if (!session && request.method === 'subscriptions/listen') return listenReply(request, context)
  const messages = await messagesFor(request, context, async () =>
    answerRequest(request, context, session ? undefined : continuationOf(request, context)),
  )
  if (!needsInput(messages)) return replyWith(messages, context, { pace: paceOf(exchange, messages.generation?.pace) })
  const { generation } = messages.ruleAnswer
  if (!session) {
    const response = resultFrame(request.id, inputRequiredResult(messages, request, context))
    return replyWith({ notifications: [], response, generation }, context)
  }
  const body = questionsBody(messages, request, { session, context }, (answers, ruleAnswer) =>
    messagesFor(request, context, () => answerRequest(request, context, { answers, ruleAnswer })),
  )
  return openReply(body, generation)
}

/** Opens the stream, unless a rule makes the request fail. */
async function listenReply(request: RpcRequest, context: Context): Promise<Reply> {
  const body = listenBody(request, context)
  const messages = (await messagesFor(request, context, async () => ({
    kind: 'answered',
    result: {},
    notifications: [],
    generation: await takeRule(request, context),
  }))) as CallMessages
  const { generation, response } = messages
  return generation?.protocolFault || 'error' in response ? replyWith(messages, context) : openReply(body, generation)
}

const openReply = (body: OpenBody, generation: McpGeneration | undefined): Reply => ({
  kind: 'reply',
  status: 200,
  contentType: EVENT_STREAM,
  headers: streamHeaders,
  body,
  ...ruleFacts(generation),
})

/** The messages that answer a request, or the questions that it asks. An RpcError becomes a JSON-RPC error. */
async function messagesFor(
  request: RpcRequest,
  context: Context,
  answer: () => Promise<CallOutcome>,
): Promise<CallMessages | InputRequiredCall> {
  let generation: McpGeneration | undefined
  try {
    const outcome = await answer()
    generation = outcome.kind === 'input-required' ? outcome.ruleAnswer.generation : outcome.generation
    requireNoFault(generation, context)
    if (outcome.kind === 'input-required') return outcome
    return {
      notifications: outcome.notifications,
      response: withWrongIdFault(resultFrame(request.id, outcome.result), generation),
      generation,
      mistake: outcome.mistake,
    }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    if (error instanceof RuleError) generation = error.generation
    return {
      notifications: [],
      response: withWrongIdFault(failureFrame(request.id, error), generation),
      status: error.status,
      generation,
    }
  }
}

const needsInput = (outcome: CallMessages | InputRequiredCall): outcome is InputRequiredCall => 'kind' in outcome
