/** The parameters of a request, as the user enters them. */
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { isObject, parsed } from '../widgets/json.js'

/** Text as in the fields, except for `stream`. */
export const firstSettings = {
  /** Empty for the first model in the list. */
  model: '',
  temperature: '',
  maxTokens: '',
  seed: '',
  stream: true,
  tools: '',
  toolChoice: 'auto',
  responseFormat: '',
  /** Further fields of the request, as a JSON object. */
  extra: '',
}

export type PlaygroundSettings = Readonly<typeof firstSettings>
export type SettingName = keyof PlaygroundSettings

/** The request body, or the first invalid setting and what is wrong with it. */
type RequestBody =
  | { readonly body: object }
  | { readonly wrong: { readonly name: SettingName; readonly sentence: string } }

export function bodyWith(settings: PlaygroundSettings, model: string, messages: readonly object[]): RequestBody {
  for (const name of Object.keys(checks) as SettingName[]) {
    const sentence = problemIn(settings, name)
    if (sentence !== undefined) return { wrong: { name, sentence } }
  }
  const { temperature, maxTokens, seed, stream, toolChoice } = settings
  const tools = toolsIn(settings.tools)
  const choice = tools && choiceOf(toolChoice, tools)
  const responseFormat = formatIn(settings.responseFormat)
  const extra = parsed(settings.extra)
  return {
    body: {
      model,
      messages,
      ...(temperature.trim() !== '' && { temperature: Number(temperature) }),
      ...(maxTokens.trim() !== '' && { max_tokens: Number(maxTokens) }),
      ...(seed.trim() !== '' && { seed: Number(seed) }),
      ...(tools && { tools }),
      ...(choice !== undefined && { tool_choice: choice }),
      ...(responseFormat && { response_format: responseFormat }),
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
      ...(isObject(extra) && extra),
    },
  }
}

type Check<Value> = (value: Value) => string | undefined

const aNumber: Check<string> = text =>
  Number.isFinite(Number(text)) ? undefined : 'Enter a number, or leave it empty.'

const json =
  (check: Check<unknown>): Check<string> =>
  text => {
    const value = parsed(text)
    return value === undefined ? placeOfProblem(text) : check(value)
  }

const anObject = json(value => (isObject(value) ? undefined : 'This must be a JSON object.'))

const checks: Readonly<Partial<Record<SettingName, Check<string>>>> = {
  temperature: aNumber,
  maxTokens: aNumber,
  seed: aNumber,
  tools: json(problemInTools),
  responseFormat: anObject,
  extra: anObject,
}

/** What is wrong with the syntax of a setting. The platform checks the value. */
export function problemIn(settings: PlaygroundSettings, name: SettingName): string | undefined {
  const text = String(settings[name])
  return text.trim() === '' ? undefined : checks[name]?.(text)
}

/** Where a text stops being valid JSON. Not all browsers say so themselves. */
function placeOfProblem(text: string): string {
  const errors: ParseError[] = []
  try {
    parse(text, errors, { disallowComments: true })
  } catch {
    // Too deeply nested for the parser.
  }
  const [first] = errors
  if (!first) return 'This is not valid JSON.'
  const before = text.slice(0, first.offset).split('\n')
  const what = printParseErrorCode(first.error).replace(/\B[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
  return `Line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${what}.`
}

interface Tool {
  readonly type?: unknown
  readonly function?: { readonly name?: unknown }
  readonly custom?: { readonly name?: unknown }
}

/** The name of a tool, or of the tool that a `tool_choice` names. */
export const toolName = (tool: unknown) => {
  const { type, function: fn, custom } = (tool ?? {}) as Tool
  const name = type === 'custom' ? custom?.name : fn?.name
  return typeof name === 'string' && name !== '' ? name : undefined
}

function problemInTools(value: unknown): string | undefined {
  const tools = Array.isArray(value) ? value : [value]
  const names = tools.map(toolName)
  const nameless = names.indexOf(undefined)
  if (nameless >= 0) {
    return `Tool ${nameless + 1} has no name. A tool is { "type": "function", "function": { "name": "…", "parameters": { … } } }.`
  }
  const twice = names.find((name, place) => names.indexOf(name) < place)
  return twice === undefined ? undefined : `Two tools are called ${JSON.stringify(twice)}.`
}

/** The tools in a text; undefined if they are not valid. A single tool needs no list. */
function toolsIn(text: string): readonly object[] | undefined {
  const value = parsed(text)
  if (value === undefined || problemInTools(value) !== undefined) return undefined
  const tools = Array.isArray(value) ? value : [value]
  return tools.length === 0 ? undefined : tools
}

export const toolNames = (text: string): readonly string[] =>
  (toolsIn(text) ?? []).flatMap(tool => toolName(tool) ?? [])

/** The tool choices that are not names of tools. */
export const toolChoices = ['auto', 'none', 'required'] as const

/** Undefined for the default, and for a tool that is no longer in the list. */
function choiceOf(chosen: string, tools: readonly object[]): unknown {
  if (chosen === 'none' || chosen === 'required') return chosen
  const tool = tools.find(tool => toolName(tool) === chosen) as Tool | undefined
  if (!tool) return undefined
  return tool.type === 'custom'
    ? { type: 'custom', custom: { name: chosen } }
    : { type: 'function', function: { name: chosen } }
}

const formats = new Set<unknown>(['text', 'json_object', 'json_schema'])

/** Accepts a whole `response_format`, or only its schema. */
function formatIn(text: string): object | undefined {
  const value = parsed(text)
  if (!isObject(value)) return undefined
  if ('type' in value && formats.has(value.type)) return value
  return { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: value } }
}
