/** The JSON Schema of a file's schema, for editors. Loaded only when it is asked for. */
import type * as v from 'valibot'

/** Makes the JSON Schema (draft 2020-12) of the form in which people write: defaults stay, nothing with a default is required. */
export async function jsonSchemaOf(schema: v.GenericSchema, title: string): Promise<string> {
  const { toJsonSchema } = await import('@valibot/to-json-schema')
  const made = toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore', target: 'draft-2020-12' })
  return `${JSON.stringify({ ...made, title }, null, 2)}\n`
}
