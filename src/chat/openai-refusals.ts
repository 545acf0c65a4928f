/** Requests that OpenAI is known to answer with a 400, and its messages: a table of which only the rows of set fields are tried. */
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
type Row<O> = readonly [field: keyof O & string, code: string, says: (object: O, at: number) => Refusal]
type Refusal = string | false | undefined

const requestTable: readonly Row<ChatRequest>[] = [
  ['messages', 'invalid_messages', ({ messages }) => unpairedToolMessage(messages)],
  [
    'max_tokens',
    'both_max_tokens',
    ({ max_completion_tokens: other }) =>
      isSet(other) && "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
  ],
  [
    'max_tokens',
    'unsupported_parameter',
    // Reasoning models.
    ({ model }) =>
      /^(o\d|gpt-5)/.test(model) &&
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  ],
  ['max_tokens', 'integer_below_min_value', ({ max_tokens }) => belowOne('max_tokens', max_tokens)],
  [
    'max_completion_tokens',
    'integer_below_min_value',
    ({ max_completion_tokens }) => belowOne('max_completion_tokens', max_completion_tokens),
  ],
  ['stop', 'array_above_max_length', ({ stop }) => Array.isArray(stop) && longerThan(4, 'stop', stop)],
  ['tools', 'empty_array', ({ tools }) => emptyArray('tools', tools)],
  ['tools', 'array_above_max_length', ({ tools }) => longerThan(128, 'tools', tools)],
  [
    'tools',
    'invalid_value',
    ({ tools }) =>
      firstRefusal(
        tools,
        ({ type }, i) => type !== 'function' && type !== 'custom' && unknownValue(`tools[${i}].type`, type, toolTypes),
      ),
  ],
  [
    'tools',
    'invalid_function_name',
    ({ tools }) =>
      firstRefusal(tools, ({ type, function: fn, custom }, i) =>
        invalidName(`tools[${i}].${type}.name`, type === 'custom' ? custom?.name : fn?.name),
      ),
  ],
  [
    'tools',
    'invalid_function_parameters',
    ({ tools }) =>
      firstRefusal(
        tools,
        ({ function: fn }) =>
          isSet(fn) &&
          schemaMistake(`function '${shortened(fn.name)}'`, fn.parameters, fn.strict === true, tools?.length),
      ),
  ],
  ['functions', 'empty_array', ({ functions }) => functions?.length === 0 && "[] is too short - 'functions'"],
  [
    'functions',
    'invalid_function_name',
    ({ functions }) => firstRefusal(functions, ({ name }, i) => invalidName(`functions[${i}].name`, name)),
  ],
  ['tool_choice', 'tools_missing', ({ tools }) => onlyWith('tool_choice', 'tools', tools)],
  ['parallel_tool_calls', 'tools_missing', ({ tools }) => onlyWith('parallel_tool_calls', 'tools', tools)],
  ['function_call', 'functions_missing', ({ functions }) => onlyWith('function_call', 'functions', functions)],
  [
    'stream_options',
    'stream_missing',
    ({ stream }) => stream !== true && "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  ],
  [
    'response_format',
    'json_not_mentioned',
    ({ response_format, messages }) =>
      response_format?.type === 'json_object' &&
      !messages.some(message => /json/i.test(textOf(message))) &&
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
  ],
  [
    'response_format',
    'invalid_schema_name',
    ({ response_format }) => invalidName('response_format.json_schema.name', response_format?.json_schema?.name),
  ],
  [
    'response_format',
    'invalid_json_schema',
    ({ response_format }) => {
      const { json_schema: format } = response_format ?? {}
      if (!format?.strict) return undefined
      return schemaMistake(`response_format '${shortened(format.name)}'`, format.schema, true)
    },
  ],
]

/** The rows for each message. */
const messageTable: readonly Row<ChatMessage>[] = [
  [
    'content',
    'empty_array',
    ({ content }, i) => Array.isArray(content) && emptyArray(`messages[${i}].content`, content),
  ],
  [
    'content',
    'invalid_value',
    ({ content }, i) =>
      Array.isArray(content) &&
      firstRefusal(
        content,
        ({ type }, j) =>
          !partTypes.includes(type) && unknownValue(`messages[${i}].content[${j}].type`, type, partTypes),
      ),
  ],
  [
    'role',
    'missing_content',
    ({ role, content, tool_calls, function_call, audio }) =>
      role === 'assistant' &&
      !isSet(content) &&
      !isSet(tool_calls) &&
      !isSet(function_call) &&
      !isSet(audio) &&
      "Invalid value for 'content': expected a string, got null.",
  ],
  ['role', 'missing_name', ({ role, name }) => role === 'function' && !isSet(name) && missingField('name', role)],
  [
    'role',
    'missing_tool_call_id',
    ({ role, tool_call_id: id }) => role === 'tool' && !isSet(id) && missingField('tool_call_id', role),
  ],
  [
    'name',
    'invalid_name',
    ({ name }, i) =>
      isSet(name) && !/^[^\s<|\\/>]+$/.test(name) && mismatch(`messages[${i}].name`, '^[^\\s<|\\\\/>]+$'),
  ],
  ['tool_calls', 'empty_array', ({ tool_calls }, i) => emptyArray(`messages[${i}].tool_calls`, tool_calls)],
  [
    'tool_calls',
    'invalid_function_name',
    ({ tool_calls }, i) =>
      firstRefusal(tool_calls, ({ function: fn }, j) =>
        invalidName(`messages[${i}].tool_calls[${j}].function.name`, fn?.name),
      ),
  ],
]

/** The other fields that OpenAI accepts (package openai 7, ChatCompletionCreateParams). */
const otherFields =
  'model temperature top_p n stream seed frequency_penalty presence_penalty logprobs top_logprobs logit_bias user metadata store ' +
  'audio modalities moderation prediction prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort ' +
  'safety_identifier service_tier verbosity web_search_options'

const knownFields = new Set([...otherFields.split(' '), ...requestTable.map(([field]) => field)])

/** Returns why OpenAI refuses this request; `undefined` if no reason is known. */
export function openaiRefusal(request: ChatRequest): OpenAiRefusal | undefined {
  const unknown: string[] = []
  for (const field in request) if (!knownFields.has(field) && unknown.length < MOST_NAMED) unknown.push(field)
  if (unknown.length > 0) return { code: 'unrecognized_argument', message: unrecognizedFields(unknown) }
  for (let at = 0; at < request.messages.length; at++) {
    const message = request.messages[at] as ChatMessage
    const refusal = isOnlyText(message) ? undefined : findRefusal(messageTable, message, at)
    if (refusal) return refusal
  }
  return findRefusal(requestTable, request)
}

/** Whether a message is only a text of the user or an instruction, which OpenAI accepts in any form. */
const isOnlyText = ({ role, content, name, tool_calls }: ChatMessage) =>
  (role === 'user' || role === 'system') && typeof content === 'string' && !isSet(name) && !isSet(tool_calls)

function findRefusal<O extends ChatRequest | ChatMessage>(
  table: readonly Row<O>[],
  object: O,
  at = 0,
): OpenAiRefusal | undefined {
  for (const [field, code, says] of table) {
    const message = isSet(object[field]) && says(object, at)
    if (message) return { code, message }
  }
  return undefined
}

const unrecognizedFields = (fields: readonly string[]) =>
  `Unrecognized request argument${fields.length > 1 ? 's' : ''} supplied: ${fields.map(shortened).join(', ')}`

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
        return `Invalid parameter: 'tool_call_id' of '${shortened(id)}' not found in 'tool_calls' of previous message.`
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
  `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...ids].slice(0, MOST_NAMED).map(shortened).join(', ')}`

const toolTypes = ['function', 'custom']
const partTypes = ['text', 'image_url', 'input_audio', 'refusal', 'audio', 'file']

const isSet = <T>(value: T): value is NonNullable<T> => value !== null && value !== undefined
/** At most this many mistakes of the same kind are named. */
const MOST_NAMED = 20
/** Names chosen by clients may be long. */
const shortened = (value: unknown) => String(value).slice(0, 100)

function firstRefusal<T>(all: readonly T[] | null | undefined, check: (one: T, at: number) => Refusal) {
  for (const [i, one] of (all ?? []).entries()) {
    const refusal = check(one, i)
    if (refusal) return refusal
  }
  return undefined
}

type Items = readonly unknown[] | null | undefined

const emptyArray = (field: string, items: Items) =>
  items?.length === 0 &&
  `Invalid '${field}': empty array. Expected an array with minimum length 1, but got an empty array instead.`

const longerThan = (most: number, field: string, items: Items) =>
  (items?.length ?? 0) > most &&
  `Invalid '${field}': array too long. Expected an array with maximum length ${most}, but got an array with length ${items?.length} instead.`

const belowOne = (field: string, value: number | null | undefined) =>
  isSet(value) &&
  value < 1 &&
  `Invalid '${field}': integer below minimum value. Expected a value >= 1, but got ${value} instead.`

const onlyWith = (field: string, other: string, items: Items) =>
  !isSet(items) && `'${field}' is only allowed when '${other}' are specified.`

const missingField = (field: string, role: string) =>
  `Missing parameter '${field}': messages with role '${role}' must have a '${field}'.`

const unknownValue = (field: string, value: string, known: readonly string[]) => {
  const last = known.length - 1
  const names = known.map((name, i) => (i === last ? `and '${name}'` : `'${name}'`))
  return `Invalid value: '${shortened(value)}' (${field}). Supported values are: ${names.join(known.length > 2 ? ', ' : ' ')}.`
}

const mismatch = (field: string, pattern: string) =>
  `Invalid '${field}': string does not match pattern. Expected a string that matches the pattern '${pattern}'.`

const LONGEST_NAME = 64

function invalidName(field: string, name: string | null | undefined): Refusal {
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
    const type = root.type === undefined ? 'None' : shortened(root.type)
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
      if (isObject(one)) parts.push({ node: one, steps: `${steps}'${step}', '${shortened(name)}', ` })
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
