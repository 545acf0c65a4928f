/** The document of the control API: OpenAPI 3.1, put together from what its parts say of themselves. */
import { jsonSchemaOf } from '../../config/json-schema.js'
import { CONTROL } from '../../core/reserved.js'
import type { ControlPart, JsonSchema, Operation, Said, Schema } from './part.js'
import { called, object, text } from './shapes.js'

interface Facts {
  readonly url: string
  readonly version: string
}

/** Rejects only when two parts say something of the same path. */
export async function openApiOf(parts: readonly ControlPart[], { url, version }: Facts): Promise<object> {
  const schemas: Record<string, JsonSchema> = { Error: object({ error: text, 'path?': text }) }
  const paths: Record<string, Record<string, object>> = {}
  for (const part of parts) {
    Object.assign(schemas, part.schemas)
    for (const [path, operations] of Object.entries(part.paths)) {
      const said = Object.entries(operations).map(
        async ([method, operation]) =>
          [method, await operationOf(path, operation, part.isOpen ?? false, schemas)] as const,
      )
      paths[CONTROL + path] = Object.fromEntries(await Promise.all(said))
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Control API of Standin',
      description:
        'Shows what happened and steers what happens next. On a loopback address nobody has to show a credential; on any other one it is the control token or the service key.',
      version,
    },
    servers: [{ url }],
    security: [{}, { controlToken: [] }],
    paths,
    components: {
      schemas,
      responses: {
        Error: {
          description: 'What is wrong, in a sentence.',
          content: { 'application/json': { schema: called('Error') } },
        },
      },
      securitySchemes: { controlToken: { type: 'http', scheme: 'bearer' } },
    },
  }
}

async function operationOf(
  path: string,
  { id, does, query, headers = {}, body, isBodyOptional, answers }: Operation,
  isOpen: boolean,
  schemas: Record<string, JsonSchema>,
): Promise<object> {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text })),
    ...(query ? parametersOf(await plainSchema(query, id)) : []),
    ...Object.entries(headers).map(([name, description]) => ({ name, in: 'header', description, schema: text })),
  ]
  const form = `${id.charAt(0).toUpperCase()}${id.slice(1)}Body`
  if (body) schemas[form] = await plainSchema(body, form)
  return {
    operationId: id,
    summary: does,
    ...(isOpen && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: isBodyOptional !== true, content: { 'application/json': { schema: called(form) } } },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, said]) => [status, responseOf([said].flat())])),
      default: { $ref: '#/components/responses/Error' },
    },
  }
}

function responseOf(said: readonly Said[]): object {
  const content = said.flatMap(({ schema, type }) => {
    if (schema) return [['application/json', { schema }] as const]
    return type === undefined ? [] : [[type, { schema: text }] as const]
  })
  return {
    description: said.map(({ what }) => what).join(' '),
    ...(content.length > 0 && { content: Object.fromEntries(content) }),
  }
}

/** As JSON Schema, with references that lead from the document's root to where it is going to stand. */
async function plainSchema(schema: Schema, name: string): Promise<JsonSchema> {
  const written = await jsonSchemaOf(schema, name)
  const { $schema, title, ...plain } = JSON.parse(
    written.replaceAll('"$ref": "#/$defs/', `"$ref": "#/components/schemas/${name}/$defs/`),
  )
  return plain
}

function parametersOf({ properties = {}, required = [] }: JsonSchema): readonly object[] {
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    ...((required as readonly string[]).includes(name) && { required: true }),
    schema,
  }))
}
