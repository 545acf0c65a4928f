/** Reads and changes the lists of servers, for the control API and for tests, and tells clients which have changed. */
import { isDeepStrictEqual } from 'node:util'
import { didYouMean } from '../check/suggest.js'
import type { LoadedConfig } from '../config/load.js'
import { type McpServer, mcpServers } from '../config/mcp-options.js'
import { invalidRequest, noSuchMcpItem } from '../core/errors.js'
import { troubleWith } from './called.js'
import { type McpOffers, nameIn } from './offers.js'
import type { McpChanges, McpList, McpLists, OfferedServer } from './operations.js'
import type { List, McpSessions } from './sessions.js'

interface Parts {
  /** The servers of the current configuration. */
  readonly servers: () => ReadonlyMap<string, McpServer>
  readonly offers: McpOffers
  readonly sessions: McpSessions
}

export function createMcpLists({ servers, offers, sessions }: Parts): McpLists {
  function configured(path: string): McpServer {
    const found = servers().get(path)
    if (found) return found
    throw noSuchMcpItem('MCP server at', path, didYouMean(path, [...servers().keys()]))
  }

  const offered = (path: string, scope: string) => offers.of(path, configured(path), scope)

  /** Applies a change, and notifies the clients whose lists have changed. */
  function changing(path: string, scope: string, change: () => void): OfferedServer {
    const old = offered(path, scope)
    change()
    const now = offered(path, scope)
    announceDifferences(sessions, path, { old, now }, scope || undefined)
    return viewOf(path, now)
  }

  return {
    list: async scope => [...servers().keys()].map(path => viewOf(path, offered(path, scope))),
    async change(path, changes, scope) {
      requireKnown(changes, offered(path, scope))
      requireUsable(changes)
      return changing(path, scope, () => offers.change(path, changes, scope))
    },
    restore: async (path, scope) => changing(path, scope, () => offers.restore(path, scope)),
  }
}

const viewOf = (path: string, { name, tools, resources, resourceTemplates, prompts }: McpServer): OfferedServer => ({
  ...{ path, name, tools, resources, resourceTemplates, prompts },
})

const words: Readonly<Record<McpList, string>> = {
  ...{ tools: 'tool', resources: 'resource', resourceTemplates: 'resource template', prompts: 'prompt' },
}

function requireKnown({ remove = {} }: McpChanges, offered: McpServer): void {
  for (const [list, names = []] of Object.entries(remove) as [McpList, readonly string[] | undefined][]) {
    const known = offered[list].map(item => nameIn(list, item))
    const strange = names.find(name => !known.includes(name))
    if (strange !== undefined) throw noSuchMcpItem(words[list], strange, didYouMean(strange, known))
  }
}

function requireUsable({ tools = [] }: McpChanges): void {
  for (const tool of tools) {
    const trouble = troubleWith(tool)
    if (trouble !== undefined) throw invalidRequest(trouble)
  }
}

const members: Readonly<Record<List, readonly (keyof McpServer)[]>> = {
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
  for (const list of Object.keys(members) as readonly List[])
    if (members[list].some(member => !isDeepStrictEqual(old[member], now[member]))) sessions.changed(path, list, scope)
}
