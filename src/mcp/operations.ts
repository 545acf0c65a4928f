/** Operations on MCP servers: list what they offer, and change it while clients listen. */
import type * as v from 'valibot'
import { arrayOf, closed, objectOf, optional, optionalMember, text } from '../check/forms.js'
import { dataOf, operation, type SentValueOf, type ValueOf } from '../control/operation.js'
import {
  listOfItems,
  type McpPrompt,
  type McpResource,
  type McpResourceTemplate,
  type McpTool,
  mcpItemKeys,
  mcpItems,
} from './options.js'

export type McpList = keyof typeof mcpItems

const server = closed({
  /** As configured: `/mcp`. */
  path: text,
  name: text,
  tools: arrayOf(objectOf<McpTool>()),
  resources: arrayOf(objectOf<McpResource>()),
  resourceTemplates: arrayOf(objectOf<McpResourceTemplate>()),
  prompts: arrayOf(objectOf<McpPrompt>()),
})
export type OfferedServer = ValueOf<typeof server>

const advice = (key: string) =>
  key === 'reply' ? ' To set an answer, add a rule with POST /__standin/replies.' : undefined

const { reply: _tool, ...tool } = mcpItems.tools.entries
// Only the configuration may name files, because their content goes to every client.
const { reply: _resource, file: _file, ...resource } = mcpItems.resources.entries
const { reply: _template, ...resourceTemplate } = mcpItems.resourceTemplates.entries
const { reply: _prompt, ...prompt } = mcpItems.prompts.entries

const names = optionalMember(arrayOf(text))

/** Items of a list to add. */
const added = <const S extends v.GenericSchema<unknown, object>>(form: S, what: string, key: string) =>
  optional(listOfItems(form, what, key), `Items to add. An item with the same ${key} is replaced.`)

export const mcpChanges = closed({
  tools: added(closed(tool, advice), 'tools', mcpItemKeys.tools),
  resources: added(closed(resource, advice), 'resources', mcpItemKeys.resources),
  resourceTemplates: added(closed(resourceTemplate, advice), 'resource templates', mcpItemKeys.resourceTemplates),
  prompts: added(closed(prompt, advice), 'prompts', mcpItemKeys.prompts),
  remove: optional(
    closed({ tools: names, resources: names, resourceTemplates: names, prompts: names }),
    'Items to remove: the names of tools and prompts, and the URIs of resources and templates.',
  ),
})
export type McpChanges = ValueOf<typeof mcpChanges>
export type McpChangesInput = SentValueOf<typeof mcpChanges>

/** The lists of a server for a scope; an empty scope means all requests. */
export interface McpLists {
  list(scope: string): Promise<readonly OfferedServer[]>
  /** Notifies clients that listen. Rejects with a PlatformError if the server or an item to remove does not exist. */
  change(path: string, changes: McpChanges, scope: string): Promise<OfferedServer>
  restore(path: string, scope: string): Promise<OfferedServer>
}

const inScope = closed({ scope: optional(text, 'The scope. By default, requests of every scope.') })
const reads = { bytes: 1_048_576 }

export const mcpOperations = ({ mcp }: { readonly mcp: () => Promise<McpLists> }) => ({
  listMcpServers: operation({
    at: 'GET /mcp',
    does: 'Lists the emulated MCP servers with their current tools, resources and prompts.',
    query: inScope,
    returns: dataOf(server),
    run: async ({ scope = '' }) => ({ data: await (await mcp()).list(scope) }),
  }),
  changeMcpServer: operation({
    at: 'PUT /mcp/{server}',
    does: 'Adds, replaces and removes tools, resources and prompts of an MCP server until a reset, and notifies its clients.',
    query: inScope,
    body: mcpChanges,
    bodyReading: reads,
    returns: server,
    run: async ({ server, body, scope = '' }) => (await mcp()).change(server, body, scope),
  }),
  restoreMcpServer: operation({
    at: 'POST /mcp/{server}/restore',
    does: 'Undoes the changes to an MCP server, and notifies its clients.',
    query: inScope,
    returns: server,
    run: async ({ server, scope = '' }) => (await mcp()).restore(server, scope),
  }),
})
