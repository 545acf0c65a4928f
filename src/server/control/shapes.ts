/** The forms of answers, as JSON Schema. */
import type { JsonSchema } from './part.js'

export const text: JsonSchema = { type: 'string' }
export const number: JsonSchema = { type: 'number' }
export const wholeNumber: JsonSchema = { type: 'integer' }
export const yesOrNo: JsonSchema = { type: 'boolean' }
export const anything: JsonSchema = {}
export const texts: JsonSchema = { type: 'object', additionalProperties: text }

export const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
export const orNothing = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })
export const oneOf = (words: readonly string[]): JsonSchema => ({ enum: words })
export const called = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** An object with these members and no others; a name with `?` at its end may be missing. */
export function object(members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const entries = Object.entries(members)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    required: entries.map(([name]) => name).filter(name => !name.endsWith('?')),
    additionalProperties: false,
  }
}
