/** What a chat request tells the model besides the conversation, and how much of it a test sends. */
import type { ChatRequest } from '../chat/request.js'
import { messagesIn } from '../chat/said.js'
import { promptTokens, type Tokenizer } from '../chat/tokens/index.js'
import type { Exchange } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import { asksForChat } from '../endpoints/index.js'
import { comparedForm, type Ignore, type RecordedRequest, redactedRequest } from '../recordings/index.js'
import type { Redact } from '../redact/index.js'

type Fields = Readonly<Record<string, unknown>>

/** A system message, a tool, a schema, or parameters. */
export interface Definition {
  /** What it is, and its name: `system`, `tool get_order`. */
  readonly kind: string
  /** As the model counts it; 0 for parameters. */
  readonly tokens: number
  readonly value: unknown
}

export interface ChatCall {
  /** Without what `recordings.ignore` ignores, so that they are the same in each run. */
  readonly definitions: readonly Definition[]
  readonly promptTokens: number
  /** The longest of its messages, or its tools. */
  readonly longest: { readonly name: string; readonly tokens: number }
}

/** Reads a request that has been redacted; `undefined` if it does not ask for a chat completion. */
export function chatCallIn(request: RecordedRequest, ignore: Ignore, tokenizer: Tokenizer): ChatCall | undefined {
  const { method, path, body } = request
  if (method !== 'POST' || !asksForChat(path) || body.kind !== 'json' || !isObject(body.value)) return undefined
  const compared = comparedForm(request, ignore).body
  const none = promptTokens(chatWith({}), tokenizer)
  const tokensOf = (fields: Fields) => promptTokens(chatWith(fields), tokenizer) - none
  const { tools, functions } = body.value
  const parts = [
    ...messagesIn(body.value).map((message, i) => ({
      name: `messages[${i}]`,
      tokens: tokensOf({ messages: [message] }),
    })),
    { name: 'tools', tokens: tokensOf({ tools, functions }) },
  ]
  return {
    definitions: compared.kind === 'json' && isObject(compared.value) ? definitionsIn(compared.value, tokensOf) : [],
    promptTokens: tokensOf(body.value) + none,
    longest: parts.reduce((most, one) => (one.tokens > most.tokens ? one : most)),
  }
}

/** Reads the request of an exchange. */
export const chatCallReader = (redact: Redact, ignore: Ignore, tokenizer: Tokenizer) => (exchange: Exchange) =>
  asksForChat(exchange.path) ? chatCallIn(redactedRequest(exchange, redact).request, ignore, tokenizer) : undefined

const objectsIn = (list: unknown): readonly Fields[] => (Array.isArray(list) ? list.filter(isObject) : [])

/** With only what counts, as requests to the live platform are not checked. */
const chatWith = ({ tools, functions, response_format: format, ...body }: Fields) =>
  ({
    model: '',
    messages: messagesIn(body),
    tools: objectsIn(tools),
    functions: objectsIn(functions),
    response_format: isObject(format) ? format : undefined,
  }) as unknown as ChatRequest

/** Fields that say who asks, or how the answer is sent, and that may differ in each run. */
const otherFields = new Set(['messages', 'tools', 'functions', 'stream', 'stream_options', 'user', 'metadata', 'store'])

function definitionsIn(body: Fields, tokensOf: (fields: Fields) => number): readonly Definition[] {
  const { tools, functions, response_format: format } = body
  const schema = isObject(format) && isObject(format.json_schema) ? format.json_schema : undefined
  const parameters = Object.fromEntries(
    Object.entries(body).filter(([name]) => !otherFields.has(name) && !(schema && name === 'response_format')),
  )
  return [
    ...messagesIn(body)
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(message => define([message.role], message.content, tokensOf({ messages: [message] }))),
    ...objectsIn(tools).map(tool => {
      const called = tool.function ?? tool.custom ?? tool
      return define(['tool', isObject(called) && called.name], called, tokensOf({ tools: [tool] }))
    }),
    ...objectsIn(functions).map(one => define(['tool', one.name], one, tokensOf({ functions: [one] }))),
    ...(schema ? [define(['schema', schema.name], schema, tokensOf({ response_format: format }))] : []),
    define(['parameters'], parameters, 0),
  ]
}

const define = (names: readonly unknown[], value: unknown, tokens: number): Definition => ({
  kind: names.filter(name => typeof name === 'string' && name !== '').join(' '),
  tokens,
  value,
})

/** How often a test has used each definition, and the number of its calls. */
export interface Uses {
  calls: number
  /** By what they are, as one text. */
  readonly definitions: Map<string, { readonly definition: Definition; count: number }>
}

export const noUses = (): Uses => ({ calls: 0, definitions: new Map() })

/** Counts a call. A definition that it has twice counts once. */
export function addUses(uses: Uses, { definitions }: ChatCall): void {
  uses.calls++
  for (const [id, definition] of new Map(definitions.map(one => [idOf(one), one]))) {
    const use = uses.definitions.get(id) ?? { definition, count: 0 }
    use.count++
    uses.definitions.set(id, use)
  }
}

/** Equal for the same definition. */
export const idOf = ({ kind, value }: Omit<Definition, 'tokens'>) => JSON.stringify([kind, value])

/** What a test or a run has sent. */
export interface Sent {
  calls: number
  promptTokens: number
  /** The call with the most tokens. */
  largest: ChatCall | undefined
}

export function addToSent(sent: Sent, call: ChatCall): void {
  sent.calls++
  sent.promptTokens += call.promptTokens
  if (call.promptTokens > (sent.largest?.promptTokens ?? -1)) sent.largest = call
}

/** As configured; 0 is no limit. */
export interface Budget {
  readonly promptTokens: number
  readonly calls: number
}

/** Says by how much `who` has exceeded the budget; `undefined` if it has not. */
export function overBudget(who: string, { calls, promptTokens, largest }: Sent, budget: Budget): string | undefined {
  const isOver = (spent: number, most: number) => most > 0 && spent > most
  if (!isOver(promptTokens, budget.promptTokens) && !isOver(calls, budget.calls)) return undefined
  const limits = [
    ...(budget.promptTokens > 0 ? [tokensText(budget.promptTokens)] : []),
    ...(budget.calls > 0 ? [callsText(budget.calls)] : []),
  ]
  const spent = `${who}: ${tokensText(promptTokens)} in ${callsText(calls)}; the budget is ${limits.join(' and ')}.`
  if (!largest) return spent
  const { name, tokens } = largest.longest
  return `${spent} The largest call: ${tokensText(largest.promptTokens)}, of them ${name} ${numberText(tokens)}.`
}

const tokensText = (count: number) => `${numberText(count)} prompt tokens`
const callsText = (count: number) => `${numberText(count)} ${count === 1 ? 'call' : 'calls'}`
const numberText = (number: number) => number.toLocaleString('en')
