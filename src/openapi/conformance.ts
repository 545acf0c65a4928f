/** Checks a platform against an OpenAPI document: which requests are safe to make, and how their answers differ. */
import type { Finding } from '../check/finding.js'
import { validatorOf } from '../check/json-schema.js'
import type { ReceivedAnswer } from '../contract/call.js'
import type { Access } from '../core/exchange.js'
import { isObject, isReadAsJson, jsonOf } from '../core/json.js'
import { bounded, TookTooLong } from '../core/work.js'
import { responseFor } from './answers.js'
import { matchingType } from './negotiation.js'
import type { DocumentedOperation } from './operations.js'
import { parameterOf } from './parameters.js'
import { translated } from './schemas.js'

/** A request for an operation, or why there is none. */
type SafeRequest =
  | { readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly access: Access }
  | { readonly why: string }

/** Builds a request from the examples and defaults of the parameters. Only for GET, which changes nothing. */
export function safeRequestFor({ own, from, parameters }: DocumentedOperation): SafeRequest {
  if (own.method !== 'GET') return { why: `${own.method} may change something` }
  let { path } = own
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  for (const written of parameters) {
    const parameter = parameterOf(written)
    if (!parameter) continue
    const value = exampleOf(from.document.resolved(written), from.document.resolved(parameter.schema))
    if (value === undefined && parameter.required)
      return { why: `the ${parameter.in} parameter ${parameter.name} has no example and no default` }
    if (value === undefined) continue
    const texts = [value].flat().map(one => (typeof one === 'object' ? JSON.stringify(one) : String(one)))
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(texts.join(',')))
    else if (parameter.in === 'header') headers[parameter.name] = texts.join(',')
    else if (parameter.in === 'query' && parameter.required)
      for (const text of parameter.explode ? texts : [texts.join(',')]) query.append(parameter.name, text)
  }
  const [left] = /\{[^}]*\}/.exec(path) ?? []
  if (left !== undefined) return { why: `the path parameter ${left} is not described` }
  return { path: query.size === 0 ? path : `${path}?${query}`, headers, access: own.access }
}

/** An example, a default, or the first of the listed values. */
function exampleOf(parameter: unknown, schema: unknown): unknown {
  for (const place of [parameter, schema]) {
    if (!isObject(place)) continue
    if (place.example !== undefined) return place.example
    const [first] = isObject(place.examples)
      ? Object.values(place.examples)
      : Array.isArray(place.examples)
        ? place.examples
        : []
    if (first !== undefined) return isObject(first) && 'value' in first ? first.value : first
    if (place.default !== undefined) return place.default
    if (Array.isArray(place.enum)) return place.enum[0]
  }
  return undefined
}

/** Most bodies take a millisecond. */
const LONGEST_MS = 5000

/** The differences between an answer and the document. */
export function findingsIn(
  operation: DocumentedOperation,
  { status, headers, text }: ReceivedAnswer,
): readonly Finding[] {
  const { document } = operation.from
  const critical = (path: string, sentence: string): Finding => ({ severity: 'critical', path, sentence })
  const response = responseFor(operation, status)
  if (!response) return [critical('status', `The document does not describe the status ${status}.`)]
  const content = isObject(response.content) ? response.content : {}
  const types = Object.keys(content)
  if (types.length === 0 || status === 204 || status === 304) return []
  const sent = headers.get('content-type') ?? ''
  const type = matchingType(sent, types)
  if (sent === '' || type === undefined)
    return [critical('content-type', `It is ${sent || 'missing'}. The document describes ${types.join(', ')}.`)]
  const media = document.resolved(content[type])
  if (!isReadAsJson(sent) || !isObject(media) || media.schema === undefined) return []
  const value = jsonOf(text)
  if (value === undefined) return [critical('', 'The body is not JSON.')]
  return mistakesIn(translated(document, media.schema, 'response'), value).map(sentence => critical('', sentence))
}

function mistakesIn(schema: object, value: unknown): readonly string[] {
  try {
    const mistakes = bounded(() => validatorOf(schema)(value, { whole: 'The body' }), LONGEST_MS)
    return mistakes.map(({ sentence }) => withoutValue(sentence))
  } catch (error) {
    if (error instanceof TookTooLong || error instanceof RangeError) return ['The body could not be checked in time.']
    throw error
  }
}

/** Reports are shared, so they must not contain values of the live platform. */
const withoutValue = (sentence: string) => sentence.replace(/, not .*$/s, '.')
