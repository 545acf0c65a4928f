/** What rules look at in a request: worked out once, and only where a rule asks. */
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type ChatMessage, type ChatRequest, textOf } from '../../completions/request.js'
import { anonymous, type Caller } from '../../core/exchange.js'
import { parseExact } from '../../core/json.js'

/** A result that a tool has given since the model last spoke. */
export interface ToolResult {
  /** The name of the tool; empty where nothing says which call it answers. */
  readonly tool: string
  readonly text: string
}

interface Circumstances {
  readonly headers?: IncomingHttpHeaders
  readonly caller?: Caller
  readonly scope?: string
  /** The request as it came. */
  readonly body?: Buffer | undefined
}

/** One request as rules see it. A class, because each request has one, and an object that brings its own getters takes ten times as long to make. */
export class Asked {
  readonly request: ChatRequest
  readonly headers: IncomingHttpHeaders
  readonly caller: Caller
  /** Whose memory counts. */
  readonly scope: string
  /** The text of the last user message; empty when there is none. */
  readonly user: string
  private systemText: string | undefined
  private assistantText: string | undefined
  private allTexts: readonly string[] | undefined
  private results: readonly ToolResult[] | undefined
  private readonly body: Buffer | undefined
  private exactRequest: object | undefined

  constructor(request: ChatRequest, { headers = {}, caller = anonymous, scope = '', body }: Circumstances = {}) {
    this.request = request
    this.headers = headers
    this.caller = caller
    this.scope = scope
    this.body = body
    this.user = lastTextOf(request.messages, 'user')
  }

  /** The texts of all system and developer messages, on lines of their own. */
  get system(): string {
    this.systemText ??= this.request.messages.filter(isInstruction).map(textOf).join('\n')
    return this.systemText
  }

  /** The text of the last assistant message; empty when there is none. */
  get assistant(): string {
    this.assistantText ??= lastTextOf(this.request.messages, 'assistant')
    return this.assistantText
  }

  /** The text of every message. */
  get texts(): readonly string[] {
    this.allTexts ??= this.request.messages.map(textOf)
    return this.allTexts
  }

  /** The caller, or the conversation: what a rule remembers with `per`. */
  holder(per: 'caller' | 'conversation'): string {
    const { caller } = this
    const who = `${caller.kind} ${'id' in caller ? caller.id : ''}`
    return per === 'caller' ? who : `${who} ${this.conversation}`
  }

  /** What the header says, else the messages up to the first one of the user, which clients send along with every turn. */
  private get conversation(): string {
    const told = this.headers['x-conversation-id']
    const { messages } = this.request
    const first = messages.slice(0, messages.findIndex(({ role }) => role === 'user') + 1)
    return hash(
      'sha256',
      told === undefined ? JSON.stringify(first.map(m => [m.role, textOf(m)])) : `id ${told}`,
      'hex',
    )
  }

  /** The request with every digit of its long whole numbers, which are BigInts. */
  get exact(): object {
    this.exactRequest ??=
      (this.body && (parseExact(this.body.toString().replace(/^\ufeff/, '')) as object)) ?? this.request
    return this.exactRequest
  }

  /** How many user messages there are: 1 is the first turn. */
  get turn(): number {
    return this.request.messages.reduce((sum, { role }) => sum + (role === 'user' ? 1 : 0), 0)
  }

  /** What tools have answered since the model last spoke; empty when the request ends with something else. */
  get toolResults(): readonly ToolResult[] {
    this.results ??= toolResultsIn(this.request.messages)
    return this.results
  }
}

// OpenAI's newer models call their system messages developer messages.
const isInstruction = ({ role }: ChatMessage) => role === 'system' || role === 'developer'

function lastTextOf(messages: readonly ChatMessage[], role: ChatMessage['role']): string {
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]
    if (message?.role === role) return textOf(message)
  }
  return ''
}

/** Results stand behind the assistant's message that called for them, with nothing else in between. */
export function toolResultsIn(messages: readonly ChatMessage[]): readonly ToolResult[] {
  const isResult = ({ role }: ChatMessage) => role === 'tool' || role === 'function'
  const first = messages.findLastIndex(message => !isResult(message)) + 1
  const results = messages.slice(first)
  const called = results.length > 0 ? calledTools(messages) : new Map<unknown, string>()
  return results.map(message => ({ tool: toolOf(message, called), text: textOf(message) }))
}

/** A result says which call it answers, and the call says which tool; the older form says the tool itself. */
function toolOf(result: ChatMessage, called: ReadonlyMap<unknown, string>): string {
  if (typeof result.name === 'string') return result.name
  const { tool_call_id: id } = result as { readonly tool_call_id?: unknown }
  return called.get(id) ?? ''
}

/** The names of the tools that were called, by the ids of the calls; of two calls of one id the first counts. */
function calledTools(messages: readonly ChatMessage[]): ReadonlyMap<unknown, string> {
  const called = new Map<unknown, string>()
  for (const { tool_calls: calls } of messages as readonly { readonly tool_calls?: unknown }[]) {
    for (const call of Array.isArray(calls) ? calls : []) {
      const name = call?.function?.name ?? call?.custom?.name
      if (typeof name === 'string' && !called.has(call?.id)) called.set(call?.id, name)
    }
  }
  return called
}
