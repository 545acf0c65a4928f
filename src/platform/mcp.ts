/** MCP servers: what survives a reload, and the source of their answers. */

import type { PathSource } from '../core/exchange.js'
import type { Origins } from '../core/origins.js'
import { type Pace, paceFrom, requestedPaceOf } from '../core/pace.js'
import type { ResetOptions } from '../core/part.js'
import { mcpServers } from '../mcp/options.js'
import type { Replies } from '../replies/index.js'
import type { LoadedConfig } from './config/load.js'
import type { McpFolder, PreparedConfig } from './prepare.js'

const openMcp = (folder: McpFolder, now: () => number) => ({ folder, sessions: folder.createMcpSessions(now) })

export type McpPart = ReturnType<typeof createMcpPart>

/** `loaded` is the current configuration. */
export function createMcpPart(now: () => number, loaded: () => LoadedConfig) {
  let opened: ReturnType<typeof openMcp> | undefined
  function use(folder: McpFolder) {
    opened ??= openMcp(folder, now)
    return opened
  }
  return {
    use,
    servers: () => mcpServers(loaded().config.mcp),
    async prepare(next: PreparedConfig) {
      const before = loaded()
      return () => opened?.folder.announceChanges(opened.sessions, before, next.loaded)
    },
    reset({ scope }: ResetOptions) {
      opened?.sessions.forget(scope)
    },
    close: () => opened?.sessions.close(),
  }
}

interface McpDependencies {
  readonly part: Pick<McpPart, 'use'>
  readonly replies: Replies
  readonly origins: Origins
  readonly pace: () => Pace
}

/** The source of the configured servers; `undefined` if there are none. */
export function mcpSourceOf({ loaded, mcp }: PreparedConfig, needed: McpDependencies): PathSource | undefined {
  if (!mcp) return undefined
  const { part, replies, origins, pace } = needed
  const { folder, sessions } = part.use(mcp)
  return folder.mcpSource(loaded, {
    sessions,
    origins,
    strict: loaded.config.strict,
    replies: replies.mcp,
    paceOf: ({ headers }, own) => paceFrom(requestedPaceOf(headers), paceFrom(own, pace())),
  })
}
