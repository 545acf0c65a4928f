/** Requests of versions with sessions (up to 2025-11-25): they start, find, resume and end a session, and answer its questions. */
import type { Exchange } from '../core/exchange.js'
import {
  ASSUMED_VERSION,
  failureFrame,
  invalidParams,
  isResponse,
  protocolVersions,
  RpcError,
  type RpcFrame,
  type RpcId,
  type RpcRequest,
  type RpcResponse,
  rpcCodes,
  sessionVersions,
} from '../core/json-rpc.js'
import { type OpenBody, openBody, type Reply } from '../core/reply.js'
import type { InputRequiredCall } from './calls.js'
import {
  acceptedTypes,
  type CallMessages,
  EVENT_STREAM,
  httpError,
  sessionNotFound,
  streamHeaders,
  withTextFault,
} from './deliver.js'
import { capabilitiesOf, type McpResult, serverInfo } from './results.js'
import {
  type Context,
  clientFrom,
  type EventStream,
  holderOf,
  type RunningServer,
  type Session,
  unsupportedVersion,
} from './sessions.js'

export const SESSION_HEADER = 'mcp-session-id'

/** The version that a server answers with: the client's if the server supports it, otherwise the server's latest. */
function agreedVersion(requested: string, server: RunningServer): string {
  const candidates = sessionVersions.filter(version => server.options.protocolVersions.includes(version))
  const latest = candidates.at(-1)
  if (latest === undefined) throw unsupportedVersion(requested, server)
  return candidates.find(version => version === requested) ?? latest
}

/** Starts a session. Returns it with the result of `initialize`. */
export function initialize({ params = {} }: RpcRequest, server: RunningServer, exchange: Exchange) {
  const { protocolVersion, clientInfo, capabilities } = params
  if (typeof protocolVersion !== 'string') throw invalidParams('protocolVersion is missing.')
  const { options } = server
  const version = agreedVersion(protocolVersion, server)
  const session = server.sessions.begin({
    server: server.path,
    version,
    scope: exchange.scope,
    holder: holderOf(exchange.caller),
    client: clientFrom(clientInfo, capabilities),
  })
  const result: McpResult = {
    protocolVersion: version,
    capabilities: capabilitiesOf(server),
    serverInfo: serverInfo(options),
    ...(options.instructions !== undefined && { instructions: options.instructions }),
  }
  return { session, result }
}

/** The session of a request. Throws an RpcError if the request names none or an unknown one. */
export function sessionOf(server: RunningServer, { headers, caller }: Exchange): Session {
  const { [SESSION_HEADER]: id, 'mcp-protocol-version': version } = headers
  if (typeof version === 'string' && !(protocolVersions as readonly string[]).includes(version))
    throw badRequest(`Unsupported protocol version: ${version}`)
  if (typeof id !== 'string') throw badRequest('Mcp-Session-Id header is required. A session begins with initialize.')
  const session = server.sessions.find(id, server.path, holderOf(caller), server.options.sessionIdleMs)
  if (!session) throw sessionNotFound()
  return session
}

const badRequest = (sentence: string) => httpError(400, `Bad Request: ${sentence}`)

export function sessionContext(server: RunningServer, exchange: Exchange, session: Session | undefined): Context {
  const version = session?.version ?? ASSUMED_VERSION
  const client = session?.client ?? clientFrom(undefined, undefined)
  // The server chooses the level until the client sets one. Standin sends everything.
  return { server, exchange, version, client, session, logLevel: session?.logLevel ?? 'debug' }
}

/** Handles a message that is not answered: a notification, or the client's answer to a question. */
export function takeMessage(frame: RpcFrame, { waiting }: Session): void {
  if (isResponse(frame)) for (const call of waiting) call.take(frame)
  else if (frame.method === 'notifications/cancelled')
    for (const call of waiting) if (call.requestId === frame.params?.requestId) call.cancel()
}

/** GET: the stream on which a client receives changes, or one that it resumes by `Last-Event-ID`. */
export function generalStream(server: RunningServer, exchange: Exchange): Reply {
  const session = sessionOf(server, exchange)
  if (!acceptedTypes(exchange.headers.accept).stream)
    throw httpError(406, 'Not Acceptable: the client must accept text/event-stream')
  const head = { kind: 'reply', status: 200, contentType: EVENT_STREAM, headers: streamHeaders } as const
  // Opening a stream would end the client's current one.
  if (exchange.method === 'HEAD') return { ...head, body: '' }
  const [, number, n] = /^(\d{1,9})-(\d{1,9})$/.exec(String(exchange.headers['last-event-id'])) ?? []
  const resumed = session.streams.get(Number(number))
  if (!resumed) {
    session.generalStream?.end()
    session.generalStream = server.sessions.stream(session)
  }
  const stream = resumed ?? session.generalStream
  const body = openBody(sink => stream?.attach(sink, resumed && Number(n)) ?? (() => {}), true)
  return { ...head, body }
}

/** DELETE: ends the session. */
export function endSession(server: RunningServer, exchange: Exchange): Reply {
  server.sessions.end(sessionOf(server, exchange))
  return { kind: 'reply', status: 204, contentType: '', body: '' }
}

/** Continues a call with the client's answers. */
type ContinueCall = (
  answers: InputRequiredCall['answers'],
  ruleAnswer: InputRequiredCall['ruleAnswer'],
) => Promise<InputRequiredCall | CallMessages>

/**
 * The body of the response to a call that asks the client: the questions and the result are events of one stream. If the
 * client disconnects, the call continues, because the client may resume the stream.
 */
export function questionsBody(
  first: InputRequiredCall,
  request: RpcRequest,
  { session, context }: { readonly session: Session; readonly context: Context },
  continueCall: ContinueCall,
): OpenBody {
  return openBody(sink => {
    const stream = context.server.sessions.stream(session)
    const call = waitingCall(request.id)
    session.waiting.add(call)
    const detach = stream.attach(sink)
    void completeCall(first, call, stream, continueCall).finally(() => session.waiting.delete(call))
    return detach
  })
}

type PendingCall = ReturnType<typeof waitingCall>

function waitingCall(requestId: RpcId) {
  const pending = new Map<unknown, (response: RpcResponse) => void>()
  let cancel = () => {}
  const cancelled = new Promise<'cancelled'>(resolve => {
    cancel = () => resolve('cancelled')
  })
  return {
    requestId,
    cancel,
    /** Settles when the call is cancelled. */
    cancelled,
    /** Resolves to the answer to the question with this id. */
    answerTo: (id: RpcId) => new Promise<RpcResponse>(resolve => pending.set(id, resolve)),
    take(response: RpcResponse): void {
      const resolveAnswer = pending.get(response.id)
      pending.delete(response.id)
      resolveAnswer?.(response)
    },
  }
}

async function completeCall(
  first: InputRequiredCall,
  call: PendingCall,
  stream: EventStream,
  continueCall: ContinueCall,
): Promise<void> {
  const result = (async () => {
    let next: InputRequiredCall | CallMessages = first
    while ('kind' in next)
      next = await continueCall({ ...next.answers, ...(await askRound(next, call, stream)) }, next.ruleAnswer)
    return next
  })().catch((error: unknown): CallMessages => {
    const shown = error instanceof RpcError ? error : new RpcError(rpcCodes.internal, 'Internal error')
    return { notifications: [], response: failureFrame(call.requestId, shown), generation: undefined }
  })
  const messages = await Promise.race([result, call.cancelled])
  if (messages !== 'cancelled') sendMessages(messages, stream)
  stream.end()
}

function sendMessages({ notifications, response, generation }: CallMessages, stream: EventStream): void {
  for (const frame of notifications) stream.send(frame, text => withTextFault(text, generation))
  if (generation?.protocolFault === 'cut-stream') stream.cut()
  stream.send(response, text => withTextFault(text, generation))
}

let questionsSent = 0

/** Sends the questions of a round, and waits for all answers. */
async function askRound(
  { round }: InputRequiredCall,
  call: PendingCall,
  stream: EventStream,
): Promise<InputRequiredCall['answers']> {
  const all = Object.entries(round).map(async ([name, question]) => {
    const id = `standin-${++questionsSent}`
    const answer = call.answerTo(id)
    stream.send({ jsonrpc: '2.0', id, ...question })
    return [name, answerIn(await answer, question.method)] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

function answerIn(response: RpcResponse, method: string): unknown {
  if ('result' in response) return response.result
  const { code, message } = response.error
  throw new RpcError(rpcCodes.internal, `The client refused ${method}: ${message} (${code})`)
}
