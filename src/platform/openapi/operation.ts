/** Writes one operation in OpenAPI's form, with the schemas of its input and output. */
import { jsonSchemaOf } from '../../check/form-schema.js'
import type {
  AnswerDescription,
  DocumentedSchema,
  EndpointDescription,
  EventDescription,
  JsonSchema,
  NamedSchema,
} from '../../core/exchange.js'
import { errorSchemaName, errorsOf, type PlacedOperation, sourceOf } from './surface.js'

export async function writeOperation(placed: PlacedOperation, forms: DocumentSchemas): Promise<object> {
  const { part, operation, security } = placed
  const { id, does, more, section } = operation
  const parameters = parametersOf(placed)
  return {
    operationId: id,
    tags: [part],
    summary: does,
    ...(more !== undefined && { description: more }),
    ...sourceOf(section),
    security,
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && { requestBody: await requestBodyOf(operation, forms) }),
    responses: { ...(await answersOf(operation, forms)), ...errorAnswers(placed) },
  }
}

function parametersOf({ path, operation: { query, headers = {} } }: PlacedOperation): readonly object[] {
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: textSchema })),
    ...(query ? queryParameters(query) : []),
    ...Object.entries(headers).map(([name, description]) => ({ name, in: 'header', description, schema: textSchema })),
  ]
}

const textSchema: JsonSchema = { type: 'string' }

function queryParameters({ properties = {}, required = [] }: JsonSchema): readonly object[] {
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    ...((required as readonly string[]).includes(name) && { required: true }),
    schema,
  }))
}

async function requestBodyOf(
  { id, body, isBodyOptional, constraint, section, fields }: EndpointDescription,
  forms: DocumentSchemas,
) {
  if (!body) return undefined
  const form = `${id.charAt(0).toUpperCase()}${id.slice(1)}Body`
  const reference = await forms.named([form, body], { section: fields && requestSection(section), fields })
  const schema = constraint ? { allOf: [reference, constraint] } : reference
  return { required: isBodyOptional !== true, content: { 'application/json': { schema } } }
}

/** The document describes the request's fields in a separate section. */
const requestSection = (section: string | undefined) =>
  section === undefined ? undefined : 'Chat completion request (JSON body)'

async function answersOf({ answers }: EndpointDescription, forms: DocumentSchemas): Promise<object> {
  const written = Object.entries(answers).map(async ([status, said]) => {
    const all = [said].flat()
    const contents = await Promise.all(all.map(one => contentOf(one, forms)))
    const content = Object.fromEntries(contents.flat())
    return [
      status,
      {
        description: all.map(({ what }) => what).join(' '),
        ...sourceOf(all[0]?.section),
        ...(contents.flat().length > 0 && { content }),
      },
    ] as const
  })
  return Object.fromEntries(await Promise.all(written))
}

type Content = readonly (readonly [type: string, content: object])[]

async function contentOf(
  { schema, form, type, events, section, fields }: AnswerDescription,
  forms: DocumentSchemas,
): Promise<Content> {
  if (form) return [['application/json', { schema: await forms.named(form, { section, fields }) }]]
  if (schema) return [['application/json', { schema: forGenerators(schema) }]]
  if (type === undefined) return []
  const described = events && (await Promise.all(events.map(event => eventOf(event, forms))))
  return [[type, { schema: { ...textSchema, ...(described && { 'x-standin-events': described }) } }]]
}

/** OpenAPI 3.1 has no keyword for the events of a stream. */
async function eventOf({ what, data }: EventDescription, forms: DocumentSchemas): Promise<object> {
  return { description: what, data: typeof data === 'string' ? { const: data } : await forms.named(data) }
}

function errorAnswers(placed: PlacedOperation): object {
  const described = Object.entries(errorsOf(placed)).map(([status, { what, section }]) => {
    const schema = { $ref: `#/components/schemas/${errorSchemaName(placed.part, status)}` }
    return [status, { description: what, ...sourceOf(section), content: { 'application/json': { schema } } }] as const
  })
  return Object.fromEntries(described)
}

type DocumentSchemas = ReturnType<typeof createDocumentSchemas>

/** The fields that platform-api.md names, and where. */
interface DocumentedFields {
  readonly section?: string | undefined
  readonly fields?: readonly string[] | undefined
}

/** The schemas of the document: each once, by name, with the source of each field. */
export function createDocumentSchemas() {
  const schemas: Record<string, JsonSchema> = {}

  async function schemaOf(form: DocumentedSchema | JsonSchema, name: string): Promise<JsonSchema> {
    if (!isChecked(form)) return forGenerators(form)
    const { plain, definitions } = await convert(form, name)
    for (const [key, part] of definitions) schemas[`${name}.${key}`] = forGenerators(part)
    return forGenerators(plain)
  }

  return {
    schemas,
    /** Adds a named schema, and returns a reference to it. */
    async named([name, form]: NamedSchema, cited?: DocumentedFields): Promise<JsonSchema> {
      if (cited?.fields) schemas[name] = withSources(await schemaOf(form, name), cited.fields, cited.section)
      else schemas[name] ??= await schemaOf(form, name)
      return referenceTo(name)
    },
  }
}

/** Converts to JSON Schema, with references from the document's root. */
async function convert(form: DocumentedSchema, name: string) {
  const text = JSON.stringify(await jsonSchemaOf(form))
  // Definitions become separate schemas, because type generators take `$defs` for a field.
  const {
    $schema,
    $defs = {},
    ...plain
  } = JSON.parse(text.replaceAll('"$ref":"#/$defs/', `"$ref":"${referenceTo(name).$ref}.`))
  return { plain: plain as JsonSchema, definitions: Object.entries<JsonSchema>($defs) }
}

/**
 * The same schema for type generators. openapi-typescript treats a field with a `default` as required, so defaults are in the
 * descriptions. For an object without any description of its fields, it allows no fields, so such an object says that it may have any.
 */
function forGenerators(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'default') return []
    if (keyword !== 'properties') return [[keyword, inside(value)]]
    const properties = Object.entries(value as Properties).map(([name, property]) => [
      name,
      withDefaultDescribed(property),
    ])
    return [[keyword, Object.fromEntries(properties)]]
  })
  return Object.fromEntries(isAnyObject(schema) ? [...entries, ['additionalProperties', true]] : entries)
}

const describingFields = ['patternProperties', 'additionalProperties', '$ref', 'allOf', 'anyOf', 'oneOf']

function isAnyObject(schema: JsonSchema): boolean {
  const { type, properties = {} } = schema as { readonly type?: unknown; readonly properties?: object }
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'))
  return isObject && Object.keys(properties).length === 0 && !describingFields.some(keyword => keyword in schema)
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside)
  return typeof value === 'object' && value !== null ? forGenerators(value as JsonSchema) : value
}

function withDefaultDescribed(property: JsonSchema): JsonSchema {
  const { default: initial, description } = property
  const plain = forGenerators(property)
  if (initial === undefined || typeof initial === 'object') return plain
  const said = `${JSON.stringify(initial)} where it is left out.`
  return { ...plain, description: typeof description === 'string' ? `${description} ${said}` : said }
}

const referenceTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const isChecked = (form: DocumentedSchema | JsonSchema): form is DocumentedSchema => '~run' in form

type Properties = Readonly<Record<string, JsonSchema>>

/** Adds the source to each field of `schema` that `fields` names. */
function withSources(schema: JsonSchema, fields: readonly string[], section: string | undefined): JsonSchema {
  const { properties } = schema as { readonly properties?: Properties }
  if (!properties) return schema
  const described = Object.entries(properties).map(([name, property]) => {
    const isNamed = fields.includes(name)
    const inner = fields.flatMap(field => (field.startsWith(`${name}[].`) ? [field.slice(name.length + 3)] : []))
    const { items } = property as { readonly items?: JsonSchema }
    const deep = items && inner.length > 0 ? { ...property, items: withSources(items, inner, section) } : property
    return [name, { ...deep, ...sourceOf(isNamed ? section : undefined) }] as const
  })
  return { ...schema, properties: Object.fromEntries(described) }
}
