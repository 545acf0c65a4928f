/** Checks requests against their operation: parameters that are written in the usual way, and bodies of JSON. */
import type { Mistake } from '../check/check.js'
import { TooManySteps, validatorOf } from '../check/json-schema.js'
import { alternatives, encodedContent, invalidRequest, quotedStart, refusal } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { isObject, mayBeJson, modestJsonBody } from '../core/json.js'
import { memoized, once } from '../core/work.js'
import { matchingType } from './answers.js'
import type { DocumentedOperation } from './operations.js'
import { type Node, type OpenApiDocument, translateSchema } from './schemas.js'

/** Throws a 400 that names the fields that are wrong, or a 415 for a body of another type. */
type RequestCheck = (exchange: Exchange, params: Readonly<Record<string, string>>) => void

type Validate = () => (value: unknown) => readonly Mistake[]

/** Returns a function that checks requests of one operation. Schemas are translated when they are first needed. */
export function createRequestCheck({
  source: { document },
  definition,
  parameters: all,
}: DocumentedOperation): RequestCheck {
  const parameters = all.filter(one => isMeant(one) && whyUnchecked(document, one) === undefined).map(parameterOf)
  const body = document.resolve(definition.requestBody)
  const content = isObject(body) && isObject(body.content) ? body.content : {}
  /** The schema for a body of this type and the parameters; without a type, for the parameters only. */
  const compiledFor = memoized((type: string | undefined): Validate => {
    const media = type === undefined ? undefined : document.resolve(content[type])
    const body = isObject(media) ? media.schema : undefined
    const properties = { ...parameterSchemas(parameters), ...(body !== undefined && { body }) }
    return once(() => validatorOf(translateSchema(document, { type: 'object', properties }, 'request'), true))
  })

  return (exchange, params) => {
    const type = typeOfBody(exchange, content, isObject(body) && body.required === true)
    const value = type === undefined ? undefined : jsonIn(exchange)
    const values = { ...parameterValues(document, parameters, exchange, params), body: value }
    const mistakes = mistakesOf(compiledFor(value === undefined ? undefined : type), values)
    if (mistakes.length > 0) throw invalidRequest(mistakesInWords(mistakes))
  }
}

/** Which of the operation's media types the body has; `undefined` without a body. */
function typeOfBody({ body, headers }: Exchange, content: Node, isRequired: boolean): string | undefined {
  const types = Object.keys(content)
  if (types.length === 0) return undefined
  if (!body || body.length === 0) {
    if (isRequired) throw invalidRequest('body is missing.')
    return undefined
  }
  const contentType = contentTypeOf(headers)
  const type = matchingType(contentType, types)
  if (type === undefined) throw bodyNotDescribed(contentType, types)
  return type
}

const contentTypeOf = (headers: Exchange['headers']) => headers['content-type'] ?? 'application/json'

/** The value of a body of JSON; `undefined` for any other, which is not checked. */
function jsonIn({ headers, body = Buffer.of() }: Exchange): unknown {
  const { 'content-encoding': encoding } = headers
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encodedContent(encoding)
  return mayBeJson(contentTypeOf(headers)) ? modestJsonBody(body) : undefined
}

function mistakesOf(validate: Validate, values: unknown): readonly Mistake[] {
  try {
    return validate()(values)
  } catch (error) {
    if (error instanceof RangeError) return []
    if (!(error instanceof TooManySteps)) throw error
    return [{ path: [], sentence: 'The request could not be checked in time.' }]
  }
}

const MOST_MISTAKES = 10

function mistakesInWords(mistakes: readonly Mistake[]): string {
  const sentences = mistakes.slice(0, MOST_MISTAKES).map(({ sentence }) => sentence)
  const others = mistakes.length - sentences.length
  return [...sentences, ...(others > 0 ? [`And ${others} more.`] : [])].join(' ')
}

const locations = ['path', 'query', 'header', 'cookie'] as const
type ParameterLocation = (typeof locations)[number]

interface Parameter {
  readonly name: string
  readonly in: ParameterLocation
  readonly required: boolean
  readonly schema: unknown
  /** Whether a list is sent as several parameters rather than with commas. */
  readonly isRepeated: boolean
}

/** OpenAPI ignores header parameters with these names. */
const isMeant = ({ name, in: location }: Node) =>
  locations.some(one => one === location) &&
  !(location === 'header' && /^(accept|content-type|authorization)$/i.test(String(name)))

/** Why a parameter is not checked, as the rest of a sentence; `undefined` if it is. */
export function whyUnchecked(document: OpenApiDocument, { style, schema, allowEmptyValue }: Node): string | undefined {
  if (style !== undefined && style !== 'form' && style !== 'simple') return `its style is ${style}`
  if (schema === undefined) return 'it has no schema of its own'
  if (allowEmptyValue === true) return 'it may be empty'
  return typesOf(document, schema).has('object') ? 'it is an object' : undefined
}

function parameterOf({ name, in: location, required, schema, explode }: Node): Parameter {
  return {
    name: location === 'header' ? String(name).toLowerCase() : String(name),
    in: location as ParameterLocation,
    required: required === true || location === 'path',
    schema,
    isRepeated: (location === 'query' || location === 'cookie') && explode !== false,
  }
}

/** The types that a schema and its alternatives name. `seen` has the schemas visited so far, because they can be circular. */
function typesOf(document: OpenApiDocument, schema: unknown, seen = new Set<unknown>()): ReadonlySet<string> {
  const found = document.resolve(schema)
  if (!isObject(found) || seen.has(found)) return new Set()
  seen.add(found)
  const parts = ['allOf', 'oneOf', 'anyOf'].flatMap(keyword => (Array.isArray(found[keyword]) ? found[keyword] : []))
  const own = [found.type ?? ('properties' in found ? 'object' : 'items' in found ? 'array' : [])].flat()
  return new Set([...own.map(String), ...parts.flatMap(part => [...typesOf(document, part, seen)])])
}

/** Parses a text as the number, boolean or null that its schema allows; otherwise returns the text. */
function parseAs(document: OpenApiDocument, schema: unknown, text: string): unknown {
  const types = typesOf(document, schema)
  if ((types.has('integer') || types.has('number')) && /^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text))
    return Number(text)
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return types.has('null') && text === 'null' ? null : text
}

/** All parameters of a request by location and name. */
function parameterValues(
  document: OpenApiDocument,
  parameters: readonly Parameter[],
  { query, headers }: Pick<Exchange, 'query' | 'headers'>,
  params: Readonly<Record<string, string>>,
) {
  const search = new URLSearchParams(query)
  const cookies = new URLSearchParams((headers.cookie ?? '').replaceAll(/;\s*/g, '&'))
  const texts: Readonly<Record<ParameterLocation, (name: string) => readonly string[]>> = {
    query: name => [...search.getAll(name), ...search.getAll(`${name}[]`)],
    cookie: name => cookies.getAll(name),
    path: name => [params[name] ?? ''],
    header: name => [headers[name] ?? []].flat(),
  }
  const values: Record<ParameterLocation, Record<string, unknown>> = { path: {}, query: {}, header: {}, cookie: {} }
  for (const parameter of parameters) {
    const { name, in: location, schema } = parameter
    const all = texts[location](name)
    if (all.length === 0) continue
    const value = parameterValue(document, parameter, all, schema)
    Object.defineProperty(values[location], name, { value, enumerable: true })
  }
  return values
}

function parameterValue(
  document: OpenApiDocument,
  { isRepeated }: Parameter,
  all: readonly string[],
  schema: unknown,
): unknown {
  const [first = ''] = all
  if (!typesOf(document, schema).has('array')) return parseAs(document, schema, first)
  const items = isRepeated ? all : first === '' ? [] : first.split(',')
  const resolved = document.resolve(schema)
  return items.map(one => parseAs(document, isObject(resolved) ? resolved.items : undefined, one))
}

/** The OpenAPI schema of all parameters: an object for each location. */
function parameterSchemas(parameters: readonly Parameter[]): Readonly<Record<string, Node>> {
  const schemas = locations.map(location => {
    const own = parameters.filter(parameter => parameter.in === location)
    const required = own.filter(parameter => parameter.required).map(({ name }) => name)
    const properties = Object.fromEntries(own.map(({ name, schema }) => [name, schema ?? {}]))
    return [location, { type: 'object', properties, ...(required.length > 0 && { required }) }] as const
  })
  return Object.fromEntries(schemas)
}

/** For a body of a type that an OpenAPI document does not describe. */
const bodyNotDescribed = (contentType: string, types: readonly string[]) =>
  refusal(
    415,
    'unsupported_media_type',
    `The Content-Type is ${quotedStart(contentType)}. Send ${alternatives(types)}.`,
  )
