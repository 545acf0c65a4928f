/** Normalizes requests for comparison: keys and parameters are sorted, defaults and what the configuration ignores are left out. */

import { isDeepStrictEqual } from 'node:util'
import { expressionIn } from '../check/expressions.js'
import { isObject, parseExact } from '../core/json.js'
import { percentDecoded } from '../core/paths.js'
import { withLeaves } from '../redact/index.js'
import { ignoredNames, isFixedField, isIgnoredName, mayBeTime, TIME, withoutNamed } from './ignored-names.js'
import type { RecordedRequest } from './recording.js'

type JsonObject = Readonly<Record<string, unknown>>

/** JSON that is nested more deeply is treated as text. No platform accepts it, and the stack is limited. */
const DEEPEST_COMPARED = 200

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
  return sortedFields(value as JsonObject, item => withSortedKeys(item, depth - 1))
}

/** Returns the object with sorted keys, and with `change` applied to each value. */
function sortedFields(object: JsonObject, change = (value: unknown) => value): JsonObject {
  // No assignments, since a field may be called __proto__.
  const names = Object.keys(object).sort()
  return Object.fromEntries(names.map(name => [name, change(object[name])]))
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

/** Whether requests to this path ask for a chat completion. */
export const asksForChat = (path: string) => path.endsWith('/chat/completions')

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

/** A copy without some of its fields. */
function withoutFields(
  object: JsonObject,
  isLeftOut: (value: unknown, key: string) => boolean,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key, value]) => !isLeftOut(value, key)))
}

/** The same request in other response formats, in order of preference. */
export function variantsOf(request: RecordedRequest): readonly RecordedRequest[] {
  const { method, path, body } = request
  if (method === 'HEAD') return [{ ...request, method: 'GET' }]
  if (method !== 'POST' || !asksForChat(path) || body.kind !== 'json' || !isObject(body.value)) return []
  return otherFormats(body.value).map(value => ({ ...request, body: { kind: 'json', value } }))
}

/**
 * A stream with usage contains everything that a whole answer does, and a whole answer can be split into any stream.
 */
function otherFormats(body: JsonObject): readonly JsonObject[] {
  const { stream, stream_options: streamOptions, ...whole } = body
  const { include_usage: includesUsage, ...options } = isObject(streamOptions) ? streamOptions : {}
  const withUsage = sortedFields({ ...whole, stream: true, stream_options: { include_usage: true, ...options } })
  const otherOptions = Object.keys(options).length > 0 ? { stream_options: options } : {}
  const withoutUsage = sortedFields({ ...whole, stream: true, ...otherOptions })
  if (stream !== true) return [withUsage, withoutUsage]
  return [includesUsage === true ? withoutUsage : withUsage, whole]
}

/** As written in the configuration: a path, a name, a regular expression between slashes, or an object with some of these. */
export type IgnoreOption =
  | string
  | { readonly path?: string | undefined; readonly query?: string | undefined; readonly pattern?: string | undefined }

/** Removes the ignored parts of a request. */
export interface Ignore {
  /** The same with further options. */
  readonly and: (more: readonly IgnoreOption[]) => Ignore
  /** What remains of a text. */
  readonly inText: Erase
  /** If a pattern applies, the values are returned decoded, since they are only compared. */
  readonly inQuery: (parameters: readonly Parameter[]) => readonly Parameter[]
  /** `change` is applied to what the paths leave, before texts are changed. */
  readonly inJson: (value: unknown, change?: (remainder: unknown) => unknown) => unknown
  /** The field of a form, whose name is a path (`user[name]`); `undefined` if it is ignored. */
  readonly inField: (name: string, value: string) => string | undefined
}

/** Returns what remains of a text. */
type Erase = (text: string) => string

/** An ignored field: all of its value, or what `erase` removes. */
interface IgnoredField {
  /** The path to it: names, numbers, `*` for any one step, `**` for any number of steps. */
  readonly steps: readonly string[]
  readonly erase: Erase | undefined
}

/** `options` must be valid. The configuration has checked them. */
export function ignoreFrom(options: readonly IgnoreOption[]): Ignore {
  const ignoredParameters: { readonly name: string; readonly erase: Erase | undefined }[] = []
  const fields: IgnoredField[] = []
  const anywhere: string[] = []
  for (const { path, query, pattern } of options.map(asObject)) {
    const erase = pattern === undefined ? undefined : eraserOf(pattern)
    if (path !== undefined) fields.push({ steps: stepsOf(path), erase })
    if (query !== undefined) ignoredParameters.push({ name: query, erase })
    if (pattern !== undefined && path === undefined && query === undefined) anywhere.push(pattern)
  }
  const names = ignoredNames.filter(name => anywhere.includes(name))
  const expressions = anywhere.filter(pattern => !isIgnoredName(pattern)).map(eraserOf)

  function remainderIn(text: string, field = ''): string {
    const unnamed = isFixedField(field) ? text : names.reduce((rest, name) => withoutNamed[name](rest), text)
    return expressions.reduce((rest, erase) => erase(rest), unnamed)
  }

  const inJson: Ignore['inJson'] = (value, change = asItIs) => {
    const remainder = change(fields.length === 0 ? value : withoutIgnored(value, fields))
    return anywhere.length === 0 ? remainder : withTexts(remainder, remainderIn)
  }

  return {
    and: more => ignoreFrom([...options, ...more]),
    inText: text => remainderIn(text),
    inQuery: parameters =>
      parameters.flatMap(([name, value]): Parameter[] => {
        const matching = ignoredParameters.filter(parameter => parameter.name === percentDecoded(name))
        if (matching.some(({ erase }) => !erase)) return []
        if (value === undefined || matching.length + anywhere.length === 0) return [[name, value]]
        const text = matching.reduce((rest, { erase }) => erase?.(rest) ?? rest, percentDecoded(value))
        // A decoded & would split the parameter in two.
        return [[name, remainderIn(text, percentDecoded(name)).replaceAll('&', '%26')]]
      }),
    inJson,
    inField(name, value) {
      const steps = stepsOf(name).slice(0, DEEPEST_COMPARED)
      const nested = steps.reduceRight<unknown>((inner, step) => Object.fromEntries([[step, inner]]), value)
      const stepInside = (outer: unknown, step: string) =>
        isObject(outer) && Object.hasOwn(outer, step) ? outer[step] : undefined
      return steps.reduce(stepInside, inJson(nested)) as string | undefined
    },
  }
}

const asItIs = (value: unknown) => value

const asObject = (option: IgnoreOption) => {
  if (typeof option !== 'string') return option
  return option.startsWith('/') || isIgnoredName(option) ? { pattern: option } : { path: option }
}

/** The function that removes what has the name, or matches the expression. */
function eraserOf(pattern: string): Erase {
  if (isIgnoredName(pattern)) return withoutNamed[pattern]
  const expression = expressionIn(pattern)
  if (!expression) return text => text
  const all = new RegExp(expression, `${expression.flags}g`)
  return text => text.replaceAll(all, '')
}

/** Splits `$.messages[*].name` into steps. */
const stepsOf = (path: string): readonly string[] =>
  path
    .replace(/^\$\.?/, '')
    .split(/[.[\]]+/)
    .filter(step => step !== '')
    .map(step => step.replace(/^(['"])(.*)\1$/, '$2'))
    .filter((step, i, steps) => step !== '**' || steps[i - 1] !== '**')

const removed = Symbol()

/** Returns a copy of `value` without the fields below it. */
function withoutIgnored(value: unknown, fields: readonly IgnoredField[]): unknown {
  if (fields.length === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item, i) => {
      const inside = fields.flatMap(field => stepInto(field, [`${i}`, `${i - value.length}`]))
      return remainderOf(item, inside)
    })
    return items.filter(item => item !== removed)
  }
  const entries = Object.entries(value).map(([key, item]) => {
    const inside = fields.flatMap(field => stepInto(field, [key]))
    return [key, remainderOf(item, inside)] as const
  })
  return Object.fromEntries(entries.filter(([, item]) => item !== removed))
}

/** Returns what remains of a value if the paths of `fields` lead to it or through it; `nothing` if it is removed. */
function remainderOf(value: unknown, fields: readonly IgnoredField[]): unknown {
  const matching = fields.filter(({ steps }) => steps.every(step => step === '**'))
  if (matching.some(({ erase }) => !erase)) return removed
  const remainder = withoutIgnored(value, fields)
  return matching.reduce((rest, { erase }) => (erase ? withTexts(rest, erase) : rest), remainder)
}

/** Returns the field as seen from one of these names; nothing if its path does not lead there. */
function stepInto({ steps: [step, ...rest], erase }: IgnoredField, names: readonly string[]): readonly IgnoredField[] {
  if (step === undefined) return []
  if (step === '**') return [{ steps: ['**', ...rest], erase }, ...stepInto({ steps: rest, erase }, names)]
  return step === '*' || names.includes(step) ? [{ steps: rest, erase }] : []
}

/** Changes the texts in a value. `field` is the name of the field that has it. */
function withTexts(value: unknown, change: (text: string, field: string) => string, field = ''): unknown {
  if (typeof value === 'string') return change(value, field)
  // Times are also written as numbers. All other numbers stay as they are.
  if (typeof value === 'number' && mayBeTime(value)) return change(String(value), field) === TIME ? TIME : value
  if (Array.isArray(value)) return value.map(item => withTexts(item, change, field))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, change, key)]))
}
