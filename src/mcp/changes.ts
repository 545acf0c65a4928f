/** Tells open streams which lists a reload has changed. A file of its own, since only reloads need it. */
import { isDeepStrictEqual } from 'node:util'
import type { LoadedConfig } from '../config/load.js'
import { type McpServer, mcpServers } from '../config/mcp-options.js'
import type { List, McpSessions } from './sessions.js'

const members: Readonly<Record<List, readonly (keyof McpServer)[]>> = {
  tools: ['tools'],
  resources: ['resources', 'resourceTemplates'],
  prompts: ['prompts'],
}

export function announceChanges(sessions: McpSessions, before: LoadedConfig, next: LoadedConfig): void {
  const servers = mcpServers(next.config.mcp)
  for (const [path, old] of mcpServers(before.config.mcp)) {
    const now = servers.get(path)
    if (!now) continue
    for (const list of Object.keys(members) as readonly List[])
      if (members[list].some(member => !isDeepStrictEqual(old[member], now[member]))) sessions.changed(path, list)
  }
}
