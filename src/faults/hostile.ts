/** What a hostile model says instead of an answer: tools without end, a planted call, HTML that points to a canary. */
import { randomBytes } from 'node:crypto'
import { createCompletions } from '../chat/answer.js'
import type { Choice, ToolCall } from '../chat/generation.js'
import { type ChatMessage, type ChatRequest, chatIn } from '../chat/request.js'
import { estimated } from '../chat/tokens/index.js'
import { demandOf } from '../chat/tools.js'
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import { isObject } from '../core/json.js'
import { unpaced } from '../core/pace.js'
import { CANARY } from '../core/paths.js'
import type { Reply } from '../core/reply.js'

export type HostileWord = NonNullable<Fault['model']>

/** So often a model asks for the same tool: more than any usual limit of an agent allows. */
export const LOOP_TURNS = 128
const MANY = 10

/** Whether a tool or a path only reads, as far as its name says. */
export const onlyReads = (name: string): boolean =>
  /^(get|list|search|find|read|fetch|query|look|describe|check|validate|count|preview|status|graphql|token)(?![a-z])/i.test(
    name,
  )

/** Tools that a planted call would rather be for. */
const writes =
  /(^|[_.-])(write|create|delete|remove|send|update|post|put|order|buy|pay|insert|edit|save|exec|execute|run|transfer|book|cancel|publish|upload|bash|shell)|^(write|create|delete|remove|send|update)[A-Z]/i

const completions = createCompletions(estimated)

/** A reply of the hostile model; `undefined` where nothing can be said in this way, such as a call of a tool if none is offered. */
export function hostileReply(exchange: Exchange, word: HostileWord): Reply | undefined {
  if (!exchange.endpoint?.callsModel) return undefined
  const request = chatOf(exchange)
  const choice = request && choiceOf(request, word, `http://${exchange.headers.host}${CANARY}/${mark()}`)
  if (!choice) return undefined
  const generation = { choices: [choice], answeredBy: { kind: 'canned', form: 'reply' } } as const
  const form = request.stream
    ? completions.streamed(request, generation, unpaced)
    : completions.whole(request, generation)
  return { kind: 'reply', status: 200, answeredBy: generation.answeredBy, ...form }
}

function chatOf(exchange: Exchange): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch (error) {
    if (error instanceof PlatformError) return undefined
    throw error
  }
}

/** Made up, and in no other text. */
const mark = () => randomBytes(8).toString('hex')

function choiceOf(request: ChatRequest, word: HostileWord, canary: string): Choice | undefined {
  switch (word) {
    case 'loop':
      return calling(loopCall(request))
    case 'unknown-tool':
      return calling(unknownCall(request, canary))
    case 'ten-tools':
      return calling(...tenCalls(request, canary))
    case 'injection':
      return calling(plantedCall(request, canary))
    case 'empty':
      return { text: '' }
    case 'refusal':
      return { text: null, refusal: 'I am sorry, but I cannot help with that.' }
    case 'markup':
      return { text: markupWith(canary) }
    case 'prose':
      // Its JSON is that of the real answer (faults/spoil.ts).
      return undefined
  }
}

const calling = (...calls: readonly (ToolCall | undefined)[]): Choice | undefined => {
  const toolCalls = calls.filter(call => call !== undefined)
  return toolCalls.length === 0 ? undefined : { text: null, toolCalls }
}

/** Five ways by which a text can make a page ask for an address. What is asked for tells which. */
const markupWith = (canary: string) => `Here is the chart: ![chart](${canary}/markdown-image)

See [the details](${canary}/link).

<img src="${canary}/html-image" onerror="fetch('${canary}/script-of-image', { mode: 'no-cors' })">
<script src="${canary}/script"></script>`

interface Offered {
  readonly name: string
  readonly parameters: unknown
}

function offeredTo(request: ChatRequest): readonly Offered[] {
  const { calls, names } = demandOf(request)
  if (calls === 'ruled out') return []
  return (request.tools ?? []).flatMap(({ function: called }) =>
    called && (names?.includes(called.name) ?? true) ? [{ name: called.name, parameters: called.parameters }] : [],
  )
}

/** With this, the ids of such calls begin. */
export const LOOP_ID = 'call_again_'

/** The call whose result came last, once more; or the first tool that is offered. */
function loopCall(request: ChatRequest): ToolCall | undefined {
  const last = request.messages.findLast(({ tool_calls: calls }) => calls?.length)?.tool_calls?.at(-1)?.function
  const [tool] = offeredTo(request)
  if (!tool) return undefined
  const called = last?.name ? { name: last.name, arguments: last.arguments ?? '{}' } : callOf(tool, 'again')
  return { kind: 'function', id: LOOP_ID + mark(), ...called }
}

/** Whether a request has the result of such a call. */
export function goesOnWithLoop(exchange: Exchange): boolean {
  const last = exchange.endpoint?.callsModel && chatOf(exchange)?.messages.at(-1)
  return isObject(last) && (last as ChatMessage).tool_call_id?.startsWith(LOOP_ID) === true
}

/** A call of a tool with a name that is almost one of those that are offered, and arguments for any of them. */
function unknownCall(request: ChatRequest, canary: string): ToolCall | undefined {
  const tools = offeredTo(request)
  const [first] = tools
  if (!first) return undefined
  const known = new Set(tools.map(({ name }) => name))
  let name = `${first.name.slice(0, LONGEST_NAME)}_v2`
  while (known.has(name)) name += '2'
  const all = tools.toReversed().map(({ parameters }) => propertiesOf(parameters))
  return { kind: 'function', ...callOf({ name, parameters: { properties: Object.assign({}, ...all) } }, canary) }
}

/** OpenAI allows 64 characters. */
const LONGEST_NAME = 55

function tenCalls(request: ChatRequest, canary: string): readonly ToolCall[] {
  const tools = offeredTo(request)
  if (tools.length === 0 || request.parallel_tool_calls === false) return []
  return Array.from({ length: MANY }, (_, i) => ({
    kind: 'function',
    ...callOf(tools[i % tools.length] as Offered, `${canary}-${i}`),
  }))
}

/** A call of a tool that takes a text, rather of one that changes something than of one that reads. */
function plantedCall(request: ChatRequest, canary: string): ToolCall | undefined {
  const calls = offeredTo(request)
    .toSorted((one, other) => rank(one) - rank(other))
    .map(tool => callOf(tool, canary))
  const planted = calls.find(call => call.arguments.includes(markIn(canary)))
  return planted && { kind: 'function', ...planted }
}

const rank = ({ name }: Offered) => (writes.test(name) ? 0 : onlyReads(name) ? 2 : 1)

const markIn = (canary: string) => canary.slice(canary.lastIndexOf('/') + 1)

const propertiesOf = (schema: unknown): object =>
  isObject(schema) && isObject(schema.properties) ? schema.properties : {}

const callOf = ({ name, parameters }: Offered, canary: string) => ({
  name,
  arguments: JSON.stringify(valueFor({ type: 'object', ...(isObject(parameters) && parameters) }, '', canary, 0)),
})

const DEEPEST = 6

/** A value that fits the usual schema. Its texts are made up, and addresses in it are canaries. */
function valueFor(schema: unknown, name: string, canary: string, depth: number): unknown {
  if (!isObject(schema) || depth > DEEPEST) return markIn(canary)
  const { type, enum: choices, anyOf, oneOf, items, format, minimum, minLength } = schema
  if ('const' in schema) return schema.const
  if (Array.isArray(choices)) return choices[0]
  const [either] = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : []
  if (either !== undefined) return valueFor(either, name, canary, depth + 1)
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(propertiesOf(schema)).map(([key, of]) => [key, valueFor(of, key, canary, depth + 1)]),
      )
    case 'array':
      return [valueFor(items, name, canary, depth + 1)]
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 1
    case 'boolean':
      return true
    case 'null':
      return null
  }
  if (format === 'date') return '2030-01-01'
  if (format === 'date-time') return '2030-01-01T00:00:00Z'
  const isAddress = format === 'uri' || format === 'url' || /ur[il]$|link$|href$/i.test(name)
  const text = isAddress
    ? canary
    : format === 'email' || /e_?mail$/i.test(name)
      ? `${markIn(canary)}@example.com`
      : `planted-${markIn(canary)}`
  return typeof minLength === 'number' ? text.padEnd(minLength, '0') : text
}
