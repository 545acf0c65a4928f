/** `_meta`, which contains metadata of MCP messages. */
import { isObject } from '../core/json.js'

const PREFIX = 'io.modelcontextprotocol/'
/** The names of the protocol's own members. */
export const metaKeys = {
  version: `${PREFIX}protocolVersion`,
  clientInfo: `${PREFIX}clientInfo`,
  capabilities: `${PREFIX}clientCapabilities`,
  logLevel: `${PREFIX}logLevel`,
  serverInfo: `${PREFIX}serverInfo`,
  subscription: `${PREFIX}subscriptionId`,
} as const

/** The `_meta` of a message; empty if there is none. */
export const metaOf = (params: unknown): Readonly<Record<string, unknown>> =>
  isObject(params) && isObject(params._meta) ? params._meta : {}
