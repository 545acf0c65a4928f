/** Normalizes requests for comparison: keys and parameters are sorted, and defaults are left out. */

import { isDeepStrictEqual } from 'node:util'
import { isObject, parseExact } from '../core/json.js'
import { asksForChat } from '../endpoints/index.js'
import { withLeaves } from '../redact/index.js'

type JsonObject = Readonly<Record<string, unknown>>

/** JSON that is nested more deeply is treated as text. No platform accepts it, and the stack is limited. */
export const DEEPEST_COMPARED = 200

/** Parses a text as JSON, with sorted keys. Returns `undefined` if it is not JSON or is nested too deeply. */
export function jsonIn(text: string): { readonly value: unknown } | undefined {
  try {
    // RFC 8259 §8.1 allows readers to ignore a byte order mark, and the platform does.
    return { value: withSortedKeys(parseExact(text.replace(/^\ufeff/, ''))) }
  } catch {
    return undefined
  }
}

/**
 * Returns the value without BigInts. A whole number that a JavaScript number cannot hold becomes a text, so that two
 * such numbers stay different.
 */
export const withoutBigInts = (value: unknown): unknown =>
  withLeaves(value, leaf => (typeof leaf === 'bigint' ? digitsOf(leaf) : leaf))

function digitsOf(whole: bigint): number | string {
  const number = Number(whole)
  return Number.isFinite(number) && BigInt(number) === whole ? number : String(whole)
}

/** Returns the value with sorted keys. Throws a RangeError if it is nested too deeply. */
export function withSortedKeys(value: unknown, depth = DEEPEST_COMPARED): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) throw new RangeError('The value is nested too deeply.')
  if (Array.isArray(value)) return value.map(item => withSortedKeys(item, depth - 1))
  // No assignments, since a field may be called __proto__.
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map(name => [name, withSortedKeys((value as JsonObject)[name], depth - 1)]))
}

/** A query parameter, still encoded. */
export type Parameter = readonly [name: string, value: string | undefined]

export function parametersIn(query: string): readonly Parameter[] {
  const parameters = query.split('&').filter(parameter => parameter !== '')
  return parameters.map(parameter => {
    const end = parameter.indexOf('=')
    return end < 0 ? [parameter, undefined] : [parameter.slice(0, end), parameter.slice(end + 1)]
  })
}

export const joinedQuery = (parameters: readonly Parameter[]): string =>
  parameters.map(([name, value]) => (value === undefined ? name : `${name}=${value}`)).join('&')

/** Sorts by name. Parameters of the same name are a list, which keeps its order. */
export const sortedQuery = (query: string): string =>
  joinedQuery(parametersIn(query).toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)))

/** Sorts, and encodes each character exactly as `encodeURIComponent` does. */
export const normalQuery = (query: string): string =>
  sortedQuery(joinedQuery(parametersIn(query).map(([name, value]) => [encoded(name), value && encoded(value)])))

const encoded = (component: string) => reencoded(component.replaceAll('+', ' ')) ?? component

function reencoded(component: string): string | undefined {
  try {
    return encodeURIComponent(decodeURIComponent(component))
  } catch {
    return undefined
  }
}

/** The path with each character escaped only if it must be. */
export const normalPath = (path: string): string =>
  path
    .split('/')
    .map(segment => reencoded(segment)?.replace(/%(?:2[46BC]|3[ABD]|40|5[BD])/g, decodeURIComponent) ?? segment)
    .join('/')

/** The fields of a chat completion request that have a default (OpenAI's reference of the endpoint). */
const chatDefaults = ({ tools, functions }: JsonObject): JsonObject => ({
  stream: false,
  stream_options: {},
  n: 1,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  logit_bias: {},
  stop: [],
  tools: [],
  tool_choice: defaultChoice(tools),
  parallel_tool_calls: true,
  functions: [],
  function_call: defaultChoice(functions),
  response_format: { type: 'text' },
  modalities: ['text'],
  metadata: {},
  store: false,
  service_tier: 'auto',
})

const defaultChoice = (offered: unknown) => (Array.isArray(offered) && offered.length > 0 ? 'auto' : 'none')

/** Returns a JSON body without fields that have their default value, such as null in place of an absent one. */
export function withoutDefaults(path: string, body: unknown): unknown {
  if (!isObject(body) || !asksForChat(path)) return body
  const fields: Record<string, unknown> = withoutFields(body, isNull)
  for (const [key, change] of nestedFields) if (key in fields) fields[key] = change(fields[key])
  const defaults = chatDefaults(fields)
  // Only === treats -0 and 0 as equal, and only isDeepStrictEqual compares the contents of lists and objects.
  return withoutFields(fields, (value, key) => value === defaults[key] || isDeepStrictEqual(value, defaults[key]))
}

const isNull = (value: unknown) => value === null
/** Whether a field is null, or is `flag` and false. */
const isUnset = (flag: string) => (value: unknown, key: string) => value === null || (key === flag && value === false)

/** The fields of a chat completion request that contain optional fields themselves. */
const nestedFields: readonly (readonly [key: string, change: (value: unknown) => unknown])[] = [
  [
    'messages',
    eachObject(message =>
      withoutFields(message, (value, key) => isNull(value) || (key === 'tool_calls' && isDeepStrictEqual(value, []))),
    ),
  ],
  ['tools', eachObject(tool => withoutUnsetIn(tool, 'function'))],
  ['response_format', value => (isObject(value) ? withoutUnsetIn(value, 'json_schema') : value)],
  ['stream_options', value => (isObject(value) ? withoutFields(value, isUnset('include_usage')) : value)],
]

function eachObject(change: (item: JsonObject) => JsonObject) {
  return (list: unknown) => (Array.isArray(list) ? list.map(item => (isObject(item) ? change(item) : item)) : list)
}

/** Leaves out the unset fields of the object in field `key`: those that are null, and `strict: false`. */
function withoutUnsetIn(object: JsonObject, key: string): JsonObject {
  const inner = object[key]
  if (!isObject(inner)) return object
  return { ...object, [key]: withoutFields(inner, isUnset('strict')) }
}

function withoutFields(
  object: JsonObject,
  isLeftOut: (value: unknown, key: string) => boolean,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key, value]) => !isLeftOut(value, key)))
}
