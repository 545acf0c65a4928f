/** Reads and changes the lists of servers for the control API and for tests, and notifies clients of the changes. */
import { isDeepStrictEqual } from 'node:util'
import { didYouMean } from '../check/suggest.js'
import type { LoadedConfig } from '../config/load.js'
import { type McpServer, mcpServers } from '../config/mcp-options.js'
import { invalidRequest, noSuchMcpItem } from '../core/errors.js'
import { schemaProblem } from './check-call.js'
import type { McpChanges, McpList, McpLists, OfferedServer } from './operations.js'
import { type McpOverrides, nameIn } from './overrides.js'
import type { ListName, McpSessions } from './sessions.js'

interface Parts {
  /** The servers of the current configuration. */
  readonly servers: () => ReadonlyMap<string, McpServer>
  readonly overrides: McpOverrides
  readonly sessions: McpSessions
}

export function createMcpLists({ servers, overrides, sessions }: Parts): McpLists {
  function configuredServer(path: string): McpServer {
    const found = servers().get(path)
    if (found) return found
    throw noSuchMcpItem('MCP server at', path, didYouMean(path, [...servers().keys()]))
  }

  const currentServer = (path: string, scope: string) => overrides.apply(path, configuredServer(path), scope)

  /** Applies a change, and notifies the clients whose lists have changed. */
  function applyChange(path: string, scope: string, change: () => void): OfferedServer {
    const old = currentServer(path, scope)
    change()
    const now = currentServer(path, scope)
    announceDifferences(sessions, path, { old, now }, scope || undefined)
    return viewOf(path, now)
  }

  return {
    list: async scope => [...servers().keys()].map(path => viewOf(path, currentServer(path, scope))),
    async change(path, changes, scope) {
      requireKnown(changes, currentServer(path, scope))
      requireUsable(changes)
      return applyChange(path, scope, () => overrides.change(path, changes, scope))
    },
    restore: async (path, scope) => applyChange(path, scope, () => overrides.restore(path, scope)),
  }
}

const viewOf = (path: string, { name, tools, resources, resourceTemplates, prompts }: McpServer): OfferedServer => ({
  ...{ path, name, tools, resources, resourceTemplates, prompts },
})

const itemNames: Readonly<Record<McpList, string>> = {
  ...{ tools: 'tool', resources: 'resource', resourceTemplates: 'resource template', prompts: 'prompt' },
}

function requireKnown({ remove = {} }: McpChanges, current: McpServer): void {
  for (const [list, names = []] of Object.entries(remove) as [McpList, readonly string[] | undefined][]) {
    const known = current[list].map(item => nameIn(list, item))
    const unknown = names.find(name => !known.includes(name))
    if (unknown !== undefined) throw noSuchMcpItem(itemNames[list], unknown, didYouMean(unknown, known))
  }
}

function requireUsable({ tools = [] }: McpChanges): void {
  for (const tool of tools) {
    const problem = schemaProblem(tool)
    if (problem !== undefined) throw invalidRequest(problem)
  }
}

const membersOfList: Readonly<Record<ListName, readonly (keyof McpServer)[]>> = {
  tools: ['tools'],
  resources: ['resources', 'resourceTemplates'],
  prompts: ['prompts'],
}

/** Notifies the clients of all servers after a reload. */
export function announceChanges(sessions: McpSessions, before: LoadedConfig, next: LoadedConfig): void {
  const servers = mcpServers(next.config.mcp)
  for (const [path, old] of mcpServers(before.config.mcp)) {
    const now = servers.get(path)
    if (now) announceDifferences(sessions, path, { old, now })
  }
}

/** Notifies the clients of a scope, or all if none is given. */
function announceDifferences(
  sessions: McpSessions,
  path: string,
  { old, now }: { readonly old: McpServer; readonly now: McpServer },
  scope?: string,
): void {
  for (const list of Object.keys(membersOfList) as readonly ListName[])
    if (membersOfList[list].some(member => !isDeepStrictEqual(old[member], now[member])))
      sessions.listChanged(path, list, scope)
}
