/** The parts of a request that rules look at, computed on first use. */
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type ChatMessage, type ChatRequest, chatIn, textOf } from '../../chat/request.js'
import { anonymous, type Caller, type Exchange } from '../../core/exchange.js'
import { parseExact } from '../../core/json.js'
import { countingMessages, fingerprintOf } from '../fingerprint.js'

/** A tool result since the last answer of the model. */
export interface ToolResult {
  /** The name of the tool; empty if it is unknown which call the result answers. */
  readonly tool: string
  readonly text: string
}

/** The caller, and other facts besides the request. */
export interface ChatCircumstances {
  readonly headers?: IncomingHttpHeaders
  readonly caller?: Caller
  readonly scope?: string
  readonly body?: Buffer | undefined
}

/**
 * A request as rules see it. A class, since each request has one, and an object literal with getters takes ten times as
 * long to create.
 */
export class ChatInput {
  readonly request: ChatRequest
  readonly headers: IncomingHttpHeaders
  readonly caller: Caller
  /** The scope whose memory is used. */
  readonly scope: string
  readonly isDemanding: boolean
  /** The text of the last user message; empty if there is none. */
  readonly user: string
  private systemText: string | undefined
  private assistantText: string | undefined
  private allTexts: readonly string[] | undefined
  private results: readonly ToolResult[] | undefined
  private readonly body: Buffer | undefined
  private exactRequest: object | undefined
  private ownFingerprint: string | undefined

  constructor(request: ChatRequest, { headers = {}, caller = anonymous, scope = '', body }: ChatCircumstances = {}) {
    this.request = request
    this.headers = headers
    this.caller = caller
    this.scope = scope
    this.body = body
    this.isDemanding = Boolean(request.tool_choice || request.function_call)
    this.user = lastTextOf(request.messages, 'user')
  }

  /** The texts of all system and developer messages, one per line. */
  get system(): string {
    this.systemText ??= this.request.messages.filter(isInstruction).map(textOf).join('\n')
    return this.systemText
  }

  /** The text of the last assistant message; empty if there is none. */
  get assistant(): string {
    this.assistantText ??= lastTextOf(this.request.messages, 'assistant')
    return this.assistantText
  }

  /** The texts of all messages. */
  get texts(): readonly string[] {
    this.allTexts ??= this.request.messages.map(textOf)
    return this.allTexts
  }

  /**
   * The conversation's header, or else the messages up to the first user message, which clients repeat with every turn.
   */
  get conversation(): string {
    const id = this.headers['x-conversation-id']
    const { messages } = this.request
    const first = messages.slice(0, messages.findIndex(({ role }) => role === 'user') + 1)
    return hash('sha256', id === undefined ? JSON.stringify(first.map(m => [m.role, textOf(m)])) : `id ${id}`, 'hex')
  }

  get fingerprint(): string {
    this.ownFingerprint ??= fingerprintOf(countingMessages(this.request.messages))
    return this.ownFingerprint
  }

  /** The request with all digits of long whole numbers, as BigInts. */
  get exact(): object {
    this.exactRequest ??=
      (this.body && (parseExact(this.body.toString().replace(/^\ufeff/, '')) as object)) ?? this.request
    return this.exactRequest
  }

  /** The number of user messages: 1 in the first turn. */
  get turn(): number {
    return this.request.messages.reduce((sum, { role }) => sum + (role === 'user' ? 1 : 0), 0)
  }

  /** The tool results since the last answer of the model; empty if the request ends with another message. */
  get toolResults(): readonly ToolResult[] {
    this.results ??= toolResultsIn(this.request.messages)
    return this.results
  }
}

// OpenAI's newer models call system messages developer messages.
const isInstruction = ({ role }: ChatMessage) => role === 'system' || role === 'developer'

function lastTextOf(messages: readonly ChatMessage[], role: ChatMessage['role']): string {
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]
    if (message?.role === role) return textOf(message)
  }
  return ''
}

/** Results directly follow the assistant message that called for them. */
export function toolResultsIn(messages: readonly ChatMessage[]): readonly ToolResult[] {
  const isResult = ({ role }: ChatMessage) => role === 'tool' || role === 'function'
  const first = messages.findLastIndex(message => !isResult(message)) + 1
  const results = messages.slice(first)
  const called = results.length > 0 ? calledTools(messages) : new Map<unknown, string>()
  return results.map(message => ({ tool: toolOf(message, called), text: textOf(message) }))
}

/**
 * A result names the call it answers, and the call names the tool. In the older form, the result names the tool itself.
 */
function toolOf(result: ChatMessage, called: ReadonlyMap<unknown, string>): string {
  if (typeof result.name === 'string') return result.name
  const { tool_call_id: id } = result as { readonly tool_call_id?: unknown }
  return called.get(id) ?? ''
}

/** The names of the called tools by call id. If an id is used twice, the first call counts. */
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

/** The chat request of an exchange; `undefined` if it is invalid here, since the live platform may still accept it. */
export function findChat(exchange: Exchange): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch {
    return undefined
  }
}
