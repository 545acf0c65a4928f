/** The tools of MCP servers as tests see them: what they answer, and how they were called. */
import { inspect } from 'node:util'
import type { JournalEntry } from '../journal/index.js'
import type { McpRuleInput } from '../replies/index.js'
import type { ExchangeFilter } from './exchange-filter.js'
import type { SharedJournal } from './journal.js'
import type { ReplyWith, SharedGiven } from './reply.js'

/** What a tool answers, as in a rule. */
type ToolReply = NonNullable<McpRuleInput['reply']>

type ToolReplyOptions = Omit<McpRuleInput, 'on' | 'reply' | 'replies'>

/** One call of a tool. */
interface ToolCalled {
  readonly arguments: Readonly<Record<string, unknown>>
  /** The exchange that carried it. */
  readonly entry: JournalEntry
}

interface TestTool<G extends SharedGiven = SharedGiven> {
  /** Adds an answer, which takes precedence over all earlier ones: a text, the form of a rule's `reply`, or a list of these for successive calls. */
  reply(said: string | ToolReply | readonly (string | ToolReply)[], options?: ToolReplyOptions): Promise<G>
  /** Its calls since the last reset, the oldest first. */
  calls(): Promise<readonly ToolCalled[]>
}

export interface TestTools<G extends SharedGiven = SharedGiven> {
  tool(name: string): TestTool<G>
}

export function createTools<G extends SharedGiven>(
  reply: ReplyWith<G>,
  journal: Pick<SharedJournal, 'find'>,
): TestTools<G> {
  return {
    tool: name => ({
      reply: (said, options) => {
        const forms = [said].flat().map(form => (typeof form === 'string' ? { text: form } : form)) as ToolReply[]
        const [first] = forms
        const own = Array.isArray(said) || !first ? { replies: forms } : { reply: first }
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
