/** The tools of MCP servers for tests: sets their answers, and returns their calls. */
import { inspect } from 'node:util'
import type { JournalEntry } from '../journal/index.js'
import type { McpRuleInput } from '../replies/index.js'
import type { ExchangeFilter } from './exchange-filter.js'
import type { TestJournal } from './journal.js'
import type { AddedReply, AddReply } from './reply.js'

type ToolReply = NonNullable<McpRuleInput['reply']>

type ToolReplyOptions = Omit<McpRuleInput, 'on' | 'reply' | 'replies'>

interface ToolCall {
  readonly arguments: Readonly<Record<string, unknown>>
  /** The exchange of the call. */
  readonly entry: JournalEntry
}

interface TestTool {
  /** Adds an answer, which takes precedence over all earlier ones: a text, an object like a rule's `reply`, or a list of these for successive calls. */
  reply(reply: string | ToolReply | readonly (string | ToolReply)[], options?: ToolReplyOptions): Promise<AddedReply>
  /** Its calls since the last reset, the oldest first. */
  calls(): Promise<readonly ToolCall[]>
}

export interface TestTools {
  tool(name: string): TestTool
}

interface Sources {
  readonly reply: AddReply
  readonly journal: Pick<TestJournal, 'find'>
}

export function createTools({ reply, journal }: Sources): TestTools {
  return {
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
  readonly name?: string
  readonly arguments?: Readonly<Record<string, unknown>>
}

/** What a request for the call of a tool says; `undefined` for any other. */
export function toolCallIn(body: unknown): ToolCallParams | undefined {
  const { jsonrpc, method, params } = (typeof body === 'object' ? (body ?? {}) : {}) as Record<string, unknown>
  return jsonrpc === '2.0' && method === 'tools/call' ? (params as ToolCallParams) : undefined
}
