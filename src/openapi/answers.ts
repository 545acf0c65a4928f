/** Answers an operation from the examples of its document, otherwise with values that fit its schemas. */
import { type Validator, validatorOf } from '../check/json-schema.js'
import { noFittingValue, notAcceptable, notInDocument } from '../core/errors.js'
import type { AnsweredBy, Exchange, JsonSchema, Reply } from '../core/exchange.js'
import { isObject, stringifyExact } from '../core/json.js'
import { memoized, once } from '../core/work.js'
import { sampled, seedOfTexts, UnfitSchema } from '../replies/index.js'
import type { Node, OpenApiDocument } from './document.js'
import { acceptedType, type Preferences, preferencesIn } from './negotiation.js'
import type { DocumentedOperation } from './operations.js'
import { valuesIn, withValues } from './request-values.js'
import { translated } from './schemas.js'
import { writtenAs } from './write-body.js'

/**
 * Prepares the answers of one operation. Its schemas are translated when they are first needed. The returned function
 * rejects if the request prefers a status or example that the document lacks.
 */
export function createAnswers(operation: DocumentedOperation, seed: number) {
  const { own, written, from } = operation
  const { document } = from
  const title = `${own.method} ${own.path}`
  const responses = isObject(written.responses) ? written.responses : {}
  const responseAt = memoized((key: string) => responseOf(document, responses[key]))

  return async (exchange: Exchange, params: Readonly<Record<string, string>>): Promise<Reply> => {
    const prefers = preferencesIn(exchange.headers.prefer)
    const found = statusFor(Object.keys(responses), prefers.code)
    if (!found) throw notInDocument(`the status ${prefers.code}`, title, Object.keys(responses))
    const response = responseAt(found.key)
    const chance = { seed: seedFor(exchange, seed), title, prefers, accept: exchange.headers.accept }
    const isError = found.status >= 400
    const values = isError ? {} : valuesIn(exchange, params)
    const { contentType, body, example } = await bodyOf(response, { ...chance, values }, found.status)
    const headers = await headersOf(response, { ...chance, values: {} })
    const answeredBy: AnsweredBy = {
      ...{ kind: 'openapi', document: document.name, operation: title },
      ...(example !== undefined && { example }),
    }
    return { kind: 'reply', status: found.status, contentType, headers, body, answeredBy }
  }
}

/** The same request gets the same answer. */
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

/** The documented response with this status; `undefined` if there is none. */
export function responseFor({ written, from: { document } }: DocumentedOperation, status: number): Node | undefined {
  const responses = isObject(written.responses) ? written.responses : {}
  const found = statusFor(Object.keys(responses), status)
  const response = found && document.resolved(responses[found.key])
  return isObject(response) ? response : undefined
}

interface DescribedMedia {
  readonly examples: ReadonlyMap<string, unknown>
  readonly schema: (() => JsonSchema) | undefined
  /** The name of the value's schema. */
  readonly name: string
  readonly validator: () => Validator
}

interface DescribedResponse {
  readonly media: ReadonlyMap<string, DescribedMedia>
  readonly headers: ReadonlyMap<string, DescribedMedia>
}

function responseOf(document: OpenApiDocument, written: unknown): DescribedResponse {
  const response = document.resolved(written)
  const { content, headers } = isObject(response) ? response : ({} as Node)
  const described = (entries: unknown) =>
    new Map(Object.entries(isObject(entries) ? entries : {}).map(([name, one]) => [name, mediaOf(document, one)]))
  return { media: described(content), headers: described(headers) }
}

/** A media type, or a header: both have a schema and examples. */
function mediaOf(document: OpenApiDocument, written: unknown): DescribedMedia {
  const media = document.resolved(written)
  const { schema, example, examples, content } = isObject(media) ? media : ({} as Node)
  // A header may have its schema inside a media type.
  const [inner] = schema === undefined && isObject(content) ? Object.values(content) : []
  if (inner !== undefined) return mediaOf(document, inner)
  const reference = isObject(schema) && typeof schema.$ref === 'string' ? schema.$ref : ''
  const named = Object.entries(isObject(examples) ? examples : {}).flatMap(([name, one]) => {
    const found = document.resolved(one)
    return isObject(found) && 'value' in found ? [[name, exampleIn(document, found.value)] as const] : []
  })
  const own = once(() => translated(document, schema, 'response'))
  return {
    examples: new Map([...(example === undefined ? [] : [['', exampleIn(document, example)] as const]), ...named]),
    schema: schema === undefined ? undefined : own,
    name: reference.slice(reference.lastIndexOf('/') + 1),
    validator: once(() => validatorOf(own())),
  }
}

/** Some documents, such as GitHub's, have a reference to another example as the value. */
function exampleIn(document: OpenApiDocument, value: unknown): unknown {
  if (!isObject(value) || typeof value.$ref !== 'string' || Object.keys(value).length > 1) return value
  const found = document.resolved(value)
  if (found === undefined) return value
  return value.$ref.startsWith('#/components/examples/') && isObject(found) && 'value' in found ? found.value : found
}

interface GenerationInput {
  readonly seed: number
  readonly title: string
  readonly prefers: Preferences
  readonly accept: string | undefined
  readonly values: Node
}

async function bodyOf({ media }: DescribedResponse, chance: GenerationInput, status: number) {
  const types = [...media.keys()]
  // RFC 9110 §15.3.5 and §15.4.5.
  if (types.length === 0 || status === 204 || status === 304) return { contentType: '', body: '' }
  const type = acceptedType(chance.accept, types)
  const chosen = type === undefined ? undefined : media.get(type)
  if (type === undefined || !chosen) throw notAcceptable(chance.title, types)
  const { value, example } = await valueFrom(chosen, chance)
  const usual = typeof value === 'string' ? 'application/octet-stream' : 'application/json'
  const contentType = type.includes('*') ? usual : type
  return { contentType, body: writtenAs(contentType, value, chosen.name), example }
}

async function valueFrom(
  { examples, schema, name, validator }: DescribedMedia,
  { seed, title, prefers, values }: GenerationInput,
): Promise<{ readonly value: unknown; readonly example?: string }> {
  if (prefers.example !== undefined) {
    if (examples.has(prefers.example)) return { value: examples.get(prefers.example), example: prefers.example }
    throw notInDocument(`the example ${JSON.stringify(prefers.example)}`, title, [...examples.keys()].filter(Boolean))
  }
  const [first] = prefers.dynamic && schema ? [] : examples
  if (first) return { value: first[1], example: first[0] }
  if (!schema) return { value: '' }
  const own = schema()
  const [made] = await sampled({ schema: own, seeds: [seed], name }).catch(error => {
    throw error instanceof UnfitSchema ? noFittingValue(title, error.message) : error
  })
  return { value: withValues(made, values, own, validator) }
}

/** Headers that Standin or node sets itself. */
const ownHeaders = /^(content-(type|length|encoding)|transfer-encoding|connection|date|keep-alive|trailer|upgrade)$/i

/** The characters that a header's value may contain (RFC 9110 §5.5). */
const ofHeader = /^[\t\x20-\x7e\x80-\xff]*$/

async function headersOf({ headers }: DescribedResponse, chance: GenerationInput): Promise<readonly string[]> {
  const made: string[] = []
  for (const [name, media] of headers) {
    if (ownHeaders.test(name)) continue
    const { value } = await valueFrom({ ...media, name }, { ...chance, prefers: {} })
    const text = typeof value === 'object' ? stringifyExact(value) : String(value)
    if (ofHeader.test(text)) made.push(name, text)
  }
  return made
}
