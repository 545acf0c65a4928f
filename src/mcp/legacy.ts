/** Requests of versions with sessions (up to 2025-11-25): they start, find, resume and end a session. */
import type { Exchange, Reply } from '../core/exchange.js'
import { invalidParams, isResponse, RpcError, type RpcFrame, type RpcRequest, rpcCodes } from '../rpc/frames.js'
import { ASSUMED_VERSION, protocolVersions, sessionVersions } from '../rpc/protocol.js'
import { type Context, clientFrom, type RunningServer } from './context.js'
import { acceptedTypes, EVENT_STREAM, httpError, streamHeaders } from './deliver.js'
import { sessionNotFound } from './faults.js'
import { capabilitiesOf, serverInfo } from './lists.js'
import type { McpResult } from './results.js'
import { holderOf, type Session } from './sessions.js'
import { eventIn, openBody } from './streams.js'

export const SESSION_HEADER = 'mcp-session-id'

/** The version that a server answers with: the client's if the server supports it, otherwise the server's latest. */
function agreedVersion(requested: unknown, { options }: RunningServer): string {
  const supported = options.protocolVersions
  const candidates = sessionVersions.filter(version => supported.includes(version))
  const latest = candidates.at(-1)
  if (latest === undefined)
    throw new RpcError(
      rpcCodes.unsupportedVersion,
      `Unsupported protocol version: ${requested}. This server supports ${supported.join(', ')}.`,
      { supported, requested },
      400,
    )
  return candidates.find(version => version === requested) ?? latest
}

/** Starts a session. Returns it with the result of `initialize`. */
export function initialize({ params = {} }: RpcRequest, server: RunningServer, exchange: Exchange) {
  const { protocolVersion, clientInfo, capabilities } = params
  if (typeof protocolVersion !== 'string') throw invalidParams('protocolVersion is missing.')
  const { options } = server
  const version = agreedVersion(protocolVersion, server)
  const session = server.sessions.begin({
    ...{ server: server.path, version, scope: exchange.scope, holder: holderOf(exchange.caller) },
    client: clientFrom(clientInfo, capabilities),
  })
  const result: McpResult = {
    ...{ protocolVersion: version, capabilities: capabilitiesOf(server), serverInfo: serverInfo(options) },
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
  return { ...{ server, exchange, version, client, session }, logLevel: session?.logLevel ?? 'debug' }
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
  const last = eventIn(String(exchange.headers['last-event-id'] ?? ''))
  const resumed = last && session.streams.get(last.stream)
  if (!resumed) {
    session.generalStream?.end()
    session.generalStream = server.sessions.stream(session)
  }
  const stream = resumed ?? session.generalStream
  const body = openBody(sink => stream?.attach(sink, resumed ? last?.n : 0) ?? (() => {}), true)
  return { ...head, body }
}

/** DELETE: ends the session. */
export function endSession(server: RunningServer, exchange: Exchange): Reply {
  server.sessions.end(sessionOf(server, exchange))
  return { kind: 'reply', status: 204, contentType: '', body: '' }
}
