/** Which tools an app has called, over chat, MCP and paths, and whether they are those that a test expects. */
import { inspect, isDeepStrictEqual } from 'node:util'
import { clientCalls, toldCallsIn } from '../adversary/calls.js'
import { arrayOf, boolean, closed, optional, text } from '../check/forms.js'
import { jsonOf } from '../core/json.js'
import { glob } from '../core/paths.js'
import type { JournalEntry } from '../journal/index.js'
import { receivedInWords } from './in-words.js'
import { inputCheck } from './input-check.js'
import { toolCallIn } from './tools.js'

/** How the calls must be, beside being made. */
export interface CalledToolsOptions {
  /** Whether they are made in the order of the list. Others may come between them. */
  readonly order?: boolean | undefined
  /** What must not be called apart from the list; `['*']` for nothing else. */
  readonly never?: readonly string[] | undefined
}

const checked = inputCheck(
  'toHaveCalledTools',
  closed({
    names: arrayOf(text),
    order: optional(boolean, 'Whether the order counts.'),
    never: optional(arrayOf(text), 'What must not be called.'),
  }),
)

interface Call {
  /** A tool may have another name for the model than at its MCP server. A path has one with its method and one without. */
  readonly names: readonly string[]
  readonly arguments: unknown
  readonly over: 'chat' | 'MCP' | 'path'
}

/**
 * Checks the calls that were made. A name stands for a tool whose result the app told the model, or that it called over MCP; one with a
 * slash for a path, such as `POST /orders/*`.
 */
export function checkCalledTools(
  entries: readonly JournalEntry[],
  names: readonly string[],
  options: CalledToolsOptions = {},
) {
  const { order = false, never = [] } = checked({ names, ...options })
  const { made, open } = callsIn(entries)
  const calls = made.filter(call => call.over !== 'path' || isAny([...names, ...never], call))
  const { missing, others } = taken(calls, names, order)
  const forbidden = others.filter(call => isAny(never, call))
  return {
    pass: missing.length === 0 && forbidden.length === 0,
    message(): string {
      const listed = names.map(name => inspect(name)).join(', ')
      const sentences = [
        ...(missing.length > 0 ? [`Missing${order ? ` in the order ${listed}` : ''}: ${missing.join(', ')}.`] : []),
        ...(forbidden.length > 0 ? [`Called, but must never be: ${forbidden.map(titleOf).join(', ')}.`] : []),
        ...(missing.length + forbidden.length === 0 ? [`All of these were called: ${listed}.`] : []),
        ...(open.length > 0 ? [`The model asked for ${open.join(', ')}, and no request has the result.`] : []),
      ]
      const lines = calls.map((call, i) => `  ${i + 1}. ${titleOf(call)} ${argumentsOf(call)}· ${call.over}`)
      const received = calls.length > 0 ? ['Calls:', ...lines] : ['No tool was called.', '', receivedInWords(entries)]
      return [...sentences, '', ...received].join('\n')
    },
  }
}

const titleOf = ({ names: [name = ''] }: Call) => name

const argumentsOf = ({ arguments: given }: Call) =>
  given === undefined ? '' : `${inspect(given, { breakLength: Number.POSITIVE_INFINITY, maxStringLength: 80 })} `

/** A star alone stands for any tool, but for no path. */
const isAny = (patterns: readonly string[], { names, over }: Call) =>
  patterns
    .filter(pattern => over !== 'path' || pattern.includes('/'))
    .some(pattern => names.some(name => glob(pattern).test(name)))

/** Takes a call for each name, in any order or in that of the list; the calls that are left are others. */
function taken(calls: readonly Call[], names: readonly string[], order: boolean) {
  // A name that fits one tool only chooses before one with a star.
  const inTurn = order ? names : names.toSorted((one, other) => Number(one.includes('*')) - Number(other.includes('*')))
  const others = new Set(calls)
  const missing: string[] = []
  let from = 0
  for (const name of inTurn) {
    const at = calls.findIndex((call, i) => i >= from && others.has(call) && isAny([name], call))
    const call = calls[at]
    if (!call) missing.push(name)
    else others.delete(call)
    if (call && order) from = at + 1
  }
  return { missing, others: [...others] }
}

/** The calls that were made, in their order, and the names of those that the model asked for in vain. */
function callsIn(entries: readonly JournalEntry[]) {
  const made: Call[] = []
  /** Calls over MCP that no chat has told the model about. */
  const untold = new Set<Call>()
  /** By the id of the model's call: how many answers asked for it, and how many results there were. */
  const counts = new Map<string, { name: string; asked: number; told: number }>()
  const countOf = (id: string, name: string) => {
    const count = counts.get(id) ?? { name, asked: 0, told: 0 }
    counts.set(id, count)
    return count
  }

  function takeChat(body: unknown): void {
    for (const { id, name, arguments: text } of toldCallsIn(body)) {
      const given = typeof text === 'string' ? jsonOf(text) : text
      const count = countOf(id, name)
      // Each later request of the conversation tells the same again.
      if (count.told >= Math.max(1, count.asked)) continue
      count.told++
      const overMcp = [...untold].find(call => isSameTool(name, titleOf(call)) && isSame(given, call.arguments))
      if (!overMcp) made.push({ names: [name], arguments: given, over: 'chat' })
      else made[made.indexOf(overMcp)] = { ...overMcp, names: [...overMcp.names, name] }
      if (overMcp) untold.delete(overMcp)
    }
  }

  for (const { kind, method, path, body, complete, fault, answer } of clientCalls(entries)) {
    if (kind === 'chat') takeChat(body)
    for (const { id, name } of answer.toolCalls) countOf(id, name).asked += Number(complete && !fault)
    if (kind === 'path') made.push({ names: [`${method} ${path}`, path], arguments: undefined, over: 'path' })
    if (kind !== 'tool') continue
    const { name = '', arguments: given } = toolCallIn(body) ?? {}
    const call: Call = { names: [name], arguments: given, over: 'MCP' }
    made.push(call)
    untold.add(call)
  }
  const open = [...counts.values()].filter(({ told }) => told === 0).map(({ name }) => name)
  return { made, open: [...new Set(open)] }
}

/** Clients put the name of the server before that of a tool: `mcp__weather__get_weather`. */
const isSameTool = (name: string, atServer: string) =>
  name === atServer || (name.endsWith(atServer) && /[^a-z0-9]$/i.test(name.slice(0, -atServer.length)))

const isSame = (one: unknown = {}, other: unknown = {}) => isDeepStrictEqual(one, other)
