/** MCP servers: what survives a reload, and the source of their answers. */
import type { LoadedConfig } from '../config/load.js'
import { mcpServers } from '../config/mcp-options.js'
import type { PathSource } from '../core/exchange.js'
import type { Origins } from '../core/origins.js'
import { type Pace, paceFrom } from '../core/pace.js'
import { once } from '../core/work.js'
import type { McpLists } from '../mcp/operations.js'
import { requestedPaceOf } from '../platform-api/chat-completions.js'
import type { Replies } from '../replies/index.js'
import type { ResetOptions } from './part.js'

/** Sessions, changes to the servers' lists, and the keys that sign the state that clients send back. */
async function openMcp(now: () => number) {
  const folder = await import('../mcp/index.js')
  const { createMcpOverrides, createMcpSessions, createRequestStates } = folder
  return { folder, sessions: createMcpSessions(now), overrides: createMcpOverrides(), states: createRequestStates(now) }
}

/** `loaded` is the current configuration. */
export function createMcpPart(now: () => number, loaded: () => LoadedConfig) {
  let open: Awaited<ReturnType<typeof openMcp>> | undefined
  const opened = once(async () => {
    open = await openMcp(now)
    return open
  })
  return {
    opened,
    /** What servers offer, for the control API and tests. */
    lists: once(async (): Promise<McpLists> => {
      const { folder, sessions, overrides } = await opened()
      return folder.createMcpLists({ servers: () => mcpServers(loaded().config.mcp), overrides, sessions })
    }),
    async prepare(next: LoadedConfig) {
      const before = loaded()
      return () => open?.folder.announceChanges(open.sessions, before, next)
    },
    reset({ scope }: ResetOptions) {
      open?.overrides.forget(scope)
      open?.sessions.forget(scope)
    },
    close: () => open?.sessions.close(),
  }
}

interface McpDependencies {
  readonly part: Pick<ReturnType<typeof createMcpPart>, 'opened'>
  readonly replies: () => Promise<Replies>
  readonly origins: Origins
  readonly pace: () => Pace
}

/** Opens the source of the configured servers; `undefined` if there are none. */
export function mcpOpeners(loaded: LoadedConfig, needed: McpDependencies): readonly (() => Promise<PathSource>)[] {
  const { part, replies, origins, pace } = needed
  const { config } = loaded
  if (mcpServers(config.mcp).size === 0) return []
  return [
    async () => {
      const { folder, sessions, overrides, states } = await part.opened()
      return folder.mcpSource(loaded, {
        ...{ sessions, overrides, states, origins, strict: config.strict },
        replies: async () => (await replies()).mcp(),
        paceOf: ({ headers }, own) => paceFrom(requestedPaceOf(headers), paceFrom(own, pace())),
      })
    },
  ]
}
