/** The tools of MCP servers in tests: sets their answers, and returns their calls. */
import { inspect } from 'node:util'
import { plainJson } from '../check/plain-json.js'
import type { JournalEntry } from '../journal/index.js'
import type { McpChangesInput, OfferedServer } from '../mcp/operations.js'
import type { Platform } from '../platform.js'
import type { McpRuleInput } from '../replies/index.js'
import { checking } from './checked.js'
import type { ExchangeFilter } from './exchange-filter.js'
import type { SharedJournal } from './journal.js'
import type { ReplyWith, SharedAddedReply } from './reply.js'

type ToolReply = NonNullable<McpRuleInput['reply']>

type ToolReplyOptions = Omit<McpRuleInput, 'on' | 'reply' | 'replies'>

interface ToolCalled {
  readonly arguments: Readonly<Record<string, unknown>>
  /** The exchange of the call. */
  readonly entry: JournalEntry
}

interface TestTool {
  /** Adds an answer, which takes precedence over all earlier ones: a text, the form of a rule's `reply`, or a list of these for successive calls. */
  reply(
    reply: string | ToolReply | readonly (string | ToolReply)[],
    options?: ToolReplyOptions,
  ): Promise<SharedAddedReply>
  /** Its calls since the last reset, the oldest first. */
  calls(): Promise<readonly ToolCalled[]>
}

export interface TestTools {
  tool(name: string): TestTool
  /** What a server offers at the moment. Without a path: the only server. */
  server(path?: string): Promise<OfferedServer>
  /**
   * Adds, replaces and removes tools, resources and prompts until a reset, and tells the clients that listen.
   *
   * ```ts
   * await platform.mcp.change({ tools: [{ name: 'get_time' }], remove: { tools: ['get_weather'] } })
   * ```
   */
  change(changes: McpChangesInput, path?: string): Promise<OfferedServer>
}

/** In this process, or in another one. */
export interface ListSource {
  list(): Promise<readonly OfferedServer[]>
  change(path: string, changes: McpChangesInput): Promise<OfferedServer>
}

interface Sources {
  readonly reply: ReplyWith<SharedAddedReply>
  readonly journal: Pick<SharedJournal, 'find'>
  readonly lists: ListSource
}

export function createTools({ reply, journal, lists }: Sources): TestTools {
  const pathOf = (path: string | undefined) => path ?? onlyPath(lists)
  return {
    async server(path) {
      const wanted = await pathOf(path)
      const servers = await lists.list()
      const found = servers.find(one => one.path === wanted)
      if (found) return found
      throw new TypeError(`There is no MCP server at ${JSON.stringify(wanted)}. ${known(servers)}`)
    },
    change: async (changes, path) =>
      lists.change(await pathOf(path), plainJson(changes, { origin: 'mcp.change' }) as McpChangesInput),
    tool: name => ({
      reply: (content, options) => {
        const forms = [content].flat().map(form => (typeof form === 'string' ? { text: form } : form)) as ToolReply[]
        const [first] = forms
        const own = Array.isArray(content) || !first ? { replies: forms } : { reply: first }
        return reply({ on: `tools/call ${name}`, ...options, ...own })
      },
      async calls() {
        const entries = await journal.find()
        return entries.flatMap(entry => {
          const called = callIn(entry.request.body)
          return called?.name === name ? [{ arguments: called.arguments ?? {}, entry }] : []
        })
      },
    }),
  }
}

/** Selects the calls of a tool. Throws a TypeError for anything but a name, which would match nothing. */
export function callOf(name: string, args?: Readonly<Record<string, unknown>>): ExchangeFilter {
  if (typeof name !== 'string') {
    throw new TypeError(`The first argument must be the name of a tool, such as "get_weather", not ${inspect(name)}.`)
  }
  return { body: { method: 'tools/call', params: { name, ...(args && { arguments: args }) } } }
}

interface Call {
  readonly name?: unknown
  readonly arguments?: Readonly<Record<string, unknown>>
}

function callIn(body: unknown): Call | undefined {
  const { jsonrpc, method, params } = (typeof body === 'object' ? (body ?? {}) : {}) as Record<string, unknown>
  return jsonrpc === '2.0' && method === 'tools/call' ? (params as Call) : undefined
}

async function onlyPath(lists: ListSource): Promise<string> {
  const servers = await lists.list()
  const [only, ...more] = servers
  if (only && more.length === 0) return only.path
  throw new TypeError(only ? `Name the MCP server. ${known(servers)}` : 'No MCP server is configured.')
}

const known = (servers: readonly OfferedServer[]) => `Known: ${servers.map(({ path }) => path).join(', ') || 'none'}.`

export const testLists = ({ mcp }: Pick<Platform, 'mcp'>, scope = ''): ListSource => ({
  list: async () => (await mcp()).list(scope),
  async change(path, changes) {
    const { mcpChanges } = await import('../mcp/operations.js')
    return (await mcp()).change(path, checking('mcp.change', mcpChanges)(changes), scope)
  },
})
