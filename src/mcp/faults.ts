/** The faults that rules of this protocol can have. */
import { insufficientScope, refusedByRule } from '../core/errors.js'
import type { McpGeneration } from '../replies/index.js'
import { RpcError, type RpcResponse, rpcCodes } from '../rpc/frames.js'
import { type Context, isModern } from './context.js'
import { unsupportedVersion } from './modern.js'

/** Throws for a fault that replaces the whole answer. */
export function requireNoFault(generation: McpGeneration | undefined, context: Context): void {
  const { server, session, version } = context
  switch (generation?.protocolFault) {
    case 'session-lost':
      if (session) server.sessions.end(session)
      throw sessionNotFound()
    case 'version-refused':
      throw isModern(context)
        ? unsupportedVersion(version, server)
        : new RpcError(rpcCodes.invalidRequest, `Bad Request: Unsupported protocol version: ${version}`, undefined, 400)
    case 'unauthorized':
      throw refusedByRule()
    case 'insufficient-scope':
      throw insufficientScope()
  }
}

/** The specification requires a 404, after which a client starts a new session. */
export const sessionNotFound = () => new RpcError(rpcCodes.noSession, 'Session not found', undefined, 404)

/** Replaces the id by one that the client has not used, if the rule asks for it. */
export const withWrongIdFault = <T extends RpcResponse>(response: T, generation: McpGeneration | undefined): T =>
  generation?.protocolFault === 'wrong-id' ? { ...response, id: wrongId(response.id) } : response

const wrongId = (id: RpcResponse['id']) => (typeof id === 'number' ? id + 1_000_000 : `not-${id}`)
