/** The faults of rules that only this protocol has. */
import { insufficientScope, refusedByRule } from '../core/errors.js'
import type { McpGeneration } from '../replies/index.js'
import { RpcError, type RpcResponse, rpcCodes } from '../rpc/frames.js'
import { type Context, isModern } from './context.js'
import { unsupported } from './modern.js'

/** Throws for a fault that replaces the whole answer. */
export function requireNoFault(by: McpGeneration | undefined, context: Context): void {
  const { server, session, version } = context
  switch (by?.protocolFault) {
    case 'session-lost':
      if (session) server.sessions.end(session)
      throw sessionNotFound()
    case 'version-refused':
      throw isModern(context)
        ? unsupported(version, server)
        : new RpcError(rpcCodes.invalidRequest, `Bad Request: Unsupported protocol version: ${version}`, undefined, 400)
    case 'unauthorized':
      throw refusedByRule()
    case 'insufficient-scope':
      throw insufficientScope()
  }
}

/** As the specification requires, so that a client starts a new session. */
export const sessionNotFound = () => new RpcError(rpcCodes.noSession, 'Session not found', undefined, 404)

/** The response with an id that the client has not used. */
export const underWrongId = <T extends RpcResponse>(response: T, by: McpGeneration | undefined): T =>
  by?.protocolFault === 'wrong-id' ? { ...response, id: wrongId(response.id) } : response

const wrongId = (id: RpcResponse['id']) => (typeof id === 'number' ? id + 1_000_000 : `not-${id}`)
