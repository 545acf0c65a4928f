/** Reads and changes the lists of servers, for the control API and for tests. */
import { didYouMean } from '../check/suggest.js'
import type { McpServer } from '../config/mcp-options.js'
import { invalidRequest, noSuchMcpItem } from '../core/errors.js'
import { troubleWith } from './called.js'
import { announceDifferences } from './changes.js'
import { type McpOffers, nameIn } from './offers.js'
import type { McpChanges, McpList, McpLists, OfferedServer } from './operations.js'
import type { McpSessions } from './sessions.js'

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
  path,
  name,
  tools,
  resources,
  resourceTemplates,
  prompts,
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
