/** Servers of the Model Context Protocol: what outlasts a reload, and the source of their answers. */

import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { LoadedConfig } from '../config/load.js'
import { mcpServers } from '../config/mcp-options.js'
import type { PathSource } from '../core/exchange.js'
import type { Origins } from '../core/origins.js'
import { type Pace, paceFrom } from '../core/pace.js'
import { onceLoaded } from '../core/work.js'
import { paceAsked } from '../platform-api/chat-completions.js'
import type { Replies } from '../replies/index.js'
import type { Part } from './part.js'

type McpFolder = typeof import('../mcp/index.js')

/** Sessions, and the keys that sign what clients carry between calls. */
interface LastingMcp {
  readonly folder: McpFolder
  readonly sessions: ReturnType<McpFolder['createMcpSessions']>
  readonly states: ReturnType<McpFolder['createRequestStates']>
}

interface McpPart extends Part {
  readonly opened: () => Promise<LastingMcp>
}

/** `loaded` is the configuration in force. */
export function createMcpPart(now: () => number, loaded: () => LoadedConfig): McpPart {
  let known: LastingMcp | undefined
  const opened = onceLoaded(async () => {
    const folder = await import('../mcp/index.js')
    known = { folder, sessions: folder.createMcpSessions(now), states: folder.createRequestStates(now) }
    return known
  })
  return {
    opened,
    async prepare(next) {
      const before = loaded()
      return () => known?.folder.announceChanges(known.sessions, before, next)
    },
    reset: ({ scope }) => known?.sessions.forget(scope),
    close: () => known?.sessions.close(),
  }
}

interface Needed {
  readonly part: McpPart
  readonly replies: () => Promise<Replies>
  readonly origins: Origins
  readonly pace: () => Pace
  readonly now: () => number
}

/** Opens the source of the configured servers; none where there is no server. */
export function mcpOpeners(loaded: LoadedConfig, needed: Needed): readonly (() => Promise<PathSource>)[] {
  const { part, replies, origins, pace, now } = needed
  const { config, dir } = loaded
  if (mcpServers(config.mcp).size === 0) return []
  return [
    async () => {
      const { folder, sessions, states } = await part.opened()
      return folder.mcpSource(loaded, {
        ...{ sessions, states, origins, now, strict: config.strict },
        replies: async () => (await replies()).mcp(),
        file: name => contentOf(path.resolve(dir, name)),
        paceOf: ({ headers }, own) => paceFrom(paceAsked(headers), paceFrom(own, pace())),
      })
    },
  ]
}

/** Text where it is one. */
async function contentOf(file: string): Promise<string | Buffer> {
  const bytes = await readFile(file)
  return isUtf8(bytes) ? bytes.toString() : bytes
}
