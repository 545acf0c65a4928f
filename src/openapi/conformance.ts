/** Checks a platform against an OpenAPI document: builds safe requests, and compares their answers with the document. */
import type { Finding } from '../check/finding.js'
import { validatorOf } from '../check/json-schema.js'
import type { ReceivedAnswer } from '../contract/call.js'
import type { Access } from '../core/exchange.js'
import { isObject, jsonOf, mayBeJson } from '../core/json.js'
import { TimeLimitError, withTimeLimit } from '../core/work.js'
import { responseFor } from './answers.js'
import { matchingType } from './negotiation.js'
import type { DocumentedOperation } from './operations.js'
import { type DescribedParameter, parameterOf, separators } from './parameters.js'
import { translateSchema } from './schemas.js'

/** A request for an operation, or the reason why none can be built. */
type SafeRequest =
  | { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly access: Access }
  | { readonly why: string }

/** Builds a request from the examples and defaults of the parameters. Only GET is safe. */
export function safeRequestFor({ endpoint, source, parameters }: DocumentedOperation): SafeRequest {
  if (endpoint.method !== 'GET') return { why: `${endpoint.method} may change something` }
  let { path } = endpoint
  const query: string[] = []
  const cookies: string[] = []
  const headers: Record<string, string> = {}
  for (const definition of parameters) {
    const parameter = parameterOf(definition)
    if (!parameter) continue
    const value = exampleOf(source.document.resolve(definition), source.document.resolve(parameter.schema))
    if (value === undefined && parameter.required)
      return { why: `the ${parameter.in} parameter ${parameter.name} has no example and no default` }
    if (value === undefined) continue
    const { in: place, name } = parameter
    if (place === 'path') path = path.replace(`{${name}}`, () => pathText(parameter, value))
    else if (place === 'header') headers[name] = partsOf(parameter, value, textOf).join(',')
    else if (parameter.required) (place === 'query' ? query : cookies).push(...fieldsOf(parameter, value))
  }
  const [unfilled] = /\{[^}]*\}/.exec(path) ?? []
  if (unfilled !== undefined) return { why: `the path parameter ${unfilled} is not described` }
  if (cookies.length > 0) headers.cookie = cookies.join('; ')
  return { path: query.length === 0 ? path : `${path}?${query.join('&')}`, headers, access: endpoint.access }
}

const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

const encode = (value: unknown) => encodeURIComponent(textOf(value))

/** The texts that represent a value: the items of a list, or the names and values of an object. */
function partsOf({ isJson, explode }: DescribedParameter, value: unknown, text = encode): readonly string[] {
  if (Array.isArray(value) && !isJson) return value.map(text)
  if (!isObject(value) || isJson) return [text(value)]
  return Object.entries(value).flatMap(pair => (explode ? [pair.map(text).join('=')] : pair.map(text)))
}

/** The fields of a query, such as `p=1` and `p=2`, in the style of the parameter. */
function fieldsOf(parameter: DescribedParameter, value: unknown): readonly string[] {
  const { style, explode, isJson } = parameter
  const name = encode(parameter.name)
  if (style === 'deepObject') return nestedFieldsOf(name, value)
  const parts = partsOf(parameter, value)
  const separator = separators[style]
  // Commas are not percent-encoded.
  const delimiter = separator === undefined ? ',' : encode(separator)
  if (!explode || isJson || typeof value !== 'object') return [`${name}=${parts.join(delimiter)}`]
  return isObject(value) ? parts : parts.map(part => `${name}=${part}`)
}

const nestedFieldsOf = (name: string, value: unknown): readonly string[] =>
  typeof value !== 'object' || value === null
    ? [`${name}=${encode(value)}`]
    : Object.entries(value).flatMap(([key, inner]) => nestedFieldsOf(`${name}[${encode(key)}]`, inner))

function pathText(parameter: DescribedParameter, value: unknown): string {
  const { style, explode } = parameter
  if (style === 'matrix') return `;${fieldsOf(parameter, value).join(';')}`
  const parts = partsOf(parameter, value)
  return style === 'label' ? `.${parts.join(explode ? '.' : ',')}` : parts.join(',')
}

/** An example, a default, or the first of the listed values. */
function exampleOf(parameter: unknown, schema: unknown): unknown {
  for (const place of [parameter, schema]) {
    if (!isObject(place)) continue
    if (place.example !== undefined) return place.example
    const [first] = Object.values(place.examples ?? {})
    if (first !== undefined) return isObject(first) && 'value' in first ? first.value : first
    if (place.default !== undefined) return place.default
    if (Array.isArray(place.enum)) return place.enum[0]
  }
  return undefined
}

/** Most bodies are checked within a millisecond. */
const LONGEST_MS = 5000

/** The differences between an answer and the document. */
export function findingsIn(
  operation: DocumentedOperation,
  { status, headers, text }: ReceivedAnswer,
): readonly Finding[] {
  const { document } = operation.source
  const critical = (path: string, sentence: string): Finding => ({
    ...{ severity: 'critical', source: 'openapi', path, sentence },
  })
  const response = responseFor(operation, status)
  if (!response) return [critical('status', `The document does not describe the status ${status}.`)]
  const content = isObject(response.content) ? response.content : {}
  const types = Object.keys(content)
  if (types.length === 0 || status === 204 || status === 304) return []
  const sent = headers.get('content-type') ?? ''
  const type = matchingType(sent, types)
  if (sent === '' || type === undefined)
    return [critical('content-type', `It is ${sent || 'missing'}. The document describes ${types.join(', ')}.`)]
  const media = document.resolve(content[type])
  if (!mayBeJson(sent) || !isObject(media) || media.schema === undefined) return []
  const value = jsonOf(text)
  if (value === undefined) return [critical('', 'The body is not JSON.')]
  return mistakesIn(translateSchema(document, media.schema, 'response'), value).map(sentence => critical('', sentence))
}

function mistakesIn(schema: object, value: unknown): readonly string[] {
  try {
    // Reports are shared, so they must not contain values of the live platform.
    const mistakes = withTimeLimit(
      () => validatorOf(schema)(value, { whole: 'The body', secret: () => true }),
      LONGEST_MS,
    )
    return mistakes.map(({ sentence }) => sentence)
  } catch (error) {
    if (error instanceof TimeLimitError || error instanceof RangeError)
      return ['The body could not be checked in time.']
    throw error
  }
}
