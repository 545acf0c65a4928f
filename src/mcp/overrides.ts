/** The changes at run time to the lists of servers. */
import { type McpServer, mcpItemKeys } from '../config/mcp-options.js'
import type { McpChanges, McpList } from './operations.js'

/** An item by its name; `undefined` for one that was removed. */
type ChangedItems = Map<string, object | undefined>
type ChangedLists = Readonly<Record<McpList, ChangedItems>>

const listNames = Object.keys(mcpItemKeys) as readonly McpList[]

export const nameIn = (list: McpList, item: object): string =>
  String((item as Readonly<Record<string, unknown>>)[mcpItemKeys[list]])

export type McpOverrides = ReturnType<typeof createMcpOverrides>

const keyOf = (path: string, scope: string) => `${path} ${scope}`

/** Keeps the changes, also after a reload. An empty scope means all requests. */
export function createMcpOverrides() {
  const changed = new Map<string, { readonly scope: string; readonly lists: ChangedLists }>()

  function listsFor(path: string, scope: string): ChangedLists {
    const key = keyOf(path, scope)
    const lists = changed.get(key)?.lists ?? noChanges()
    changed.set(key, { scope, lists })
    return lists
  }

  return {
    /** Returns the configured options of a server with the changes for a scope; the same object if there are none. */
    apply(path: string, configured: McpServer, scope: string): McpServer {
      if (changed.size === 0) return configured
      const layers = scope === '' ? [''] : ['', scope]
      return layers.reduce((options, layer) => {
        const lists = changed.get(keyOf(path, layer))?.lists
        return lists ? withChanges(options, lists) : options
      }, configured)
    },
    /** Adds, replaces and removes items for the requests of a scope. */
    change(path: string, { remove = {}, ...added }: McpChanges, scope: string): void {
      const lists = listsFor(path, scope)
      for (const list of listNames) {
        for (const name of remove[list] ?? []) lists[list].set(name, undefined)
        for (const item of added[list] ?? []) lists[list].set(nameIn(list, item), item)
      }
    },
    restore: (path: string, scope: string) => void changed.delete(keyOf(path, scope)),
    /** Undoes the changes for a scope, or all if none is given. */
    forget(scope?: string): void {
      for (const [key, change] of changed) if (scope === undefined || change.scope === scope) changed.delete(key)
    },
  }
}

const noChanges = (): ChangedLists => ({
  ...{ tools: new Map(), resources: new Map(), resourceTemplates: new Map(), prompts: new Map() },
})

function withChanges(options: McpServer, changed: ChangedLists): McpServer {
  const lists = listNames.map(list => [list, changedItems(list, options[list], changed[list])])
  return { ...options, ...Object.fromEntries(lists) }
}

/** Replaced items keep their positions; new ones come last. */
function changedItems(list: McpList, items: readonly object[], changed: ChangedItems): readonly object[] {
  const known = new Set(items.map(item => nameIn(list, item)))
  const kept = items.flatMap(item => {
    const name = nameIn(list, item)
    return changed.has(name) ? (changed.get(name) ?? []) : item
  })
  return [...kept, ...[...changed].flatMap(([name, item]) => (item && !known.has(name) ? item : []))]
}
