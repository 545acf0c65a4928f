/**
 * Which requests belong to one run of an agent. The requests alone tell: a chat answers the tool calls of an earlier
 * answer, and a call of a tool, over MCP or on a path, has the arguments that an earlier answer asked for.
 */
import { isDeepStrictEqual } from 'node:util'
import { type ContentCall, chunkIn, completionIn, contentOf, createSum } from '../chat/reader.js'
import type { Exchange } from '../core/exchange.js'
import { replyBytes } from '../core/http.js'
import { isObject, jsonOf } from '../core/json.js'
import { asksForChat } from '../endpoints/index.js'
import { READ_BYTES } from './facts.js'

/** A tool, and the arguments for it. */
interface ToolCall {
  readonly name: string
  readonly arguments: unknown
}

/** What one request tells about its run. */
export interface RunStep {
  readonly id: number
  /** The messages of a chat, each as JSON. */
  readonly conversation: readonly string[]
  /** The ids of the tool calls that the chat has results for, the latest last. */
  readonly results: readonly string[]
  /** What its answer asked for. */
  readonly asked: readonly (ToolCall & { readonly id: string })[]
  /** The tool that it calls over MCP. */
  readonly call?: ToolCall | undefined
  /** The words of its path, query and body, if it may be a tool's request. */
  readonly words?: ReadonlySet<string> | undefined
}

interface OpenCall extends ToolCall {
  readonly id: string
  readonly run: number
  readonly conversation: readonly string[]
  isMade: boolean
}

/** More calls than agents make before they use the first result. */
const MOST_CALLS = 2000

/** Finds the run of each step, given in their order: the id of the step with which it began. */
export function createRuns() {
  let calls: OpenCall[] = []

  /** The calls of several agents may have the same id, as when a recording answers them: the conversation decides. */
  function ofChat({ results, conversation }: RunStep): number | undefined {
    const candidates = calls.filter(({ id }) => id !== '' && id === results.at(-1))
    const own = candidates.findLast(call => call.conversation.every((message, i) => message === conversation[i]))
    return (own ?? candidates.at(-1))?.run
  }

  /** Of calls that are the same, the one that was asked for first and not made yet; after that it is a repetition. */
  function ofCall(fits: (call: OpenCall) => boolean, isPeek: boolean): number | undefined {
    const same = calls.filter(fits)
    const call = same.find(({ isMade }) => !isMade) ?? same.at(-1)
    if (call && !isPeek) call.isMade = true
    return call?.run
  }

  function known(step: RunStep, isPeek: boolean): number | undefined {
    const { call, words } = step
    return (
      ofChat(step) ??
      (call &&
        ofCall(
          ({ name, arguments: given }) => name === call.name && isDeepStrictEqual(given, call.arguments),
          isPeek,
        )) ??
      (words && ofCall(({ arguments: given }) => areAllIn(leavesOf(given), words), isPeek))
    )
  }

  return {
    take(step: RunStep): number {
      const run = known(step, false) ?? step.id
      calls.push(...step.asked.map(one => ({ ...one, run, conversation: step.conversation, isMade: false })))
      calls = calls.slice(-MOST_CALLS)
      return run
    },
    /** The run of a step that has not ended; `undefined` if it belongs to none so far. */
    peek: (step: RunStep): number | undefined => known(step, true),
  }
}

const areAllIn = (leaves: readonly string[], words: ReadonlySet<string>) =>
  leaves.length > 0 && leaves.every(leaf => words.has(leaf))

/** The texts and numbers in a value. */
function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** Finds the runs of exchanges, and the beginning of what was said in them. */
export function createRunMarks() {
  const runs = createRuns()
  return {
    /** Sets both for exchanges, which it is given in their order. */
    mark(id: number, exchange: Exchange): void {
      const choices = choicesOf(exchange)
      const calls = choices.flatMap(({ message }) => contentOf(message).calls)
      const [first] = choices
      const called = calls.map(({ name, arguments: given }) => `${name} ${given}`)
      exchange.spoken = calls.length > 0 ? `→ ${called.join(', ')}` : first && contentOf(first.message).text
      exchange.run = runs.take(stepOf(id, exchange, calls))
    },
    /** The run of an exchange that has not ended; `undefined` if it belongs to none so far. */
    peek: (exchange: Exchange): number | undefined => runs.peek(stepOf(0, exchange, [])),
  }
}

function stepOf(id: number, exchange: Exchange, calls: readonly ContentCall[]): RunStep {
  const { body, chat, endpoint, path, query } = exchange
  const json: unknown = chat ?? (body && body.length <= READ_BYTES && body[0] === 0x7b ? jsonOf(body) : undefined)
  const fields = isObject(json) ? json : {}
  const messages = Array.isArray(fields.messages) ? fields.messages : []
  const isTool = messages.length === 0 && endpoint !== undefined && fields.jsonrpc === undefined
  return {
    id,
    conversation: messages.map(message => JSON.stringify(message)),
    results: messages.flatMap(message => (isObject(message) ? textOf(message.tool_call_id) : [])),
    asked: calls.map(one => ({ ...one, arguments: jsonOf(one.arguments) ?? one.arguments })),
    call: rpcCall(fields),
    words: isTool && !path.startsWith('/auth/') ? wordsOf(path, query, json) : undefined,
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? [value] : [])

function rpcCall({ jsonrpc, method, params }: Readonly<Record<string, unknown>>): ToolCall | undefined {
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isObject(params) || typeof params.name !== 'string') return
  return { name: params.name, arguments: params.arguments ?? {} }
}

function wordsOf(path: string, query: string, body: unknown): ReadonlySet<string> {
  const segments = path.split('/').map(segment => {
    try {
      return decodeURIComponent(segment)
    } catch {
      return segment
    }
  })
  return new Set([...segments, ...new URLSearchParams(query).values(), ...leavesOf(body)])
}

/** The choices of a chat's answer, whole or streamed. */
function choicesOf({ path, outcome }: Exchange) {
  const { answer } = outcome ?? {}
  if (!answer || !asksForChat(path)) return []
  const bytes = answer.kind === 'reply' ? replyBytes(answer) : Buffer.concat(answer.beginning)
  if (bytes.length > READ_BYTES) return []
  return (completionIn(jsonOf(bytes)) ?? streamedIn(bytes.toString('utf8'))).choices ?? []
}

function streamedIn(text: string) {
  const sum = createSum()
  for (const [, data] of text.matchAll(/^data: ?(\{.*)$/gm)) {
    const chunk = chunkIn(jsonOf(data ?? ''))
    if (chunk) sum.add(chunk)
  }
  return sum.completion()
}
