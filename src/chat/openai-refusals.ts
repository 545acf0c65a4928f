/** Chat requests that OpenAI is known to answer with a 400, and its messages. */
import { isObject } from '../core/json.js'
import { firstCharacters, messageForm, plainFields, requestForms, wrongValue } from './openai-form.js'
import { isReasoningModel } from './ordinary.js'
import { type ChatMessage, type ChatRequest, textOf } from './request.js'

/** OpenAI's message about a request that breaks a rule. */
type Rule = (request: ChatRequest) => string | false | null | undefined

/** Rules beyond the form of a field, each for requests that have the field. */
const rules: readonly (readonly [field: keyof ChatRequest, says: Rule])[] = [
  ['messages', unpairedToolMessage],
  [
    'max_tokens',
    ({ max_completion_tokens: other }) =>
      isSet(other) && "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
  ],
  [
    'max_tokens',
    ({ model }) =>
      isReasoningModel(model) &&
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  ],
  ['tool_choice', onlyWith('tool_choice', 'tools')],
  ['parallel_tool_calls', onlyWith('parallel_tool_calls', 'tools')],
  ['function_call', onlyWith('function_call', 'functions')],
  [
    'stream_options',
    ({ stream }) => stream !== true && "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  ],
  [
    'response_format',
    ({ response_format: format, messages }) =>
      format?.type === 'json_object' &&
      !messages.some(message => /json/i.test(textOf(message))) &&
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
  ],
  [
    'response_format',
    ({ response_format }) => {
      const { name, strict, schema } = response_format?.json_schema ?? {}
      return strict && schemaMistake(`response_format '${firstCharacters(name)}'`, schema, true)
    },
  ],
  ['tools', ({ tools }) => wrongParameters(tools ?? [])],
]

/** Returns OpenAI's message about this request if OpenAI refuses it, as far as that is known. */
export function openaiRefusal(request: ChatRequest): string | undefined {
  const wrong = wrongField(request) ?? wrongMessage(request.messages)
  if (wrong) return wrong
  for (const [field, says] of rules) {
    const message = (request[field] ?? null) !== null && says(request)
    if (message) return message
  }
  return undefined
}

function wrongField(request: ChatRequest): string | undefined {
  const unknown: string[] = []
  for (const field in request) if (!plainFields.has(field) && !requestForms.has(field)) unknown.push(field)
  if (unknown.length > 0) return unrecognizedFields(unknown)
  for (const field in request) {
    const form = requestForms.get(field)
    const wrong = form && wrongValue(form, request[field as keyof ChatRequest], field)
    if (wrong) return wrong
  }
  return undefined
}

function wrongMessage(messages: readonly ChatMessage[]): string | undefined {
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as ChatMessage
    if (isOnlyText(message)) continue
    const wrong = wrongValue(messageForm, message, `messages[${at}]`) ?? missingContent(message)
    if (wrong) return wrong
  }
  return undefined
}

/** Whether a message is only a text of the user or an instruction, which OpenAI accepts in any form. */
const isOnlyText = ({ role, content, name }: ChatMessage) =>
  (role === 'user' || role === 'system') && typeof content === 'string' && name === undefined

function missingContent({ role, ...fields }: Readonly<Record<string, unknown>>): string | undefined {
  const said = ['content', 'tool_calls', 'function_call', 'audio', 'refusal']
  if (role !== 'assistant' || said.some(field => isSet(fields[field]))) return undefined
  return "Invalid value for 'content': expected a string, got null."
}

const unrecognizedFields = (fields: readonly string[]) =>
  `Unrecognized request argument${fields.length > 1 ? 's' : ''} supplied: ${fields.slice(0, MOST_NAMED).map(firstCharacters).join(', ')}`

function onlyWith(field: string, other: 'tools' | 'functions') {
  return (request: ChatRequest) => !isSet(request[other]) && `'${field}' is only allowed when '${other}' are specified.`
}

function wrongParameters(tools: NonNullable<ChatRequest['tools']>): string | undefined {
  for (const { function: fn } of tools) {
    const found =
      fn && schemaMistake(`function '${firstCharacters(fn.name)}'`, fn.parameters, fn.strict === true, tools.length)
    if (found) return found
  }
  return undefined
}

/**
 * Each message with role tool must answer a call of the preceding assistant message, and each of those calls must be
 * answered.
 */
function unpairedToolMessage({ messages }: ChatRequest): string | undefined {
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

const isSet = <T>(value: T): value is NonNullable<T> => value !== null && value !== undefined
/** At most this many mistakes of the same kind are named. */
const MOST_NAMED = 20
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
