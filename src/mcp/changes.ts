/** Notifies open streams which lists have changed. A separate file, because requests do not need it. */
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
    if (now) announceDifferences(sessions, path, { old, now })
  }
}

/** Notifies the clients of a scope, or all if none is given. */
export function announceDifferences(
  sessions: McpSessions,
  path: string,
  { old, now }: { readonly old: McpServer; readonly now: McpServer },
  scope?: string,
): void {
  for (const list of Object.keys(members) as readonly List[])
    if (members[list].some(member => !isDeepStrictEqual(old[member], now[member]))) sessions.changed(path, list, scope)
}
