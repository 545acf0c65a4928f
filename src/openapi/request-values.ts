/** Copies values of the request into a generated answer, so that clients get back what they sent. */
import type { Validator } from '../check/json-schema.js'
import type { Exchange, JsonSchema } from '../core/exchange.js'
import { isObject, jsonOf, requireModestJson } from '../core/json.js'
import { TimeLimitError, withTimeLimit } from '../core/work.js'
import { documentOf, type Node } from './document.js'
import { schemaFacts } from './parameters.js'

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

/** Most answers are checked within a millisecond. */
const LONGEST_MS = 20

/** Replaces fields of a generated answer by values of the same names, as far as the result still matches the schema. */
export function withValues(generated: unknown, values: Node, schema: JsonSchema, validator: () => Validator): unknown {
  if (!isObject(generated)) return generated
  const document = documentOf('', schema)
  const { properties } = schemaFacts(document, schema)
  const isNumber = (name: string) => {
    if (Object.hasOwn(generated, name)) return typeof generated[name] === 'number'
    const { types } = schemaFacts(document, properties[name])
    return (types.has('integer') || types.has('number')) && !types.has('string')
  }
  const applicable = Object.entries(values)
    .filter(([name]) => (Object.hasOwn(generated, name) || Object.hasOwn(properties, name)) && name !== '__proto__')
    .map(([name, value]) => [name, isNumber(name) ? asNumber(value) : value] as const)
  if (applicable.length === 0) return generated
  try {
    return withTimeLimit(() => validCombination(generated, applicable, validator()), LONGEST_MS)
  } catch (error) {
    if (error instanceof TimeLimitError || error instanceof RangeError) return generated
    throw error
  }
}

/** Path parameters arrive as text. */
const asNumber = (value: unknown) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value)

function validCombination(generated: Node, values: readonly (readonly [string, unknown])[], validate: Validator): Node {
  const copied = Object.fromEntries(values)
  const combined = { ...generated, ...copied }
  const invalid = new Set(validate(combined).map(({ path: [name] }) => name))
  if (invalid.size === 0) return combined
  const withoutInvalid = (fields: Node) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !invalid.has(name)))
  // The values may belong to another alternative of the schema, which does not have all generated fields.
  const others = [
    { ...generated, ...withoutInvalid(copied) },
    { ...withoutInvalid(generated), ...copied },
  ]
  return others.find(one => validate(one).length === 0) ?? generated
}
