/** The context of a call: the server, the client, and the HTTP request. */

import type { Exchange } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import { isStateless, type LogLevel, RpcError, rpcCodes } from '../core/json-rpc.js'
import type { McpReplies } from '../replies/index.js'
import type { McpServer } from './options.js'
import type { ClientFacts, McpSessions, Session } from './sessions.js'

/** A configured server, and what all servers share. */
export interface RunningServer {
  readonly path: string
  readonly options: McpServer
  /** The options as configured, without later changes. */
  readonly configured: McpServer
  readonly replies: () => Promise<McpReplies>
  readonly sessions: McpSessions
  /** Whether a call without a rule is an error. */
  readonly strict: boolean
  readFile(name: string): Promise<string | Buffer>
}

/** Who makes a call, and with which version of the protocol. */
export interface Context {
  readonly server: RunningServer
  readonly exchange: Exchange
  readonly version: string
  readonly client: ClientFacts
  readonly session: Session | undefined
  /** The lowest level of log lines to send; without it, none are sent. */
  readonly logLevel: LogLevel | undefined
}

export const isModern = ({ version }: Pick<Context, 'version'>) => isStateless(version)

/** The client capabilities that mean it can answer questions. */
const inputCapabilities = ['elicitation', 'sampling', 'roots']

/** The client's name and capabilities, from `initialize` or `_meta`. */
export function clientFrom(info: unknown, capabilities: unknown): ClientFacts {
  const { name } = isObject(info) ? info : {}
  const declared = isObject(capabilities) ? capabilities : {}
  return {
    name: typeof name === 'string' ? name : undefined,
    capabilities: new Set(inputCapabilities.filter(capability => declared[capability] !== undefined)),
  }
}

export const unsupportedVersion = (requested: string, { options }: RunningServer) =>
  new RpcError(
    rpcCodes.unsupportedVersion,
    `Unsupported protocol version: ${requested}`,
    { supported: options.protocolVersions.toReversed(), requested },
    400,
  )
