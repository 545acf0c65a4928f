/** Requests that OpenAI is known to answer with a 400, and its messages: a table by field, of which only the rows of set fields are tried. */
import { isObject } from '../core/json.js'
import { type ChatMessage, type ChatRequest, textOf } from './request.js'

/** Why OpenAI refuses a request. */
interface OpenAiRefusal {
  readonly code: string
  readonly message: string
}

/**
 * A field, an error code, and a function that returns OpenAI's message if the value is refused. `at` is the index of a
 * message.
 */
/**
 * By field: error codes, each with a function that returns OpenAI's message if the value is refused. `place` is the
 * field's name in the message.
 */
type Table<O> = {
  readonly [K in keyof O as string extends K ? never : K]?: readonly Row<O, NonNullable<O[K]>>[]
}
type Row<O, V> = readonly [code: string, says: (value: V, place: string, object: O) => Refusal]
type Refusal = string | false | null | undefined

const requestTable: Table<ChatRequest> = {
  messages: [['invalid_messages', unpairedToolMessage]],
  max_tokens: [
    [
      'both_max_tokens',
      (_value, _place, { max_completion_tokens: other }) =>
        isSet(other) && "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    ],
    [
      'unsupported_parameter',
      // Reasoning models.
      (_value, _place, { model }) =>
        /^(o\d|gpt-5)/.test(model) &&
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ],
    ['integer_below_min_value', belowOne],
  ],
  max_completion_tokens: [['integer_below_min_value', belowOne]],
  stop: [['array_above_max_length', (stop, place) => Array.isArray(stop) && longerThan(4, place, stop)]],
  tools: [
    ['empty_array', emptyArray],
    ['array_above_max_length', (tools, place) => longerThan(128, place, tools)],
    [
      'invalid_value',
      (tools, place) => firstRefusal(tools, ({ type }, i) => unknownType(toolTypes, `${place}[${i}]`, type)),
    ],
    [
      'invalid_function_name',
      (tools, place) =>
        firstRefusal(tools, ({ type, function: fn, custom }, i) =>
          invalidName((type === 'custom' ? custom : fn)?.name, `${place}[${i}].${type}.name`),
        ),
    ],
    [
      'invalid_function_parameters',
      tools =>
        firstRefusal(
          tools,
          ({ function: fn }) =>
            isSet(fn) &&
            schemaMistake(`function '${firstCharacters(fn.name)}'`, fn.parameters, fn.strict === true, tools.length),
        ),
    ],
  ],
  functions: [
    ['empty_array', functions => functions.length === 0 && "[] is too short - 'functions'"],
    [
      'invalid_function_name',
      (functions, place) => firstRefusal(functions, ({ name }, i) => invalidName(name, `${place}[${i}].name`)),
    ],
  ],
  tool_choice: [['tools_missing', (_value, place, { tools }) => onlyWith('tools', place, tools)]],
  parallel_tool_calls: [['tools_missing', (_value, place, { tools }) => onlyWith('tools', place, tools)]],
  function_call: [['functions_missing', (_value, place, { functions }) => onlyWith('functions', place, functions)]],
  stream_options: [
    [
      'stream_missing',
      (_value, _place, { stream }) =>
        stream !== true && "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    ],
  ],
  response_format: [
    [
      'json_not_mentioned',
      ({ type }, _place, { messages }) =>
        type === 'json_object' &&
        !messages.some(message => /json/i.test(textOf(message))) &&
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    ],
    ['invalid_schema_name', ({ json_schema }, place) => invalidName(json_schema?.name, `${place}.json_schema.name`)],
    [
      'invalid_json_schema',
      ({ json_schema: format }) =>
        format?.strict && schemaMistake(`response_format '${firstCharacters(format.name)}'`, format.schema, true),
    ],
  ],
}

const messageTable: Table<ChatMessage> = {
  content: [
    ['empty_array', (content, place) => Array.isArray(content) && emptyArray(content, place)],
    [
      'invalid_value',
      (content, place) =>
        Array.isArray(content) &&
        firstRefusal(content, ({ type }, i) => unknownType(partTypes, `${place}[${i}]`, type)),
    ],
  ],
  role: [
    [
      'missing_content',
      (role, _place, { content, tool_calls, function_call, audio }) =>
        role === 'assistant' &&
        ![content, tool_calls, function_call, audio].some(isSet) &&
        "Invalid value for 'content': expected a string, got null.",
    ],
    ['missing_name', (role, _place, { name }) => role === 'function' && !isSet(name) && missingField('name', role)],
    [
      'missing_tool_call_id',
      (role, _place, { tool_call_id: id }) => role === 'tool' && !isSet(id) && missingField('tool_call_id', role),
    ],
  ],
  name: [['invalid_name', (name, place) => !/^[^\s<|\\/>]+$/.test(name) && mismatch(place, '^[^\\s<|\\\\/>]+$')]],
  tool_calls: [
    ['empty_array', emptyArray],
    [
      'invalid_function_name',
      (calls, place) =>
        firstRefusal(calls, ({ function: fn }, i) => invalidName(fn?.name, `${place}[${i}].function.name`)),
    ],
  ],
}

/** The other fields that OpenAI accepts (package openai 7, ChatCompletionCreateParams). */
const otherFields =
  'model temperature top_p n stream seed frequency_penalty presence_penalty logprobs top_logprobs logit_bias user metadata store ' +
  'audio modalities moderation prediction prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort ' +
  'safety_identifier service_tier verbosity web_search_options'

const knownFields = new Set([...otherFields.split(' '), ...Object.keys(requestTable)])

/** Returns why OpenAI refuses this request; `undefined` if no reason is known. */
export function openaiRefusal(request: ChatRequest): OpenAiRefusal | undefined {
  const unknown: string[] = []
  for (const field in request) if (!knownFields.has(field) && unknown.length < MOST_NAMED) unknown.push(field)
  if (unknown.length > 0) return { code: 'unrecognized_argument', message: unrecognizedFields(unknown) }
  for (let at = 0; at < request.messages.length; at++) {
    const message = request.messages[at] as ChatMessage
    const refusal = isOnlyText(message) ? undefined : findRefusal(messageTable, message, `messages[${at}].`)
    if (refusal) return refusal
  }
  return findRefusal(requestTable, request)
}

/** Whether a message is only a text of the user or an instruction, which OpenAI accepts in any form. */
const isOnlyText = ({ role, content, name, tool_calls }: ChatMessage) =>
  (role === 'user' || role === 'system') && typeof content === 'string' && !isSet(name) && !isSet(tool_calls)

function findRefusal<O extends ChatRequest | ChatMessage>(
  table: Table<O>,
  object: O,
  before = '',
): OpenAiRefusal | undefined {
  for (const field in table) {
    const value = object[field as keyof O] as never
    if (!isSet(value)) continue
    for (const [code, says] of table[field as keyof Table<O>] as readonly Row<O, never>[]) {
      const message = says(value, `${before}${String(field)}`, object)
      if (message) return { code, message }
    }
  }
  return undefined
}

const unrecognizedFields = (fields: readonly string[]) =>
  `Unrecognized request argument${fields.length > 1 ? 's' : ''} supplied: ${fields.map(firstCharacters).join(', ')}`

/**
 * Each message with role tool must answer a call of the preceding assistant message, and each of those calls must be
 * answered.
 */
function unpairedToolMessage(messages: readonly ChatMessage[]): string | undefined {
  let calls: ReadonlySet<unknown> | undefined
  let openCalls: Set<unknown> = noCalls
  for (let i = 0; i < messages.length; i++) {
    const { role, tool_calls, tool_call_id: id } = messages[i] as ChatMessage
    if (role === 'tool') {
      // OpenAI's message, including its spelling.
      if (!calls)
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
      if (isSet(id) && !calls.has(id)) {
        return `Invalid parameter: 'tool_call_id' of '${firstCharacters(id)}' not found in 'tool_calls' of previous message.`
      }
      openCalls.delete(id)
    } else {
      if (openCalls.size > 0) return unansweredCalls(openCalls)
      calls = role === 'assistant' && tool_calls?.length ? new Set(tool_calls.map(({ id }) => id)) : undefined
      openCalls = calls ? new Set(calls) : noCalls
    }
  }
  return openCalls.size > 0 ? unansweredCalls(openCalls) : undefined
}

const noCalls = new Set<unknown>()

const unansweredCalls = (ids: ReadonlySet<unknown>) =>
  `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...ids].slice(0, MOST_NAMED).map(firstCharacters).join(', ')}`

const toolTypes = ['function', 'custom']
const partTypes = ['text', 'image_url', 'input_audio', 'refusal', 'audio', 'file']

const isSet = <T>(value: T): value is NonNullable<T> => value !== null && value !== undefined
/** At most this many mistakes of the same kind are named. */
const MOST_NAMED = 20
/** Names chosen by clients may be long. */
const firstCharacters = (value: unknown) => String(value).slice(0, 100)

function firstRefusal<T>(all: readonly T[], check: (one: T, at: number) => Refusal) {
  for (const [i, one] of all.entries()) {
    const refusal = check(one, i)
    if (refusal) return refusal
  }
  return undefined
}

function emptyArray(items: readonly unknown[], place: string): Refusal {
  return (
    items.length === 0 &&
    `Invalid '${place}': empty array. Expected an array with minimum length 1, but got an empty array instead.`
  )
}

const longerThan = (most: number, place: string, { length }: readonly unknown[]) =>
  length > most &&
  `Invalid '${place}': array too long. Expected an array with maximum length ${most}, but got an array with length ${length} instead.`

function belowOne(value: number, place: string): Refusal {
  return (
    value < 1 && `Invalid '${place}': integer below minimum value. Expected a value >= 1, but got ${value} instead.`
  )
}

const onlyWith = (other: string, place: string, items: unknown) =>
  !isSet(items) && `'${place}' is only allowed when '${other}' are specified.`

const missingField = (field: string, role: string) =>
  `Missing parameter '${field}': messages with role '${role}' must have a '${field}'.`

function unknownType(known: readonly string[], place: string, type: string): Refusal {
  if (known.includes(type)) return undefined
  const last = known.length - 1
  const names = known.map((name, i) => (i === last ? `and '${name}'` : `'${name}'`))
  return `Invalid value: '${firstCharacters(type)}' (${place}.type). Supported values are: ${names.join(known.length > 2 ? ', ' : ' ')}.`
}

const mismatch = (field: string, pattern: string) =>
  `Invalid '${field}': string does not match pattern. Expected a string that matches the pattern '${pattern}'.`

const LONGEST_NAME = 64

function invalidName(name: string | null | undefined, field: string): Refusal {
  if (!isSet(name)) return undefined
  if (!/^[a-zA-Z0-9_-]*$/.test(name)) return mismatch(field, '^[a-zA-Z0-9_-]+$')
  return (
    name.length > LONGEST_NAME &&
    `Invalid '${field}': string too long. Expected a string with maximum length ${LONGEST_NAME}, but got a string with length ${name.length} instead.`
  )
}

type Node = Readonly<Record<string, unknown>>

/**
 * At most this many parts of all schemas of a request are checked, so that large schemas do not block other requests.
 */
const MOST_PARTS = 20_000
const LONGEST_CONTEXT = 1000

/**
 * Returns a sentence about the first mistake in the JSON Schema of a function or an answer, from the outside in. `what`
 * is for example `function 'x'`; it is one of `count` schemas.
 */
function schemaMistake(what: string, root: unknown, isStrict: boolean, count = 1): string | undefined {
  if (!isObject(root)) return undefined
  const refusal = (why: string) => `Invalid schema for ${what}: ${why}`
  if (!hasType('object', root)) {
    const type = root.type === undefined ? 'None' : firstCharacters(root.type)
    return refusal(`schema must be a JSON Schema of 'type: "object"', got 'type: "${type}"'.`)
  }
  const parts: SchemaPart[] = [{ node: root, steps: '' }]
  for (let next = 0; next < parts.length && next < MOST_PARTS / count; next++) {
    const { node, steps } = parts[next] as SchemaPart
    const mistake = nodeMistake(node, isStrict)
    if (mistake !== undefined) return refusal(`In context=${contextOf(steps)}, ${mistake}`)
    addInnerSchemas(parts, node, steps)
  }
  return undefined
}

interface SchemaPart {
  readonly node: Node
  /** The way to it, such as `'properties', 'city', `. */
  readonly steps: string
}

/** In OpenAI's notation: `()`, `('items',)`, `('properties', 'city')`. */
const contextOf = (steps: string) =>
  `(${steps
    .slice(0, LONGEST_CONTEXT)
    .replace(/(?<=, .*), $/, '')
    .trimEnd()})`

function addInnerSchemas(parts: SchemaPart[], node: Node, steps: string): void {
  for (const step of ['properties', '$defs', 'definitions', 'anyOf']) {
    const inner = (node[step] ?? {}) as Node
    if (typeof inner !== 'object') continue
    for (const name in inner) {
      const one = inner[name]
      if (isObject(one)) parts.push({ node: one, steps: `${steps}'${step}', '${firstCharacters(name)}', ` })
    }
  }
  if (isObject(node.items)) parts.push({ node: node.items, steps: `${steps}'items', ` })
}

function nodeMistake(node: Node, isStrict: boolean): string | undefined {
  if (hasType('array', node) && node.items === undefined && node.prefixItems === undefined) {
    return 'array schema missing items.'
  }
  if (!isStrict) return undefined
  for (const word of ['allOf', 'oneOf']) if (node[word] !== undefined) return `'${word}' is not permitted.`
  if (!hasType('object', node) && node.properties === undefined) return undefined
  if (node.additionalProperties !== false) return "'additionalProperties' is required to be supplied and to be false."
  const required = new Set(Array.isArray(node.required) ? node.required : [])
  const missing = Object.keys(isObject(node.properties) ? node.properties : {}).find(name => !required.has(name))
  if (missing === undefined) return undefined
  return `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing.slice(0, 100)}'.`
}

const hasType = (type: string, { type: own }: Node) => own === type || (Array.isArray(own) && own.includes(type))
