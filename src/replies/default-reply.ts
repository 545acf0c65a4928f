/** The reply if no rule has an answer: a few sentences, the requested JSON, or a tool call. */
import type { Choice, Generation } from '../chat/generation.js'
import { type ChatRequest, textOf } from '../chat/request.js'
import { demandOf } from '../chat/tools.js'
import { PlatformError, refusal } from '../core/errors.js'
import { isObject, jsonOf } from '../core/json.js'
import { type ToolResult, toolResultsIn } from './chat/input.js'
import { fakeReplies, seedOf, seedOfTexts, variant } from './fake.js'
import { sampled, UnfitSchema } from './structured/index.js'

/** The maximum number of different texts, and of different values, for one request. OpenAI allows 128 choices. */
const MOST_TEXTS = 128
const MOST_VALUES = 8

/** The same for the same request and seed. Rejects with a 400 if no value fits a schema. */
export async function defaultReply(request: ChatRequest, seed: number): Promise<Generation> {
  const tool = calledTool(request)
  if (tool) return canned('tool call', await callsOf(tool, request, seed))
  const { response_format: format } = request
  const { name, schema } = format?.json_schema ?? {}
  if (format?.type === 'json_schema' && name && schema) {
    const wanted = { name, schema, field: 'response_format.json_schema.schema' }
    return canned('JSON', await jsonTexts(wanted, request, seed))
  }
  // OpenAI's types allow a name without a schema.
  if (format && format.type !== 'text') return canned('JSON', await objects(request, seed))
  const results = toolResultsIn(request.messages)
  return canned('reply', results.length > 0 ? [{ text: reportOf(results) }] : asChoices(await texts(request, seed)))
}

const canned = (form: 'tool call' | 'JSON' | 'reply', choices: readonly Choice[]): Generation => ({
  choices,
  answeredBy: { kind: 'canned', form },
})

/** The number of characters of a result that are repeated. */
const MOST_REPEATED = 2000

/** After tool calls, a model reports the results. Repeating them shows the app that its result arrived. */
function reportOf(results: readonly ToolResult[]): string {
  const shortened = (text: string) => (text.length > MOST_REPEATED ? `${text.slice(0, MOST_REPEATED)}…` : text)
  return results.map(({ tool, text }) => `${tool || 'The tool'} says: ${shortened(text)}`).join('\n')
}

const countOf = ({ n }: ChatRequest, most: number) => Math.min(n ?? 1, most)

const texts = (request: ChatRequest, seed: number) => fakeReplies(request, seed, countOf(request, MOST_TEXTS))

const asChoices = (texts: readonly string[]): readonly Choice[] => texts.map(text => ({ text }))

/** A call of this tool for each choice, with arguments that fit. */
export async function callsOf(tool: CalledTool, request: ChatRequest, seed: number): Promise<readonly Choice[]> {
  const { kind, name } = tool
  const all = await argumentsOf(tool, request, seed)
  return all.map(args => ({ text: null, toolCalls: [{ kind, name, arguments: args }] }))
}

async function argumentsOf(tool: CalledTool, request: ChatRequest, seed: number): Promise<readonly string[]> {
  const { kind, name, parameters, field } = tool
  if (kind === 'custom') return texts(request, seed)
  // `true` would allow any value, but arguments have names.
  const schema = typeof parameters === 'object' && parameters !== null ? asObject(parameters) : (parameters ?? true)
  if (schema === true) return ['{}']
  return values({ name, schema, field }, request, seed)
}

/** Arguments are always an object, even if their schema does not say so. */
const asObject = (schema: object) => ('type' in schema || '$ref' in schema ? schema : { type: 'object', ...schema })

/** An example in the prompt is only a hint: if no value fits it, any object will do. */
async function objects(request: ChatRequest, seed: number): Promise<readonly Choice[]> {
  const { schema } = request.response_format ?? {}
  if (schema) return jsonTexts({ name: 'json_object', schema, field: 'response_format.schema' }, request, seed)
  const wanted = { name: 'json_object', schema: promptedSchema(request), field: 'response_format' }
  try {
    return await jsonTexts(wanted, request, seed)
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    return jsonTexts({ ...wanted, schema: anyAnswer }, request, seed)
  }
}

async function jsonTexts(wanted: SchemaRequest, request: ChatRequest, seed: number): Promise<readonly Choice[]> {
  return asChoices(await values(wanted, request, seed))
}

interface SchemaRequest {
  readonly name: string
  readonly schema: unknown
  /** The position of the schema in the request. */
  readonly field: string
}

/** Generates values as JSON, one for each choice. */
async function values(
  { name, schema, field }: SchemaRequest,
  request: ChatRequest,
  seed: number,
): Promise<readonly string[]> {
  const firstSeed = seedOfTexts([seedOf(request, seed), name])
  try {
    const seeds = Array.from({ length: countOf(request, MOST_VALUES) }, (_, i) => variant(firstSeed, i))
    return (await sampled({ schema, seeds, name })).map(value => JSON.stringify(value))
  } catch (error) {
    throw error instanceof UnfitSchema ? unfitSchema(field, error.message) : error
  }
}

/** Only this much at the end of a conversation is read. */
const CHARACTERS_READ = 20_000

const MOST_NAMES = 12

/**
 * Guesses the form of a JSON object that is only described in the prompt: the last JSON Schema in it, one like its last
 * example, or one with the names in quotes. If there is none, the object has an answer.
 */
function promptedSchema({ messages }: ChatRequest): object {
  const instructions = messages.filter(({ role }) => role !== 'assistant' && role !== 'tool' && role !== 'function')
  const text = instructions.map(textOf).join('\n').slice(-CHARACTERS_READ)
  const example = exampleIn(text)
  if (example) return isSchema(example) ? { type: 'object', ...example } : schemaLike(example, 0)
  const names = Array.from(text.matchAll(/(["'`])([A-Za-z_][\w-]{0,39})\1/g), ([, , name = '']) => name)
  const fields = [...new Set(names)].filter(name => !/^json(_object)?$/i.test(name)).slice(0, MOST_NAMES)
  return fields.length > 0 ? withProperties(fields.map(name => [name, {}])) : anyAnswer
}

/** More texts in braces than this are no examples. */
const MOST_TRIED = 50

/** The last JSON object in a text that is not empty; of nested objects, the outer one. */
function exampleIn(text: string): object | undefined {
  const open: number[] = []
  const found: string[] = []
  // Braces within texts are usually closed as well, and quotes are not: a 5" screen.
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
    if (brace === '{') open.push(index)
    else found.push(text.slice(open.pop() ?? index, index + 1))
  }
  return found
    .slice(-MOST_TRIED)
    .reverse()
    .map(jsonOf)
    .find(value => isObject(value) && Object.keys(value).length > 0) as object | undefined
}

function withProperties(properties: readonly (readonly [string, object])[]) {
  return { type: 'object', properties: Object.fromEntries(properties), required: properties.map(([name]) => name) }
}

const anyAnswer = withProperties([['answer', { type: 'string' }]])

/** Client libraries put a JSON Schema into the prompt if a model does not support one. Some leave out its type. */
const isSchema = ({ type = 'object', properties }: { readonly type?: unknown; readonly properties?: unknown }) =>
  type === 'object' && isObject(properties) && Object.values(properties).every(isObject)

/** A schema for values like this one: the same names and types, with other texts and numbers. */
function schemaLike(value: unknown, depth: number): object {
  if (depth > 20) return {}
  if (Array.isArray(value)) {
    return value.length === 0
      ? { type: 'array' }
      : { type: 'array', minItems: 1, items: schemaLike(value[0], depth + 1) }
  }
  switch (typeof value) {
    case 'string':
      return { type: 'string', ...choicesIn(value) }
    case 'boolean':
      return { type: 'boolean' }
    case 'number':
      return { type: Number.isInteger(value) ? 'integer' : 'number' }
    default:
      return value === null
        ? {}
        : withProperties(Object.entries(value as object).map(([k, v]) => [k, schemaLike(v, depth + 1)]))
  }
}

/** Prompts often contain `"sentiment": "positive|neutral|negative"`. */
function choicesIn(text: string): object {
  const choices = text.split('|').map(choice => choice.trim())
  return choices.length > 1 && choices.every(choice => /^[\w -]{1,30}$/.test(choice)) ? { enum: choices } : {}
}

/** `why` is the reason why no value can be generated for the schema in `field`. */
const unfitSchema = (field: string, why: string) => refusal(400, 'unfit_schema', `${field} cannot be answered: ${why}.`)

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
function calledTool(request: ChatRequest): CalledTool | undefined {
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

/** Significant words: `getWeather` contains "weather". */
const wordsIn = (text: string): readonly string[] =>
  text
    .slice(0, 20_000)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter(word => word.length > 3)
