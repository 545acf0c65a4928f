/** Reads the OpenAPI document for tests: its operations, and a check of answers against it. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Scene } from '../../scene.js'

interface Answer {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>
  readonly 'x-standin-source'?: string
  readonly 'x-standin-section'?: string
}

interface Reference {
  readonly $ref: string
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: object
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Answer['content'] }
  readonly responses: Readonly<Record<string, Answer>>
}

export interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses?: Readonly<Record<string, Answer>>
    readonly parameters?: Readonly<Record<string, Parameter>>
  }
}

export interface Placed {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** The document that a platform serves, with its answers and parameters in their places. */
export async function documentOf({ url }: Pick<Scene, 'url'>): Promise<Document> {
  const document = (await (await fetch(`${url}/__standin/openapi.json`)).json()) as Document
  const { responses = {}, parameters = {} } = document.components
  const inPlace = <T extends object>(one: T | Reference, named: Readonly<Record<string, T>>): T =>
    '$ref' in one ? (named[one.$ref.split('/').at(-1) ?? ''] as T) : one
  const paths = mapValues(document.paths, methods =>
    mapValues(methods, operation => ({
      ...operation,
      ...(operation.parameters && { parameters: operation.parameters.map(one => inPlace(one, parameters)) }),
      responses: mapValues(operation.responses, one => inPlace(one, responses)),
    })),
  )
  return { ...document, paths }
}

const mapValues = <T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Readonly<Record<string, U>> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

export const operationsOf = ({ paths }: Document, part?: string): readonly Placed[] =>
  Object.entries(paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .filter(({ operation }) => part === undefined || operation.tags.includes(part))

/** Compiled schemas by the text of their document: documents of most platforms only differ in their URL. */
const compilers = new Map<string, (schema: object) => ValidateFunction>()

/** Compiles schemas of the document, each once. */
export function checking(document: Document) {
  const { paths, components } = document
  const key = JSON.stringify([paths, components])
  const schemaOf = compilers.get(key) ?? compilerOf(document)
  compilers.set(key, schemaOf)
  return schemaOf
}

function compilerOf(document: Document) {
  // Optimizing compiled schemas takes as long as compiling them, and most run once.
  const ajv = new Ajv2020({ allErrors: true, strict: false, code: { optimize: false } })
  addFormats.default(ajv)
  // The document itself is not a schema, but contains schemas.
  ajv.addSchema({ $id: 'doc', ...document }, undefined, false, false)
  const compiled = new Map<string, ValidateFunction>()
  return (schema: object) => {
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"doc#/')
    const valid = compiled.get(text) ?? ajv.compile(JSON.parse(text))
    compiled.set(text, valid)
    return valid
  }
}

/** What the document says of a status: by itself, by its first digit, or like any other. */
export const documentedAnswer = ({ responses }: Operation, status: number): Answer | undefined =>
  responses[status] ?? responses[`${String(status)[0]}XX`] ?? responses.default

/** Checks answers against the document; returns what is wrong, or undefined. `onEvent` gets the description of each event of a stream. */
export function judging(document: Document, onEvent: (description: string) => void = () => {}) {
  const validOf = checking(document)
  return async ({ operation }: Placed, response: Response): Promise<string | undefined> => {
    const { operationId } = operation
    const text = await response.text()
    const where = `${operationId} ${response.status} ${text.slice(0, 200)}`
    const documented = documentedAnswer(operation, response.status)
    if (!documented) return `${where}: the status is not in the document`
    if (!documented.content) return text === '' ? undefined : `${where}: no body is in the document`
    const type = response.headers.get('content-type')?.split(';', 1)[0] ?? ''
    const { schema } = documented.content[type] ?? {}
    if (!schema) return `${where}: the content type ${type} is not in the document`
    const valid = validOf(schema)
    if (!valid(type === 'application/json' ? JSON.parse(text) : text))
      return `${where}: ${JSON.stringify(valid.errors)}`
    if (type !== 'text/event-stream') return undefined
    return eventsWrong(text, schema, validOf, onEvent)
  }
}

interface DocumentedEvent {
  readonly description: string
  readonly event?: string
  readonly data: object
}

function eventsWrong(
  text: string,
  schema: object,
  validOf: (schema: object) => (value: unknown) => boolean,
  onEvent: (description: string) => void,
) {
  const documented = (schema as { readonly 'x-standin-events': readonly DocumentedEvent[] })['x-standin-events']
  const wrong = text.split('\n\n').filter(event => {
    const data = /^data: (.*)$/m.exec(event)?.[1]
    if (data === undefined) return event.replace(/^:.*$/gm, '').trim() !== ''
    const name = /^event: (.*)$/m.exec(event)?.[1]
    const value: unknown = data.startsWith('{') ? JSON.parse(data) : data
    const found = documented.find(one => one.event === name && validOf(one.data)(value))
    if (found) onEvent(found.description)
    return !found
  })
  return wrong.length > 0 ? `an event is not in the document: ${wrong[0]}` : undefined
}
