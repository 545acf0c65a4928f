/** Answers an operation with the examples of its document, or with values generated from its schemas. */

import { refusal } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { headerValueOf } from '../core/http.js'
import { isObject, stringifyExact } from '../core/json.js'
import { type AnsweredBy, asUtf8, type Reply } from '../core/reply.js'
import { memoized, once } from '../core/work.js'
import { sampled, seedOfTexts, UnfitSchema } from '../replies/index.js'
import type { DocumentedOperation } from './operations.js'
import { type Node, type OpenApiDocument, translateSchema } from './schemas.js'

/** Answers one operation. Schemas are translated when they are first needed. */
export function createAnswers(operation: DocumentedOperation, seed: number) {
  const { endpoint, definition, source } = operation
  const { document } = source
  const title = `${endpoint.method} ${endpoint.path}`
  const responses = isObject(definition.responses) ? definition.responses : {}
  const responseAt = memoized((key: string) => responseOf(document, responses[key]))

  const { key, status } = statusFor(Object.keys(responses))

  async function answer(exchange: Exchange): Promise<Reply> {
    const response = responseAt(key)
    const input = { seed: seedFor(exchange, seed), title }
    const { contentType, body, example } = await responseBody(response, input, status)
    const headers = await responseHeaders(response, input)
    const answeredBy: AnsweredBy = {
      kind: 'openapi',
      document: document.name,
      operation: title,
      ...(example !== undefined && { example }),
    }
    return { kind: 'reply', status, contentType, headers, body, answeredBy }
  }

  /** Why no value fits the usual answer; `undefined` if one does, or if the document has an example. */
  async function whyNone(): Promise<string | undefined> {
    const { media } = responseAt(key)
    const { schema, example, name = '' } = media.get(usualType([...media.keys()])) ?? {}
    if (!schema || example) return undefined
    try {
      await sampled({ schema: schema(), seeds: [0], name, isSmall: true })
      return undefined
    } catch (error) {
      if (error instanceof UnfitSchema) return error.message
      throw error
    }
  }

  return { answer, whyNone }
}

/** The same request has the same seed, so it gets the same answer. */
const seedFor = ({ method, path, query, body }: Exchange, seed: number) =>
  seedOfTexts([seed, method, path, query, body?.toString('latin1')])

/** The first success, or an empty 200 if the document has none. */
export function statusFor(keys: readonly string[]) {
  const [success] = keys.filter(key => /^[23]\d\d$/.test(key)).toSorted()
  if (success !== undefined) return { key: success, status: Number(success) }
  return { key: keys.find(key => /^2xx$/i.test(key)) ?? keys.find(key => key === 'default') ?? '', status: 200 }
}

interface MediaDescription {
  /** The first example, with its name if it has one. */
  readonly example: { readonly name: string; readonly value: unknown } | undefined
  readonly schema: (() => Node) | undefined
  readonly name: string
}

interface ResponseDescription {
  readonly media: ReadonlyMap<string, MediaDescription>
  readonly headers: ReadonlyMap<string, MediaDescription>
}

function responseOf(document: OpenApiDocument, definition: unknown): ResponseDescription {
  const response = document.resolve(definition)
  const { content, headers } = isObject(response) ? response : ({} as Node)
  const described = (entries: unknown) =>
    new Map(Object.entries(isObject(entries) ? entries : {}).map(([name, one]) => [name, mediaOf(document, one)]))
  return { media: described(content), headers: described(headers) }
}

/** A media type, or a header: both have a schema and examples. */
function mediaOf(document: OpenApiDocument, definition: unknown): MediaDescription {
  const media = document.resolve(definition)
  const { schema, example, examples, content } = isObject(media) ? media : ({} as Node)
  // A header may have its schema inside a media type.
  const [inner] = schema === undefined && isObject(content) ? Object.values(content) : []
  if (inner !== undefined) return mediaOf(document, inner)
  const reference = isObject(schema) && typeof schema.$ref === 'string' ? schema.$ref : ''
  const named = Object.entries(isObject(examples) ? examples : {}).flatMap(([name, one]) => {
    const found = document.resolve(one)
    return isObject(found) && 'value' in found ? [{ name, value: exampleValue(document, found.value) }] : []
  })
  return {
    example: example === undefined ? named[0] : { name: '', value: exampleValue(document, example) },
    schema: schema === undefined ? undefined : once(() => translateSchema(document, schema, 'response')),
    name: reference.slice(reference.lastIndexOf('/') + 1),
  }
}

/** The value of an example. In some documents, such as GitHub's, it is a reference to another example. */
function exampleValue(document: OpenApiDocument, value: unknown): unknown {
  if (!isObject(value) || typeof value.$ref !== 'string' || Object.keys(value).length > 1) return value
  const found = document.resolve(value)
  if (found === undefined) return value
  return value.$ref.startsWith('#/components/examples/') && isObject(found) && 'value' in found ? found.value : found
}

interface GenerationInput {
  readonly seed: number
  readonly title: string
}

/** The media type that is answered: JSON, if the document has it. */
const usualType = (types: readonly string[]) => types.find(type => isJson(type) || type.includes('*')) ?? types[0] ?? ''

const isJson = (type: string) => /[/+]json\b/i.test(type)

async function responseBody({ media }: ResponseDescription, input: GenerationInput, status: number) {
  const type = usualType([...media.keys()])
  const chosen = media.get(type)
  // RFC 9110 §15.3.5 and §15.4.5.
  if (!chosen || status === 204 || status === 304) return { contentType: '', body: '' }
  const { value, example } = await valueFrom(chosen, input)
  // A text of another type, such as CSV, is sent as it is written.
  if (typeof value === 'string' && !isJson(type))
    return { contentType: type.includes('*') ? 'application/octet-stream' : asUtf8(type), body: value, example }
  return { contentType: isJson(type) ? asUtf8(type) : 'application/json', body: stringifyExact(value ?? null), example }
}

async function valueFrom(
  { example, schema, name }: MediaDescription,
  { seed, title }: GenerationInput,
): Promise<{ readonly value: unknown; readonly example?: string }> {
  if (example) return { value: example.value, example: example.name }
  if (!schema) return { value: '' }
  const [value] = await sampled({ schema: schema(), seeds: [seed], name }).catch(error => {
    throw error instanceof UnfitSchema ? noFittingValue(title, error.message) : error
  })
  return { value }
}

/** Headers that Standin or Node sets. */
const omittedHeaders =
  /^(content-(type|length|encoding)|transfer-encoding|connection|date|keep-alive|trailer|upgrade)$/i

async function responseHeaders({ headers }: ResponseDescription, input: GenerationInput): Promise<readonly string[]> {
  const texts: string[] = []
  for (const [name, media] of headers) {
    if (omittedHeaders.test(name)) continue
    const { value } = await valueFrom({ ...media, name }, input)
    const text = headerValueOf(name, typeof value === 'object' ? stringifyExact(value) : String(value))
    if (text !== undefined) texts.push(name, text)
  }
  return texts
}

const mediaType = (type: string) => (type.split(';', 1)[0] ?? '').trim().toLowerCase()

const matches = (range: string, type: string) =>
  range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))

/** The entry of `types` that matches a Content-Type. Entries may be ranges such as `image/*`. */
export function matchingType(sent: string, types: readonly string[]): string | undefined {
  const type = mediaType(sent)
  return types.find(one => mediaType(one) === type) ?? types.find(one => matches(mediaType(one), type))
}

const noFittingValue = (operation: string, why: string) =>
  refusal(500, 'no_fitting_value', `${operation} cannot be answered: ${why}.`)
