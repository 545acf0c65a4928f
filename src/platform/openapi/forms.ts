/** The schemas of the document: each form once, under its name, with its fields told apart by where they come from. */
import { jsonSchemaOf } from '../../config/json-schema.js'
import type { JsonSchema, NamedForm, Schema } from '../../core/operation.js'
import { sourced } from './surface.js'

export interface Forms {
  /** A reference to a form, which is among the schemas from now on. */
  named(form: NamedForm, cited?: Cited): Promise<JsonSchema>
  add(schemas: Readonly<Record<string, JsonSchema>>): void
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** Which fields the document names, and where. */
export interface Cited {
  readonly section?: string | undefined
  readonly fields?: readonly string[] | undefined
}

export function createForms(): Forms {
  const schemas: Record<string, JsonSchema> = {}
  return {
    schemas,
    add: more => void Object.assign(schemas, more),
    async named([name, form], cited) {
      const written = await plainSchema(form, name)
      schemas[name] = cited?.fields ? marked(written, cited.fields, cited.section) : (schemas[name] ?? written)
      return { $ref: `#/components/schemas/${name}` }
    },
  }
}

/** As JSON Schema, with references that lead from the document's root to where it is going to stand. */
export async function plainSchema(form: Schema | JsonSchema, name: string): Promise<JsonSchema> {
  if (!isChecked(form)) return form
  const written = await jsonSchemaOf(form, name)
  const { $schema, title, ...plain } = JSON.parse(
    written.replaceAll('"$ref": "#/$defs/', `"$ref": "#/components/schemas/${name}/$defs/`),
  )
  return plain
}

const isChecked = (form: Schema | JsonSchema): form is Schema => '~run' in form

type Properties = Readonly<Record<string, JsonSchema>>

/** `schema` with the source of each field beside those that `fields` names. */
function marked(schema: JsonSchema, fields: readonly string[], section: string | undefined): JsonSchema {
  const { properties } = schema as { readonly properties?: Properties }
  if (!properties) return schema
  const told = Object.entries(properties).map(([name, property]) => {
    const isNamed = fields.includes(name)
    const inner = fields.flatMap(field => (field.startsWith(`${name}[].`) ? [field.slice(name.length + 3)] : []))
    const { items } = property as { readonly items?: JsonSchema }
    const deep = items && inner.length > 0 ? { ...property, items: marked(items, inner, section) } : property
    return [name, { ...deep, ...sourced(isNamed ? section : undefined) }] as const
  })
  return { ...schema, properties: Object.fromEntries(told) }
}
