/** Finds which of the offered tools a request wants to be called. */
import { type ChatRequest, textOf } from '../chat/request.js'
import { demandOf } from '../chat/tools.js'

/** A tool to call. */
export interface CalledTool {
  readonly kind: 'function' | 'custom'
  readonly name: string
  /** The JSON Schema of a function's arguments, if it has one. */
  readonly parameters: unknown
  /** The position of that schema in the request. */
  readonly field: string
}

interface OfferedTool extends CalledTool {
  readonly description: string
}

/** The tool that the model must call; `undefined` if it may answer with text. */
export function calledTool(request: ChatRequest): CalledTool | undefined {
  const { calls, names } = demandOf(request)
  if (calls !== 'required') return undefined
  const offered = request.tool_choice ? offeredTools(request) : offeredFunctions(request)
  return mostFitting(names ? offered.filter(({ name }) => names.includes(name)) : offered, request)
}

/** The tools that the model itself can call. */
export function offeredTools({ tools }: ChatRequest): readonly OfferedTool[] {
  return (tools ?? []).flatMap(({ type, function: asFunction, custom }, i): OfferedTool[] => {
    const field = `tools[${i}].function.parameters`
    if (type === 'function' && asFunction) return [{ ...offered(asFunction), field, kind: 'function' }]
    return type === 'custom' && custom ? [{ ...offered(custom), field, kind: 'custom' }] : []
  })
}

const offeredFunctions = ({ functions }: ChatRequest): readonly OfferedTool[] =>
  (functions ?? []).map((one, i) => ({ ...offered(one), field: `functions[${i}].parameters`, kind: 'function' }))

const offered = (one: { name: string; description?: string | null | undefined; parameters?: unknown }) => ({
  name: one.name,
  description: one.description ?? '',
  parameters: one.parameters,
})

/** The tool that shares most words with the last user message; the first one of several. */
function mostFitting(tools: readonly OfferedTool[], { messages }: ChatRequest): OfferedTool | undefined {
  const lastUserMessage = messages.findLast(({ role }) => role === 'user')
  const words = new Set(wordsIn(lastUserMessage ? textOf(lastUserMessage) : ''))
  const shared = ({ name, description }: OfferedTool) =>
    new Set(wordsIn(`${name} ${description}`).filter(word => words.has(word))).size
  return tools.reduce<OfferedTool | undefined>(
    (best, tool) => (best === undefined || shared(tool) > shared(best) ? tool : best),
    undefined,
  )
}

/** Significant words: `getWeather` contains "weather", and so does "the weathers". */
const wordsIn = (text: string): readonly string[] =>
  text
    .slice(0, 20_000)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter(word => word.length > 2 && !tooCommon.has(word))
    .map(word => (word.length > 4 ? word.replace(/s$/, '') : word))

const tooCommon = new Set(
  'the and for get set with from this that what you your please can are was has have not all'.split(' '),
)
