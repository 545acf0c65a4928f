/** The lists of servers as they are now: reads and changes them for the control API and for tests, and notifies clients. */
import { isDeepStrictEqual } from 'node:util'
import { didYouMean } from '../check/suggest.js'
import { invalidRequest, noSuchMcpItem } from '../core/errors.js'
import { schemaProblem } from './check-call.js'
import type { McpChanges, McpList, McpLists, OfferedServer } from './operations.js'
import type { LoadedMcp } from './options.js'
import { type McpServer, mcpItemKeys, mcpServers } from './options.js'
import { type ListName, listChanged, type McpSessions } from './sessions.js'

/** The lists, and what an item of each is called in a sentence. */
const itemNames: Readonly<Record<McpList, string>> = {
  tools: 'tool',
  resources: 'resource',
  resourceTemplates: 'resource template',
  prompts: 'prompt',
}

const listNames = Object.keys(itemNames) as readonly McpList[]

const itemKey = (list: McpList, item: object): string =>
  String((item as Readonly<Record<string, unknown>>)[mcpItemKeys[list]])

/** The changes at run time. */
export type McpOverrides = ReturnType<typeof createMcpOverrides>

interface ChangedServer {
  readonly path: string
  readonly scope: string
  /** The changed items of each list by their names; `undefined` for one that was removed. */
  readonly lists: ReadonlyMap<McpList, Map<string, object | undefined>>
}

/** Keeps the changes, also after a reload. An empty scope means all requests. */
export function createMcpOverrides() {
  let all: readonly ChangedServer[] = []

  const changesOf = (path: string, scope: string) => all.find(one => one.path === path && one.scope === scope)

  return {
    /** Returns the configured options of a server with the changes for a scope; the same object if there are none. */
    apply(path: string, configured: McpServer, scope: string): McpServer {
      const general = withChanges(configured, changesOf(path, ''))
      return scope === '' ? general : withChanges(general, changesOf(path, scope))
    },
    /** Adds, replaces and removes items for the requests of a scope. */
    change(path: string, { remove = {}, ...added }: McpChanges, scope: string): void {
      let changed = changesOf(path, scope)
      if (!changed) {
        changed = { path, scope, lists: new Map(listNames.map(list => [list, new Map()])) }
        all = [...all, changed]
      }
      for (const [list, items] of changed.lists) {
        for (const name of remove[list] ?? []) items.set(name, undefined)
        for (const item of added[list] ?? []) items.set(itemKey(list, item), item)
      }
    },
    restore(path: string, scope: string): void {
      all = all.filter(one => one.path !== path || one.scope !== scope)
    },
    /** Undoes the changes for a scope, or all if none is given. */
    forget(scope?: string): void {
      all = scope === undefined ? [] : all.filter(one => one.scope !== scope)
    },
  }
}

function withChanges(options: McpServer, changed: ChangedServer | undefined): McpServer {
  if (!changed) return options
  const lists = [...changed.lists].map(([list, items]) => [list, changedItems(list, options[list], items)])
  return { ...options, ...Object.fromEntries(lists) }
}

/** Replaced items keep their positions; new ones come last. */
function changedItems(list: McpList, items: readonly object[], changed: ReadonlyMap<string, object | undefined>) {
  const all = new Map(items.map(item => [itemKey(list, item), item]))
  for (const [name, item] of changed) {
    if (item) all.set(name, item)
    else all.delete(name)
  }
  return [...all.values()]
}

interface Parts {
  /** The servers of the current configuration. */
  readonly servers: () => ReadonlyMap<string, McpServer>
  readonly overrides: McpOverrides
  readonly sessions: McpSessions
}

export function createMcpLists({ servers, overrides, sessions }: Parts): McpLists {
  function currentServer(path: string, scope: string): McpServer {
    const configured = servers().get(path)
    if (!configured) throw noSuchMcpItem('MCP server at', path, didYouMean(path, [...servers().keys()]))
    return overrides.apply(path, configured, scope)
  }

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
      const problem = (changes.tools ?? []).map(schemaProblem).find(one => one !== undefined)
      if (problem !== undefined) throw invalidRequest(problem.sentence)
      return applyChange(path, scope, () => overrides.change(path, changes, scope))
    },
    restore: async (path, scope) => applyChange(path, scope, () => overrides.restore(path, scope)),
  }
}

const viewOf = (path: string, { name, tools, resources, resourceTemplates, prompts }: McpServer): OfferedServer => {
  return { path, name, tools, resources, resourceTemplates, prompts }
}

function requireKnown({ remove = {} }: McpChanges, current: McpServer): void {
  for (const list of listNames) {
    const known = current[list].map(item => itemKey(list, item))
    const unknown = remove[list]?.find(name => !known.includes(name))
    if (unknown !== undefined) throw noSuchMcpItem(itemNames[list], unknown, didYouMean(unknown, known))
  }
}

/** Notifies the clients of all servers after a reload. */
export function announceChanges(sessions: McpSessions, before: LoadedMcp, next: LoadedMcp): void {
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
  const changed = listNames.filter(list => !isDeepStrictEqual(old[list], now[list]))
  const announced = new Set(changed.map((list): ListName => (list === 'resourceTemplates' ? 'resources' : list)))
  for (const list of announced) sessions.notify(path, scope, listChanged(list))
}
