/** Creates JSON Schemas of our forms. Loaded on demand. */
import type * as v from 'valibot'

/** The parts of a JSON Schema that are used here. */
export interface FormSchema {
  readonly type?: unknown
  readonly enum?: unknown
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly minItems?: number
  readonly description?: unknown
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, FormSchema>>
  readonly additionalProperties?: FormSchema | boolean
  readonly items?: FormSchema
  readonly propertyNames?: FormSchema
  readonly required?: readonly string[]
  readonly anyOf?: readonly FormSchema[]
  readonly allOf?: readonly FormSchema[]
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, FormSchema>>
}

/**
 * Creates the JSON Schema (draft 2020-12) of the form in which users write a value: defaults are kept, and options with a default are
 * not required. `definitions` names forms that contain themselves.
 */
export async function jsonSchemaOf(
  schema: v.GenericSchema,
  definitions?: Record<string, v.GenericSchema>,
): Promise<FormSchema> {
  const { toJsonSchema } = await import('@valibot/to-json-schema')
  return toJsonSchema(schema, {
    ...(definitions && { definitions }),
    typeMode: 'input',
    errorMode: 'ignore',
    target: 'draft-2020-12',
    // Whether an option is secret is internal, and validators reject keywords that they do not know.
    ignoreActions: ['metadata'],
    // What `withJsonSchema` of check/forms.ts declares.
    overrideSchema: ({ valibotSchema }) => (valibotSchema as { readonly written?: object }).written,
  }) as FormSchema
}
