/** The schemas of the document: each form once, under its name, with its fields distinguished by where they come from. */
import { jsonSchemaOf } from '../../config/json-schema.js'
import type { DocumentedSchema, JsonSchema, NamedForm } from '../../core/exchange.js'
import { sourced } from './surface.js'

export interface Forms {
  /** A reference to a form, which is among the schemas from now on. */
  named(form: NamedForm, cited?: Cited): Promise<JsonSchema>
  /** A form where it stands; those inside it that have a name of their own are referred to. */
  of(form: DocumentedSchema | JsonSchema): Promise<JsonSchema>
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** Which fields the document names, and where. */
export interface Cited {
  readonly section?: string | undefined
  readonly fields?: readonly string[] | undefined
}

export function createForms(): Forms {
  const schemas: Record<string, JsonSchema> = {}

  /** As JSON Schema, with references that lead from the document's root to where they stand. */
  async function written(form: DocumentedSchema | JsonSchema, name: string): Promise<JsonSchema> {
    if (!isChecked(form)) return form
    const inside = new Map<string, DocumentedSchema>()
    const text = await jsonSchemaOf(form, name, {
      elsewhere(schema) {
        const own = nameOf(schema)
        if (own === undefined || own === name) return undefined
        inside.set(own, schema)
        return referenceTo(own)
      },
    })
    // Definitions become schemas of their own: tools that make types of the document take `$defs` for a field.
    const {
      $schema,
      title,
      $defs = {},
      ...plain
    } = JSON.parse(text.replaceAll('"$ref": "#/$defs/', `"$ref": "${referenceTo(name).$ref}.`))
    for (const [key, part] of Object.entries<JsonSchema>($defs)) schemas[`${name}.${key}`] = withoutDefaults(part)
    for (const [name, schema] of inside) schemas[name] ??= await written(schema, name)
    return withoutDefaults(plain)
  }

  return {
    schemas,
    async of(form) {
      const name = isChecked(form) && nameOf(form)
      if (!name) return written(form, '')
      schemas[name] ??= await written(form, name)
      return referenceTo(name)
    },
    async named([name, form], cited) {
      const json = await written(form, name)
      schemas[name] = cited?.fields ? marked(json, cited.fields, cited.section) : (schemas[name] ?? json)
      return referenceTo(name)
    },
  }
}

/**
 * Defaults are in the descriptions: tools that make types of the document take a field with a `default` for one that has to be
 * sent (openapi-typescript does by default).
 */
function withoutDefaults(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'default') return []
    if (keyword !== 'properties') return [[keyword, inside(value)]]
    const properties = Object.entries(value as Properties).map(([name, property]) => [name, withDefaultSaid(property)])
    return [[keyword, Object.fromEntries(properties)]]
  })
  return Object.fromEntries(entries)
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside)
  return typeof value === 'object' && value !== null ? withoutDefaults(value as JsonSchema) : value
}

function withDefaultSaid(property: JsonSchema): JsonSchema {
  const { default: initial, description } = property
  const plain = withoutDefaults(property)
  if (initial === undefined || typeof initial === 'object') return plain
  const said = `${JSON.stringify(initial)} where it is left out.`
  return { ...plain, description: typeof description === 'string' ? `${description} ${said}` : said }
}

const referenceTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** The name that `named` of api/shapes.ts has given it. */
const nameOf = (schema: object) => (schema as { readonly named?: string }).named

const isChecked = (form: DocumentedSchema | JsonSchema): form is DocumentedSchema => '~run' in form

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
