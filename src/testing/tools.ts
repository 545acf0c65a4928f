/** The tools of MCP servers for tests: sets their answers, and returns their calls. */
import { inspect } from 'node:util'
import { plainJson } from '../check/plain-json.js'
import type { JournalEntry } from '../journal/index.js'
import type { McpChangesInput, OfferedServer } from '../mcp/operations.js'
import type { Platform } from '../platform.js'
import type { McpRuleInput } from '../replies/index.js'
import type { ExchangeFilter } from './exchange-filter.js'
import { inputCheck } from './input-check.js'
import type { SharedJournal } from './journal.js'
import type { AddReply, SharedAddedReply } from './reply.js'

type ToolReply = NonNullable<McpRuleInput['reply']>

type ToolReplyOptions = Omit<McpRuleInput, 'on' | 'reply' | 'replies'>

interface ToolCall {
  readonly arguments: Readonly<Record<string, unknown>>
  /** The exchange of the call. */
  readonly entry: JournalEntry
}

interface TestTool {
  /** Adds an answer, which takes precedence over all earlier ones: a text, an object like a rule's `reply`, or a list of these for successive calls. */
  reply(
    reply: string | ToolReply | readonly (string | ToolReply)[],
    options?: ToolReplyOptions,
  ): Promise<SharedAddedReply>
  /** Its calls since the last reset, the oldest first. */
  calls(): Promise<readonly ToolCall[]>
}

export interface TestTools {
  tool(name: string): TestTool
  /** The current tools, resources and prompts of a server. The path may be omitted if there is only one server. */
  server(path?: string): Promise<OfferedServer>
  /**
   * Adds, replaces and removes tools, resources and prompts until a reset, and notifies the clients that listen.
   *
   * ```ts
   * await platform.mcp.change({ tools: [{ name: 'get_time' }], remove: { tools: ['get_weather'] } })
   * ```
   */
  change(changes: McpChangesInput, path?: string): Promise<OfferedServer>
}

/** The lists of servers, in this process or in another one. */
export interface ListSource {
  list(): Promise<readonly OfferedServer[]>
  change(path: string, changes: McpChangesInput): Promise<OfferedServer>
}

interface Sources {
  readonly reply: AddReply<SharedAddedReply>
  readonly journal: Pick<SharedJournal, 'find'>
  readonly lists: ListSource
}

export function createTools({ reply, journal, lists }: Sources): TestTools {
  const pathOf = (path: string | undefined) => path ?? onlyPath(lists)
  return {
    async server(path) {
      const serverPath = await pathOf(path)
      const servers = await lists.list()
      const found = servers.find(one => one.path === serverPath)
      if (found) return found
      throw new TypeError(`There is no MCP server at ${JSON.stringify(serverPath)}. ${knownServers(servers)}`)
    },
    change: async (changes, path) =>
      lists.change(await pathOf(path), plainJson(changes, { origin: 'mcp.change' }) as McpChangesInput),
    tool: name => ({
      reply: (content, options) => {
        const forms = [content].flat().map(form => (typeof form === 'string' ? { text: form } : form)) as ToolReply[]
        const [first] = forms
        const replyFields = Array.isArray(content) || !first ? { replies: forms } : { reply: first }
        return reply({ on: `tools/call ${name}`, ...options, ...replyFields })
      },
      async calls() {
        const entries = await journal.find()
        return entries.flatMap(entry => {
          const call = toolCallIn(entry.request.body)
          return call?.name === name ? [{ arguments: call.arguments ?? {}, entry }] : []
        })
      },
    }),
  }
}

/** A filter for the calls of a tool. Throws a TypeError if `name` is not a string, because the filter would match nothing. */
export function toolCallFilter(name: string, args?: Readonly<Record<string, unknown>>): ExchangeFilter {
  if (typeof name !== 'string') {
    throw new TypeError(`The first argument must be the name of a tool, such as "get_weather", not ${inspect(name)}.`)
  }
  return { body: { method: 'tools/call', params: { name, ...(args && { arguments: args }) } } }
}

interface ToolCallParams {
  readonly name?: unknown
  readonly arguments?: Readonly<Record<string, unknown>>
}

function toolCallIn(body: unknown): ToolCallParams | undefined {
  const { jsonrpc, method, params } = (typeof body === 'object' ? (body ?? {}) : {}) as Record<string, unknown>
  return jsonrpc === '2.0' && method === 'tools/call' ? (params as ToolCallParams) : undefined
}

async function onlyPath(lists: ListSource): Promise<string> {
  const servers = await lists.list()
  const [only, ...more] = servers
  if (only && more.length === 0) return only.path
  throw new TypeError(only ? `Name the MCP server. ${knownServers(servers)}` : 'No MCP server is configured.')
}

const knownServers = (servers: readonly OfferedServer[]) =>
  `Known: ${servers.map(({ path }) => path).join(', ') || 'none'}.`

export const testLists = ({ mcp }: Pick<Platform, 'mcp'>, scope = ''): ListSource => ({
  list: async () => (await mcp()).list(scope),
  async change(path, changes) {
    const { mcpChanges } = await import('../mcp/operations.js')
    return (await mcp()).change(path, inputCheck('mcp.change', mcpChanges)(changes), scope)
  },
})
