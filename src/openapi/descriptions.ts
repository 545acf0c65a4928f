/** Describes the operations of a document for Standin's own OpenAPI document. */
import type { AnswerDescription, EndpointDescription, JsonSchema } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import { operationId } from '../core/paths.js'
import { memoized } from '../core/work.js'
import type { Node, OpenApiDocument } from './document.js'
import type { DocumentedOperation } from './operations.js'
import { type Direction, Translator } from './schemas.js'

/** Returns a function that describes an operation. Named schemas are translated once for all operations of a document. */
export function createDescriptions(document: OpenApiDocument): (operation: DocumentedOperation) => EndpointDescription {
  const stem = document.name.replace(/^.*[/\\]|(\.openapi)?\.\w+$/g, '').replace(/[^\w-]+/g, '-')
  const named = {
    request: createNamedSchemas(document, 'request', stem),
    response: createNamedSchemas(document, 'response', stem),
  }

  return ({ endpoint, definition, parameters }) => {
    const used = { request: new Set<string>(), response: new Set<string>() }
    const schemaOf = (schema: unknown, direction: Direction) => named[direction].of(schema, used[direction])
    const body = document.resolve(definition.requestBody)
    const media = jsonMediaIn(document, body)
    const answers = answersOf(document, definition, schema => schemaOf(schema, 'response'))
    const query = parameters.filter(one => one.in === 'query' && one.schema !== undefined)
    return {
      id: operationId(`${endpoint.method} ${endpoint.path}`.toLowerCase()),
      does: textOf(definition.summary) ?? `Answered from ${document.name}.`,
      ...(textOf(definition.description) !== undefined && { more: String(definition.description) }),
      ...(query.length > 0 && { query: querySchema(query, schema => schemaOf(schema, 'request')) }),
      ...(media && { body: schemaOf(media.schema, 'request') }),
      ...(media && isObject(body) && body.required !== true && { isBodyOptional: true as const }),
      answers: Object.keys(answers).length > 0 ? answers : { 200: { what: 'An answer without a body.' } },
      schemas: { ...named.request.schemas(used.request), ...named.response.schemas(used.response) },
    }
  }
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** Schemas under qualified names, such as `builder.Project`, and those that they refer to. */
function createNamedSchemas(document: OpenApiDocument, direction: Direction, stem: string) {
  const names = new Map<string, string>()
  const refer = (reference: string, used: Set<string>) => {
    used.add(reference)
    const own = reference.slice(reference.lastIndexOf('/') + 1).replace(/[^\w-]+/g, '-')
    const number = names.size
    if (!names.has(reference))
      names.set(reference, `${stem}.${direction}.${own}${isComponent(reference) ? '' : number}`)
    return `#/components/schemas/${names.get(reference)}`
  }

  const translatedAt = memoized((reference: string) => {
    const refersTo = new Set<string>()
    const schema = new Translator(document, direction, one => refer(one, refersTo)).translate(document.at(reference))
    return { schema, refersTo }
  })

  return {
    of(schema: unknown, references: Set<string>): JsonSchema {
      const translated = new Translator(document, direction, one => refer(one, references)).translate(schema)
      return typeof translated === 'boolean' ? {} : translated
    },
    /** The schemas that these references refer to, directly and indirectly. */
    schemas(used: Set<string>): Readonly<Record<string, JsonSchema>> {
      // The iteration also visits items that are added to the Set meanwhile.
      for (const reference of used) for (const next of translatedAt(reference).refersTo) used.add(next)
      const entries = [...used].map(reference => {
        const { schema } = translatedAt(reference)
        return [names.get(reference) ?? '', typeof schema === 'boolean' ? {} : schema] as const
      })
      return Object.fromEntries(entries)
    },
  }
}

/** Whether a reference refers to a component, whose name is unique. Names of other schemas get a number. */
const isComponent = (reference: string) => /^#\/components\/schemas\/[^/]+$/.test(reference)

function jsonMediaIn(document: OpenApiDocument, holder: unknown): Node | undefined {
  const content = isObject(holder) && isObject(holder.content) ? holder.content : {}
  const type = Object.keys(content).find(one => /[/+]json\b/i.test(one))
  const media = type === undefined ? undefined : document.resolve(content[type])
  return isObject(media) && media.schema !== undefined ? media : undefined
}

function answersOf(document: OpenApiDocument, definition: Node, schemaOf: (schema: unknown) => JsonSchema) {
  const responses = isObject(definition.responses) ? definition.responses : {}
  const answers: Record<number, AnswerDescription> = {}
  for (const [status, one] of Object.entries(responses)) {
    const response = document.resolve(one)
    if (!/^[2-5]\d\d$/.test(status) || !isObject(response)) continue
    const media = jsonMediaIn(document, response)
    const [type] = isObject(response.content) ? Object.keys(response.content) : []
    const body = media ? { schema: schemaOf(media.schema) } : { ...(type !== undefined && { type }) }
    answers[Number(status)] = { what: textOf(response.description) ?? `An answer with status ${status}.`, ...body }
  }
  return answers
}

function querySchema(parameters: readonly Node[], schemaOf: (schema: unknown) => JsonSchema): JsonSchema {
  const properties = parameters.map(({ name, schema, description }) => {
    return [String(name), { ...schemaOf(schema), ...(textOf(description) !== undefined && { description }) }] as const
  })
  const required = parameters.filter(one => one.required === true).map(({ name }) => String(name))
  return { type: 'object', properties: Object.fromEntries(properties), required }
}
