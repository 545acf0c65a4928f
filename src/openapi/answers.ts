/** Answers an operation with the examples of its document, or with values generated from its schemas. */

import { alternatives, refusal } from '../core/errors.js'
import type { Exchange, JsonSchema } from '../core/exchange.js'
import { headerValueOf } from '../core/http.js'
import { isObject, stringifyExact } from '../core/json.js'
import { type AnsweredBy, asUtf8, type Reply } from '../core/reply.js'
import { memoized, once } from '../core/work.js'
import { sampled, seedOfTexts, UnfitSchema } from '../replies/index.js'
import type { DocumentedOperation } from './operations.js'
import { type Node, type OpenApiDocument, translateSchema } from './schemas.js'
import { framesOfStreams } from './streams.js'

/** Answers one operation. Schemas are translated when they are first needed. */
export function createAnswers(operation: DocumentedOperation, seed: number) {
  const { endpoint, definition, source } = operation
  const { document } = source
  const title = `${endpoint.method} ${endpoint.path}`
  const responses = isObject(definition.responses) ? definition.responses : {}
  const responseAt = memoized((key: string) => responseOf(document, responses[key]))

  /** Rejects if the request prefers a status or an example that the document does not have. */
  async function answer(exchange: Exchange): Promise<Reply> {
    const prefers = preferencesIn(exchange.headers.prefer)
    const match = statusFor(Object.keys(responses), prefers.code)
    if (!match) throw notInDocument(`the status ${prefers.code}`, title, Object.keys(responses))
    const response = responseAt(match.key)
    const input = { seed: seedFor(exchange, seed), title, prefers, accept: exchange.headers.accept }
    const { contentType, body, example } = await responseBody(response, input, match.status)
    const headers = await responseHeaders(response, input)
    const answeredBy: AnsweredBy = {
      kind: 'openapi',
      document: document.name,
      operation: title,
      ...(example !== undefined && { example }),
    }
    return { kind: 'reply', status: match.status, contentType, headers, body, answeredBy }
  }

  /** Why no value fits the usual answer; `undefined` if one does, or if the document has an example. */
  async function whyNone(): Promise<string | undefined> {
    const { media } = responseAt(statusFor(Object.keys(responses), undefined)?.key ?? '')
    const { schema, examples, name } = media.get(acceptedType(undefined, [...media.keys()]) ?? '') ?? {}
    if (!schema || examples?.size) return undefined
    try {
      await sampled({ schema: schema(), seeds: [0], name: name ?? '', isSmall: true })
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

/** The response for this status; by default the first success, or an empty 200 if the document has none. */
export function statusFor(keys: readonly string[], code: number | undefined) {
  const range = (status: number) => keys.find(key => key.toUpperCase() === `${Math.floor(status / 100)}XX`)
  if (code !== undefined) {
    const key = keys.find(one => one === String(code)) ?? range(code) ?? keys.find(one => one === 'default')
    return key === undefined ? undefined : { key, status: code }
  }
  const [success] = keys.filter(key => /^[23]\d\d$/.test(key)).toSorted()
  if (success !== undefined) return { key: success, status: Number(success) }
  return { key: range(200) ?? keys.find(one => one === 'default') ?? '', status: 200 }
}

interface MediaDescription {
  readonly examples: ReadonlyMap<string, unknown>
  readonly schema: (() => JsonSchema) | undefined
  /** The name of the schema. */
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
  const { itemSchema, example, examples, content, ...more } = isObject(media) ? media : ({} as Node)
  // OpenAPI 3.2 describes one item of a stream.
  const schema =
    more.schema ?? (itemSchema === undefined ? undefined : { type: 'array', minItems: 1, items: itemSchema })
  // A header may have its schema inside a media type.
  const [inner] = schema === undefined && isObject(content) ? Object.values(content) : []
  if (inner !== undefined) return mediaOf(document, inner)
  const reference = isObject(schema) && typeof schema.$ref === 'string' ? schema.$ref : ''
  const named = Object.entries(isObject(examples) ? examples : {}).flatMap(([name, one]) => {
    const found = document.resolve(one)
    // OpenAPI 3.2 calls it dataValue.
    const key = ['value', 'dataValue'].find(key => isObject(found) && key in found)
    return isObject(found) && key ? [[name, exampleValue(document, found[key])] as const] : []
  })
  return {
    examples: new Map([...(example === undefined ? [] : [['', exampleValue(document, example)] as const]), ...named]),
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
  readonly prefers: Preferences
  readonly accept: string | undefined
}

async function responseBody({ media }: ResponseDescription, input: GenerationInput, status: number) {
  const types = [...media.keys()]
  // RFC 9110 §15.3.5 and §15.4.5.
  if (types.length === 0 || status === 204 || status === 304) return { contentType: '', body: '' }
  const type = acceptedType(input.accept, types)
  const chosen = type === undefined ? undefined : media.get(type)
  if (type === undefined || !chosen) throw notAcceptable(input.title, types)
  const { value, example } = await valueFrom(chosen, input)
  const defaultType = typeof value === 'string' ? 'application/octet-stream' : 'application/json'
  const contentType = type.includes('*') ? defaultType : asUtf8(type)
  return { contentType, body: serializeBody(contentType, value, chosen.name), example }
}

async function valueFrom(
  { examples, schema, name }: MediaDescription,
  { seed, title, prefers }: GenerationInput,
): Promise<{ readonly value: unknown; readonly example?: string }> {
  if (prefers.example !== undefined) {
    if (examples.has(prefers.example)) return { value: examples.get(prefers.example), example: prefers.example }
    throw notInDocument(`the example ${JSON.stringify(prefers.example)}`, title, [...examples.keys()].filter(Boolean))
  }
  const [first] = prefers.dynamic && schema ? [] : examples
  if (first) return { value: first[1], example: first[0] }
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
    const { value } = await valueFrom({ ...media, name }, { ...input, prefers: {} })
    const text = headerValueOf(name, typeof value === 'object' ? stringifyExact(value) : String(value))
    if (text !== undefined) texts.push(name, text)
  }
  return texts
}

/** Texts are sent unchanged unless the type is JSON or a stream. `name` is the root element of XML. */
function serializeBody(contentType: string, value: unknown, name: string): string {
  const frame = framesOfStreams.get(mediaType(contentType))
  if (frame && value !== '') return frame(value)
  if (/[/+]json\b/i.test(contentType)) return stringifyExact(value ?? null)
  if (typeof value === 'string') return value
  if (/[/+]xml\b/i.test(contentType)) return `<?xml version="1.0" encoding="UTF-8"?>\n${element(name || 'root', value)}`
  return stringifyExact(value ?? '')
}

function element(name: string, value: unknown): string {
  const tag = /^[\p{L}_][\p{L}\d_.-]*$/u.test(name) ? name : 'item'
  if (Array.isArray(value)) return value.map(one => element(tag, one)).join('')
  if (!isObject(value)) return `<${tag}>${escapeXml(value === null ? '' : String(value))}</${tag}>`
  const inner = Object.entries(value).map(([key, field]) => element(key, field))
  return `<${tag}>${inner.join('')}</${tag}>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeXml = (text: string) => text.replace(/[&<>]/g, letter => entities[letter] ?? letter)

const mediaType = (type: string) => (type.split(';', 1)[0] ?? '').trim().toLowerCase()

const matches = (range: string, type: string) =>
  range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))

/** The entry of `types` that matches a Content-Type. Entries may be ranges such as `image/*`. */
export function matchingType(sent: string, types: readonly string[]): string | undefined {
  const type = mediaType(sent)
  return types.find(one => mediaType(one) === type) ?? types.find(one => matches(mediaType(one), type))
}

/** The entry of `types` that an Accept header prefers. On a tie, JSON wins. */
function acceptedType(accept: string | undefined, types: readonly string[]): string | undefined {
  const ranges = (accept ?? '*/*').split(',').map(part => {
    const [, quality = '1'] = /;\s*q=([\d.]+)/i.exec(part) ?? []
    return { range: mediaType(part), quality: Number(quality) || 0 }
  })
  const rated = types.map(type => {
    const found = ranges.filter(({ range }) => matches(range, mediaType(type)) || matches(mediaType(type), range))
    const quality = Math.max(0, ...found.map(({ quality }) => quality))
    return { type, quality, isJson: /[/+]json\b/i.test(type) }
  })
  const [best] = rated
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality || Number(b.isJson) - Number(a.isJson))
  return best?.type
}

interface Preferences {
  readonly code?: number
  readonly example?: string
  /** Whether to generate values instead of using examples. */
  readonly dynamic?: boolean
}

/**
 * Reads the same preferences as Prism: `code=404`, `example=empty`, `dynamic=true`. Others are ignored (RFC 7240 §2).
 */
function preferencesIn(header: string | readonly string[] | undefined): Preferences {
  if (header === undefined) return {}
  const found = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of [header].flat().join(',').matchAll(preference)) {
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), quoted ?? plain)
  }
  const [code = '', example, dynamic] = ['code', 'example', 'dynamic'].map(name => found.get(name))
  return {
    ...(/^[1-5]\d\d$/.test(code) && { code: Number(code) }),
    ...(example !== undefined && { example }),
    ...(dynamic === 'true' && { dynamic: true }),
  }
}

const preference = /(?:^|[,;])\s*([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s,;"]*))/g

/** For a request whose `Prefer` header asks for a response or an example that its operation does not have. */
const notInDocument = (what: string, operation: string, known: readonly string[]) =>
  refusal(
    404,
    'not_in_document',
    `${operation} does not have ${what}. ${known.length === 0 ? 'It has none.' : `It has ${listOf(known)}.`}`,
  )

const notAcceptable = (operation: string, types: readonly string[]) =>
  refusal(406, 'not_acceptable', `${operation} answers with ${alternatives(types)}. Accept one of them.`)

const noFittingValue = (operation: string, why: string) =>
  refusal(500, 'no_fitting_value', `${operation} cannot be answered: ${why}.`)

/** Joins names: `a`, `a and b`, `a, b and c`. */
const listOf = (names: readonly string[]) => alternatives(names).replace(/ or (?=[^,]*$)/, ' and ')
