/** Creates JSON Schemas of our file formats for editors. Loaded on demand. */
import type * as v from 'valibot'

/** The parts of a JSON Schema that are used here. */
interface JsonSchema {
  readonly type?: unknown
  readonly enum?: unknown
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly description?: unknown
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
}

/**
 * Creates the JSON Schema (draft 2020-12) of the form in which users write the file: defaults are kept, and options
 * with a default are not required. With `variables`, any value may be a text that contains `${NAME}`.
 */
export async function jsonSchemaOf(
  schema: v.GenericSchema,
  title: string,
  { variables = false }: { readonly variables?: boolean } = {},
): Promise<string> {
  const { toJsonSchema } = await import('@valibot/to-json-schema')
  const jsonSchema = toJsonSchema(schema, {
    typeMode: 'input',
    errorMode: 'ignore',
    target: 'draft-2020-12',
    // Whether an option is secret is internal, and validators reject keywords that they do not know.
    ignoreActions: ['metadata'],
    overrideSchema: ({ valibotSchema }) => declaredSchema(valibotSchema),
    overrideAction: ({ valibotAction, jsonSchema }) => {
      const declared = declaredSchema(valibotAction)
      return declared && { ...jsonSchema, allOf: [...(jsonSchema.allOf ?? []), declared] }
    },
  }) as JsonSchema
  return `${JSON.stringify({ ...(variables ? insideWithVariables(jsonSchema) : jsonSchema), title }, null, 2)}\n`
}

/** The JSON Schema of our own checks, which they declare themselves (`withJsonSchema` of check/check.ts). */
const declaredSchema = (check: object) => (check as { readonly written?: object }).written

/** An environment variable, which may replace any value. */
const variable: JsonSchema = { type: 'string', pattern: '\\$\\{' }
const typesWithoutText = new Set<unknown>(['integer', 'number', 'boolean', 'array'])

/** Whether the schema would refuse a variable in place of a value that it accepts. */
const refusesVariable = ({ type, anyOf = [], minLength = 0, ...rest }: JsonSchema): boolean =>
  typesWithoutText.has(type) ||
  minLength > `\${A}`.length ||
  limits.some(keyword => rest[keyword] !== undefined) ||
  anyOf.some(refusesVariable)

const limits = ['enum', 'const', 'pattern', 'format'] as const

function withVariable(schema: JsonSchema): JsonSchema {
  const inside = insideWithVariables(schema)
  if (!refusesVariable(inside)) return inside
  // Keywords about the value stay outside, where editors look for them.
  const { description, default: initial, ...value } = inside
  return {
    ...(description !== undefined && { description }),
    ...(initial !== undefined && { default: initial }),
    anyOf: [...(value.anyOf ?? [value]), variable],
  }
}

function insideWithVariables(schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties: others, items, anyOf } = schema
  const propertiesWithVariables = Object.entries(properties ?? {}).map(
    ([name, property]) => [name, withVariable(property)] as const,
  )
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(propertiesWithVariables) }),
    ...(typeof others === 'object' && { additionalProperties: withVariable(others) }),
    ...(items && { items: withVariable(items) }),
    ...(anyOf && { anyOf: anyOf.map(insideWithVariables) }),
  }
}
