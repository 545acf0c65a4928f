/** Copies values of the request into a generated answer, so that a client gets back what it sent. */
import type { Validator } from '../check/json-schema.js'
import type { Exchange, JsonSchema } from '../core/exchange.js'
import { isObject, jsonOf, requireModestJson } from '../core/json.js'
import { TimeLimitError, withTimeLimit } from '../core/work.js'
import { documentOf, type Node } from './document.js'
import { kindOf } from './parameters.js'

/** The values of a request by name: the parameters of its path, and the fields of a JSON body. */
export function valuesIn({ body }: Pick<Exchange, 'body'>, params: Readonly<Record<string, string>>): Node {
  const last = Object.values(params).at(-1)
  return { ...(last !== undefined && { id: last }), ...params, ...fieldsIn(body) }
}

function fieldsIn(body: Buffer | undefined): Node {
  if (!body || body.length === 0) return {}
  try {
    requireModestJson(body)
  } catch {
    return {}
  }
  const value = jsonOf(body)
  return isObject(value) ? value : {}
}

/** Most answers take less than a millisecond. */
const LONGEST_MS = 20

/** Gives `made` the values that its schema describes by name, as far as the result still fits the schema. */
export function withValues(made: unknown, values: Node, schema: JsonSchema, validator: () => Validator): unknown {
  if (!isObject(made)) return made
  const document = documentOf('', schema)
  const { properties } = kindOf(document, schema)
  const isNumber = (name: string) => {
    if (Object.hasOwn(made, name)) return typeof made[name] === 'number'
    const { types } = kindOf(document, properties[name])
    return (types.has('integer') || types.has('number')) && !types.has('string')
  }
  const alike = Object.entries(values)
    .filter(([name]) => (Object.hasOwn(made, name) || Object.hasOwn(properties, name)) && name !== '__proto__')
    .map(([name, value]) => [name, isNumber(name) ? asNumber(value) : value] as const)
  if (alike.length === 0) return made
  try {
    return withTimeLimit(() => fitting(made, alike, validator()), LONGEST_MS)
  } catch (error) {
    if (error instanceof TimeLimitError || error instanceof RangeError) return made
    throw error
  }
}

/** Path parameters arrive as text. */
const asNumber = (value: unknown) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value)

function fitting(made: Node, values: readonly (readonly [string, unknown])[], validate: Validator): Node {
  const said = Object.fromEntries(values)
  const whole = { ...made, ...said }
  const wrong = new Set(validate(whole).map(({ path: [name] }) => name))
  if (wrong.size === 0) return whole
  const right = (fields: Node) => Object.fromEntries(Object.entries(fields).filter(([name]) => !wrong.has(name)))
  // The values may be those of another alternative, which does not have all that was made.
  const others = [
    { ...made, ...right(said) },
    { ...right(made), ...said },
  ]
  return others.find(one => validate(one).length === 0) ?? made
}
