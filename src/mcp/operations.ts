/** The operation on MCP servers: lists what they offer. */
import { arrayOf, closed, objectOf, text } from '../check/forms.js'
import { dataOf, operation, type ValueOf } from '../core/operation.js'
import type { McpPrompt, McpResource, McpResourceTemplate, McpServer, McpTool } from './options.js'

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

/** The configured servers by their paths. */
interface Parts {
  readonly mcp: () => ReadonlyMap<string, McpServer>
}

export const mcpOperations = ({ mcp }: Parts) => ({
  listMcpServers: operation({
    at: 'GET /mcp',
    does: 'Lists the emulated MCP servers with their tools, resources and prompts.',
    returns: dataOf(server),
    run: async () => ({ data: [...mcp()].map(([path, options]) => viewOf(path, options)) }),
  }),
})

const viewOf = (path: string, { name, tools, resources, resourceTemplates, prompts }: McpServer): OfferedServer => {
  return { path, name, tools, resources, resourceTemplates, prompts }
}
