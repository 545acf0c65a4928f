/** POST: the messages that a client sends, and how each is answered. */
import type { Exchange, OpenBody, Reply } from '../core/exchange.js'
import { jsonText, parseExact } from '../core/json.js'
import { type Pace, type PaceInput, unpaced } from '../core/pace.js'
import type { McpGeneration } from '../replies/index.js'
import {
  failureFrame,
  frameFrom,
  idOf,
  invalidRequest,
  isRequest,
  RpcError,
  type RpcFrame,
  type RpcRequest,
  resultFrame,
  rpcCodes,
} from '../rpc/frames.js'
import { isStateless } from '../rpc/versions.js'
import { askingBody } from './asking.js'
import { type Asking, type CallOutcome, RuleError } from './calls.js'
import type { Context, RunningServer } from './context.js'
import {
  acceptedIn,
  type CallMessages,
  EVENTS,
  errorReply,
  factsOf,
  httpError,
  jsonReply,
  replyWith,
  streamHeaders,
} from './deliver.js'
import { requireNoFault, underWrongId } from './faults.js'
import { badRequest, initialized, SESSION, sessionContext, sessionOf, take } from './legacy.js'
import { listening } from './listen.js'
import { answerTo, ruleOn } from './methods.js'
import { earlierOf, inputRequired, isModernMessage, modernContext } from './modern.js'
import type { Session } from './sessions.js'

/** The pace of a stream, from the request, the rule and the configuration. */
export type PaceOf = (exchange: Exchange, own: PaceInput | undefined) => Pace

const nothing: Reply = { kind: 'reply', status: 202, contentType: '', body: '' }

/** Answers a POST. A message that cannot be answered gets the error that the specification defines. */
export async function posted(server: RunningServer, exchange: Exchange, paceOf: PaceOf): Promise<Reply> {
  let value: unknown
  try {
    value = bodyOf(exchange)
    if (Array.isArray(value)) return await batch(value, server, exchange)
    const frame = frameFrom(value)
    return await answered(frame, server, exchange, paceOf)
  } catch (error) {
    if (error instanceof RpcError) return errorReply(error, idOf(value))
    throw error
  }
}

function bodyOf({ headers, body }: Exchange): unknown {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    throw httpError(415, 'Unsupported Media Type: Content-Type must be application/json')
  try {
    return parseExact(jsonText(body ?? Buffer.alloc(0)))
  } catch (error) {
    throw new RpcError(rpcCodes.parse, `Parse error: ${(error as Error).message}`)
  }
}

async function answered(frame: RpcFrame, server: RunningServer, exchange: Exchange, paceOf: PaceOf): Promise<Reply> {
  const accepted = acceptedIn(exchange.headers.accept)
  if (!accepted.json && !accepted.stream)
    throw httpError(406, 'Not Acceptable: the client must accept application/json and text/event-stream')
  if ('method' in frame && isModernMessage(frame, exchange)) {
    const context = modernContext(frame, server, exchange)
    return isRequest(frame) ? modernReply(frame, context, paceOf) : nothing
  }
  if (isRequest(frame) && frame.method === 'initialize') return beginning(frame, server, exchange)
  const session = sessionOf(server, exchange)
  const context = sessionContext(server, exchange, session)
  if (isRequest(frame)) return sessionReply(frame, context, paceOf)
  take(frame, session)
  return nothing
}

async function beginning(request: RpcRequest, server: RunningServer, exchange: Exchange): Promise<Reply> {
  const context = sessionContext(server, exchange, undefined)
  let session: Session | undefined
  const messages = await attempted(request, context, async () => {
    const by = await ruleOn(request, context)
    const begun = initialized(request, server, exchange)
    session = begun.session
    return { kind: 'answered', result: begun.result, before: [], by }
  })
  const headers = session ? [SESSION, session.id] : []
  return replyWith(messages as CallMessages, { ...howFor({ ...context, session }), headers })
}

async function modernReply(request: RpcRequest, context: Context, paceOf: PaceOf): Promise<Reply> {
  if (request.method === 'subscriptions/listen') return listenReply(request, context)
  const messages = await attempted(request, context, async () =>
    answerTo(request, context, earlierOf(request, context)),
  )
  if (!isAsking(messages)) return replyWith(messages, howFor(context, paceOf(context.exchange, messages.by?.pace)))
  const response = resultFrame(request.id, inputRequired(messages, request, context))
  return replyWith({ before: [], response, by: messages.ruleAnswer.generation }, howFor(context))
}

/** A rule can make it fail as any request. */
async function listenReply(request: RpcRequest, context: Context): Promise<Reply> {
  const body = listening(request, context)
  const messages = (await attempted(request, context, async () => ({
    ...{ kind: 'answered', result: {}, before: [], by: await ruleOn(request, context) },
  }))) as CallMessages
  const { by, response } = messages
  return by?.protocolFault || 'error' in response ? replyWith(messages, howFor(context)) : openReply(body, by)
}

async function sessionReply(request: RpcRequest, context: Context, paceOf: PaceOf): Promise<Reply> {
  const messages = await attempted(request, context, () => answerTo(request, context))
  if (!isAsking(messages)) return replyWith(messages, howFor(context, paceOf(context.exchange, messages.by?.pace)))
  const body = askingBody(messages, request, context, (answers, ruleAnswer) =>
    attempted(request, context, () => answerTo(request, context, { answers, ruleAnswer })),
  )
  return openReply(body, messages.ruleAnswer.generation)
}

const openReply = (body: OpenBody, by: McpGeneration | undefined): Reply => ({
  ...{ kind: 'reply', status: 200, contentType: EVENTS, headers: streamHeaders, body, ...factsOf(by) },
})

const howFor = ({ exchange, session, server }: Context, pace = unpaced) => ({
  ...{ accepted: acceptedIn(exchange.headers.accept), pace, headers: [] as readonly string[] },
  openStream: session && (() => server.sessions.stream(session)),
})

/** The answer to a request. An RpcError becomes a JSON-RPC error. */
async function attempted(
  request: RpcRequest,
  context: Context,
  answer: () => Promise<CallOutcome>,
): Promise<CallMessages | Asking> {
  let by: McpGeneration | undefined
  try {
    const outcome = await answer()
    by = outcome.kind === 'asking' ? outcome.ruleAnswer.generation : outcome.by
    requireNoFault(by, context)
    if (outcome.kind === 'asking') return outcome
    return { before: outcome.before, response: underWrongId(resultFrame(request.id, outcome.result), by), by }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    if (error instanceof RuleError) by = error.by
    return { before: [], response: underWrongId(failureFrame(request.id, error), by), status: error.status, by }
  }
}

/** Only 2025-03-26 has batches. */
const WITH_BATCHES = '2025-03-26'
const MOST_IN_BATCH = 100

async function batch(values: readonly unknown[], server: RunningServer, exchange: Exchange): Promise<Reply> {
  const { 'mcp-protocol-version': version } = exchange.headers
  if (typeof version === 'string' && isStateless(version)) throw noBatches(version)
  const session = sessionOf(server, exchange)
  if (session.version !== WITH_BATCHES) throw noBatches(session.version)
  if (values.length === 0 || values.length > MOST_IN_BATCH)
    throw invalidRequest(`a batch has 1 to ${MOST_IN_BATCH} messages.`)
  const context = sessionContext(server, exchange, session)
  const responses = await Promise.all(values.map(value => inBatch(value, context, session)))
  const there = responses.filter(response => response !== undefined)
  return there.length === 0 ? nothing : jsonReply(there)
}

const noBatches = (version: string) => badRequest(`Batches are not part of version ${version}`)

async function inBatch(value: unknown, context: Context, session: Session): Promise<RpcFrame | undefined> {
  try {
    const frame = frameFrom(value)
    if (!isRequest(frame)) {
      take(frame, session)
      return undefined
    }
    if (frame.method === 'initialize') throw invalidRequest('initialize cannot be part of a batch.')
    const messages = await attempted(frame, context, () => answerTo(frame, context))
    if (!isAsking(messages)) return messages.response
    throw new RpcError(rpcCodes.internal, 'A call in a batch cannot ask the client anything.')
  } catch (error) {
    if (error instanceof RpcError) return failureFrame(idOf(value), error)
    throw error
  }
}

const isAsking = (found: CallMessages | Asking): found is Asking => 'kind' in found
