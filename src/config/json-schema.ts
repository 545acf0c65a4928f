/** Creates JSON Schemas of our file formats for editors. Loaded on demand. */
import type * as v from 'valibot'

/** The parts of a JSON Schema that are used here. */
interface JsonSchema {
  readonly type?: unknown
  readonly enum?: unknown
  readonly const?: unknown
  readonly description?: unknown
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
}

interface Options {
  readonly variables?: boolean
  /** Returns a reference to write in place of a schema that is defined elsewhere. */
  readonly elsewhere?: (schema: v.GenericSchema) => object | undefined
}

/**
 * Creates the JSON Schema (draft 2020-12) of the form in which users write the file: defaults are kept, and options
 * with a default are not required. With `variables`, any value may be a text that contains `${NAME}`.
 */
export async function jsonSchemaOf(
  schema: v.GenericSchema,
  title: string,
  { variables = false, elsewhere = () => undefined }: Options = {},
): Promise<string> {
  const { toJsonSchema } = await import('@valibot/to-json-schema')
  const made = toJsonSchema(schema, {
    typeMode: 'input',
    errorMode: 'ignore',
    target: 'draft-2020-12',
    // Whether an option is secret is internal, and validators reject keywords that they do not know.
    ignoreActions: ['metadata'],
    overrideSchema: ({ valibotSchema }) => elsewhere(valibotSchema as v.GenericSchema) ?? writtenIn(valibotSchema),
    overrideAction: ({ valibotAction, jsonSchema }) => {
      const written = writtenIn(valibotAction)
      return written && { ...jsonSchema, allOf: [...(jsonSchema.allOf ?? []), written] }
    },
  }) as JsonSchema
  return `${JSON.stringify({ ...(variables ? insideWithVariables(made) : made), title }, null, 2)}\n`
}

/** The JSON Schema of our own checks, which they declare themselves (`withWritten` of check/check.ts). */
const writtenIn = (own: object) => (own as { readonly written?: object }).written

/** An environment variable, which may replace any value. */
const variable: JsonSchema & { readonly pattern: string } = { type: 'string', pattern: '\\$\\{' }
const kinds = new Set<unknown>(['integer', 'number', 'boolean', 'array'])

function withVariable(schema: JsonSchema): JsonSchema {
  const inside = insideWithVariables(schema)
  if (!kinds.has(inside.type) && inside.enum === undefined && inside.const === undefined) return inside
  // Keywords about the value stay outside, where editors look for them.
  const { description, default: initial, ...value } = inside
  return {
    ...(description !== undefined && { description }),
    ...(initial !== undefined && { default: initial }),
    anyOf: [value, variable],
  }
}

function insideWithVariables(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf } = schema
  const each = Object.entries(properties ?? {}).map(([name, property]) => [name, withVariable(property)] as const)
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(each) }),
    ...(items && { items: withVariable(items) }),
    ...(anyOf && { anyOf: anyOf.map(withVariable) }),
  }
}
