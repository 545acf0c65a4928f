/** Checks requests against their operation: reads parameters by their location, style and type, and bodies by their media type. */
import type { Mistake } from '../check/check.js'
import { TooManySteps, validatorOf } from '../check/json-schema.js'
import { alternatives, encodedContent, invalidRequest, quotedStart, refusal } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { isObject, jsonOf, mayBeJson, modestJsonBody } from '../core/json.js'
import { memoized, once } from '../core/work.js'
import { bodyOf } from '../replies/index.js'
import { matchingType } from './answers.js'
import type { DocumentedOperation } from './operations.js'
import { type Node, type OpenApiDocument, translateSchema } from './schemas.js'

/** Throws, or rejects with, a 400 that names the fields that are wrong, or a 415 for a body of another type. */
type RequestCheck = (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<void>

type Validate = () => (value: unknown) => readonly Mistake[]

/** Returns a function that checks requests of one operation. Schemas are translated when they are first needed. */
export function createRequestCheck({
  source: { document },
  definition,
  parameters: all,
}: DocumentedOperation): RequestCheck {
  const parameters = all.map(parameterOf).filter((one): one is DescribedParameter => one !== undefined)
  const body = document.resolve(definition.requestBody)
  const content = isObject(body) && isObject(body.content) ? body.content : {}
  const schemaOf = (type: string | undefined) => {
    const media = type === undefined ? undefined : document.resolve(content[type])
    return isObject(media) ? media.schema : undefined
  }
  /** The schema for a body of this type and the parameters; without a type, for the parameters only. */
  const compiledFor = memoized((type: string | undefined): Validate => {
    const body = schemaOf(type)
    const properties = { ...parameterSchemas(parameters), ...(body !== undefined && { body }) }
    return once(() => validatorOf(translateSchema(document, { type: 'object', properties }, 'request'), true))
  })

  return async (exchange, params) => {
    const type = typeOfBody(exchange, content, isObject(body) && body.required === true)
    const formOf = (form: Node) => formFields(document, schemaOf(type), form)
    const value = type === undefined ? undefined : await readBody(exchange, formOf)
    const values = { ...parameterValues(document, parameters, exchange, params), body: value }
    const isEmpty = emptyParameters(parameters, exchange.query)
    const mistakes = mistakesOf(compiledFor(value === undefined ? undefined : type), values).filter(
      ({ path: [location, name] }) => location !== 'query' || !isEmpty.has(name),
    )
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

/** Parses the body so that a schema can check it; `undefined` if it is not checked. */
async function readBody(exchange: Exchange, formOf: (form: Node) => Node | undefined): Promise<unknown> {
  const { 'content-encoding': encoding } = exchange.headers
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encodedContent(encoding)
  const contentType = contentTypeOf(exchange.headers)
  if (mayBeJson(contentType)) return modestJsonBody(exchange.body ?? Buffer.of())
  if (/^text\/plain\b/i.test(contentType)) return exchange.body?.toString()
  if (!/^(multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(contentType)) return undefined
  const form = await bodyOf(exchange)
  return isObject(form) ? formOf(form) : form
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

/** At most this many mistakes are listed. */
const MOST_MISTAKES = 10

function mistakesInWords(mistakes: readonly Mistake[]): string {
  const sentences = mistakes.slice(0, MOST_MISTAKES).map(({ sentence }) => sentence)
  const others = mistakes.length - sentences.length
  return [...sentences, ...(others > 0 ? [`And ${others} more.`] : [])].join(' ')
}

const locations = ['path', 'query', 'header', 'cookie'] as const
/** The location of a parameter. */
type ParameterLocation = (typeof locations)[number]

export interface DescribedParameter {
  readonly name: string
  readonly in: ParameterLocation
  readonly required: boolean
  readonly schema: unknown
  /** Whether its value is JSON, by its `content`. */
  readonly isJson: boolean
  readonly style: string
  readonly explode: boolean
  /** Whether `?name=` is right, whatever the schema says. */
  readonly allowsEmpty: boolean
}

const defaultStyles: Readonly<Record<ParameterLocation, string>> = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
}

/** Parameters of these styles are not read, so they are not checked. */
export const uncheckedStyles: ReadonlySet<string> = new Set(['label', 'matrix', 'deepObject'])

/** OpenAPI ignores header parameters with these names. */
const ignoredHeaders = new Set(['accept', 'content-type', 'authorization'])

export function parameterOf(definition: Node): DescribedParameter | undefined {
  const { name, required, schema, content, explode } = definition
  const location = definition.in as ParameterLocation
  if (typeof name !== 'string' || !locations.includes(location)) return undefined
  if (location === 'header' && ignoredHeaders.has(name.toLowerCase())) return undefined
  const style = typeof definition.style === 'string' ? definition.style : defaultStyles[location]
  if (uncheckedStyles.has(style)) return undefined
  const [media] = isObject(content) ? Object.values(content) : []
  return {
    name: location === 'header' ? name.toLowerCase() : name,
    in: location,
    required: required === true || location === 'path',
    schema: schema ?? (isObject(media) ? media.schema : undefined),
    isJson: schema === undefined && isObject(content) && Object.keys(content).some(type => /json/i.test(type)),
    style,
    explode: typeof explode === 'boolean' ? explode : style === 'form',
    allowsEmpty: location === 'query' && definition.allowEmptyValue === true,
  }
}

/** The names of the parameters that are sent without a value, and may be. */
function emptyParameters(parameters: readonly DescribedParameter[], query: string): ReadonlySet<unknown> {
  const search = new URLSearchParams(query)
  return new Set(parameters.flatMap(({ allowsEmpty, name }) => (allowsEmpty && search.get(name) === '' ? [name] : [])))
}

/** The parts of a schema that decide how a text is parsed. */
interface SchemaFacts {
  readonly types: ReadonlySet<string>
  readonly items: unknown
  readonly properties: Node
}

/** Collects the facts of a schema and its alternatives. `seen` has the schemas visited so far, because alternatives can be circular. */
function schemaFacts(document: OpenApiDocument, schema: unknown, seen = new Set<unknown>()): SchemaFacts {
  const found = document.resolve(schema)
  if (!isObject(found) || seen.has(found)) return { types: new Set(), items: undefined, properties: {} }
  seen.add(found)
  const parts = ['allOf', 'oneOf', 'anyOf'].flatMap(keyword => (Array.isArray(found[keyword]) ? found[keyword] : []))
  const inner = parts.map(part => schemaFacts(document, part, seen))
  const own = [found.type].flat().filter(type => typeof type === 'string')
  const implied =
    own.length > 0 ? [] : [...('properties' in found ? ['object'] : []), ...('items' in found ? ['array'] : [])]
  return {
    types: new Set([...own, ...implied, ...inner.flatMap(({ types }) => [...types])]),
    items: found.items ?? inner.find(({ items }) => items !== undefined)?.items,
    properties: Object.fromEntries([...inner, { properties: found.properties }].flatMap(entriesOf)),
  }
}

const entriesOf = ({ properties }: { readonly properties: unknown }) =>
  isObject(properties) ? Object.entries(properties) : []

/** Parses a text as the number, boolean or null that its schema allows; otherwise returns the text. */
function parseAs(document: OpenApiDocument, schema: unknown, text: unknown): unknown {
  if (typeof text !== 'string') return text
  const { types } = schemaFacts(document, schema)
  if ((types.has('integer') || types.has('number')) && /^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text))
    return Number(text)
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.has('null') && text === 'null') return null
  if (types.has('object') && !types.has('string')) return jsonOf(text) ?? text
  return text
}

/** All parameters of a request by location and name. */
export function parameterValues(
  document: OpenApiDocument,
  parameters: readonly DescribedParameter[],
  { query, headers }: Pick<Exchange, 'query' | 'headers'>,
  params: Readonly<Record<string, string>>,
): Readonly<Record<ParameterLocation, Readonly<Record<string, unknown>>>> {
  const search = new URLSearchParams(query)
  const cookies = new URLSearchParams((headers.cookie ?? '').replaceAll(/;\s*/g, '&'))
  const readers: Readonly<Record<ParameterLocation, (parameter: DescribedParameter) => unknown>> = {
    query: parameter => fromQuery(document, parameter, search),
    cookie: parameter => fromQuery(document, parameter, cookies),
    path: parameter => fromText(document, parameter, params[parameter.name]),
    header: parameter => fromText(document, parameter, headers[parameter.name]?.toString()),
  }
  const values: Record<ParameterLocation, Record<string, unknown>> = { path: {}, query: {}, header: {}, cookie: {} }
  for (const parameter of parameters) {
    const value = readers[parameter.in](parameter)
    if (value !== undefined) Object.defineProperty(values[parameter.in], parameter.name, { value, enumerable: true })
  }
  return values
}

function fromText(
  document: OpenApiDocument,
  { schema, isJson, explode }: DescribedParameter,
  text: string | undefined,
) {
  if (text === undefined) return undefined
  if (isJson) return jsonOf(text) ?? text
  const { types, items, properties } = schemaFacts(document, schema)
  const split = text === '' ? [] : text.split(',')
  if (types.has('array')) return split.map(one => parseAs(document, items, one))
  if (types.has('object')) return parseObject(document, properties, split, explode)
  return parseAs(document, schema, text)
}

/** Parses `a,1,b,2`, or `a=1,b=2` if exploded. */
function parseObject(document: OpenApiDocument, properties: Node, parts: readonly string[], explode: boolean): unknown {
  const pairs = explode
    ? parts.map(part => part.split('=', 2))
    : parts.flatMap((name, i) => (i % 2 === 0 ? [[name, parts[i + 1] ?? '']] : []))
  return Object.fromEntries(
    pairs.map(([name = '', value = '']) => [name, parseAs(document, ownProperty(properties, name), value)]),
  )
}

const ownProperty = (properties: Node, name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined)

/** The characters between the items of a list that is one text. Other styles use a comma. */
const separators: Readonly<Record<string, string>> = { spaceDelimited: ' ', pipeDelimited: '|' }

function fromQuery(document: OpenApiDocument, parameter: DescribedParameter, search: URLSearchParams): unknown {
  const { name, schema, style, explode, isJson } = parameter
  const { types, items, properties } = schemaFacts(document, schema)
  if (types.has('object') && !types.has('string') && explode && !isJson) {
    const fields = Object.keys(properties).filter(key => search.has(key))
    if (fields.length === 0) return undefined
    return Object.fromEntries(fields.map(key => [key, parseAs(document, properties[key], search.get(key))]))
  }
  const all = [...search.getAll(name), ...search.getAll(`${name}[]`)]
  const [first] = all
  if (first === undefined) return undefined
  if (isJson || !types.has('array')) return fromText(document, { ...parameter, explode: false }, first)
  const texts = explode ? all : first.split(separators[style] ?? ',')
  return texts.map(text => parseAs(document, items, text))
}

/**
 * Parses the fields of a form by the schema of its body. Returns undefined if a name has brackets that the schema does not
 * have: such forms have their own conventions for objects and lists, so they are not checked.
 */
function formFields(document: OpenApiDocument, schema: unknown, form: Node): Node | undefined {
  const { properties } = schemaFacts(document, schema)
  if (Object.keys(form).some(name => name.includes('[') && !Object.hasOwn(properties, name))) return undefined
  const fields = Object.entries(form).map(([name, field]) => {
    const { types, items } = schemaFacts(document, ownProperty(properties, name))
    // OpenAPI describes a file of a multipart form as text of the format binary.
    const texts = [field].flat().map(one => (isObject(one) ? one.text : one))
    if (types.has('array')) return [name, texts.map(text => parseAs(document, items, text))]
    return [name, texts.length > 1 ? texts : parseAs(document, ownProperty(properties, name), texts[0])]
  })
  return Object.fromEntries(fields)
}

/** The OpenAPI schema of all parameters: an object for each location. */
function parameterSchemas(parameters: readonly DescribedParameter[]): Readonly<Record<string, Node>> {
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
