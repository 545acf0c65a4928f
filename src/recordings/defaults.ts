/** What a request may say or leave out without meaning anything else by it. */
import { isObject, type JsonObject } from './canonical.js'

/** Whether a value is what the platform takes when the field is not there. */
type IsDefault = (value: unknown, body: JsonObject) => boolean

const is =
  (initial: unknown): IsDefault =>
  value =>
    value === initial
const isEmpty: IsDefault = value => typeof value === 'object' && value !== null && Object.keys(value).length === 0
const isWritten =
  (json: string): IsDefault =>
  value =>
    JSON.stringify(value) === json
/** Where something may be called the model chooses, else it calls nothing. */
const isChoiceOf =
  (offered: string): IsDefault =>
  (value, body) =>
    value === (Array.isArray(body[offered]) && body[offered].length > 0 ? 'auto' : 'none')

/** The fields of a chat completion request that have a default (OpenAI's reference of the endpoint). */
const chatDefaults: ReadonlyMap<string, IsDefault> = new Map([
  ['stream', is(false)],
  ['stream_options', isEmpty],
  ['n', is(1)],
  ['temperature', is(1)],
  ['top_p', is(1)],
  ['presence_penalty', is(0)],
  ['frequency_penalty', is(0)],
  ['logprobs', is(false)],
  ['logit_bias', isEmpty],
  ['stop', isEmpty],
  ['tools', isEmpty],
  ['tool_choice', isChoiceOf('tools')],
  ['parallel_tool_calls', is(true)],
  ['functions', isEmpty],
  ['function_call', isChoiceOf('functions')],
  ['response_format', isWritten('{"type":"text"}')],
  ['modalities', isWritten('["text"]')],
  ['metadata', isEmpty],
  ['store', is(false)],
  ['service_tier', is('auto')],
])

/** Whether a request to this path asks for a chat completion. */
export const asksForChat = (path: string) => path.endsWith('/chat/completions')

/** A JSON body without the fields that say what goes without saying. */
export function withoutDefaults(path: string, body: unknown): unknown {
  if (!isObject(body)) return body
  if (!asksForChat(path)) return withoutFields(body, isNull)
  const open: Record<string, unknown> = withoutFields(body, isNull)
  for (const [key, change] of parts) if (key in open) open[key] = change(open[key])
  return withoutFields(open, (value, key) => chatDefaults.get(key)?.(value, open) ?? false)
}

const isNull = (value: unknown) => value === null
/** Whether a field is null, or is this one and false. */
const isUnset = (flag: string) => (value: unknown, key: string) => value === null || (key === flag && value === false)

/** The parts of a chat completion request in which fields may be left out as well. */
const parts: readonly (readonly [key: string, change: (value: unknown) => unknown])[] = [
  [
    'messages',
    each(message =>
      withoutFields(message, (value, key) => isNull(value) || (key === 'tool_calls' && isEmpty(value, message))),
    ),
  ],
  ['tools', each(tool => withLoose(tool, 'function'))],
  ['response_format', value => (isObject(value) ? withLoose(value, 'json_schema') : value)],
  ['stream_options', value => (isObject(value) ? withoutFields(value, isUnset('include_usage')) : value)],
]

function each(change: (item: JsonObject) => JsonObject) {
  return (list: unknown) => (Array.isArray(list) ? list.map(item => (isObject(item) ? change(item) : item)) : list)
}

/** What is not strict, or has no description, need not say so. */
function withLoose(object: JsonObject, key: string): JsonObject {
  const inner = object[key]
  if (!isObject(inner)) return object
  return { ...object, [key]: withoutFields(inner, isUnset('strict')) }
}

/** A copy without some of its fields. */
function withoutFields(object: JsonObject, left: (value: unknown, key: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key, value]) => !left(value, key)))
}
