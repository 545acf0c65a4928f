/** Checks requests against their operation: parameters and bodies. */
import type { Mistake } from '../check/check.js'
import { TooManySteps, validatorOf } from '../check/json-schema.js'
import { alternatives, encodedContent, invalidRequest, quotedStart, refusal } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { isObject, mayBeJson, modestJsonBody } from '../core/json.js'
import { memoized, once } from '../core/work.js'
import { bodyOf } from '../replies/index.js'
import { matchingType } from './answers.js'
import type { DocumentedOperation } from './operations.js'
import { type DescribedParameter, parameterOf, parameterSchemas, parameterValues, parseForm } from './parameters.js'
import type { Node } from './schemas.js'
import { translateSchema } from './schemas.js'

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
    return once(() => validatorOf(translateSchema(document, { type: 'object', properties }, 'request')))
  })

  return async (exchange, params) => {
    const type = typeOfBody(exchange, content, isObject(body) && body.required === true)
    const read = type === undefined ? undefined : await readBody(exchange)
    const values = {
      ...parameterValues(document, parameters, exchange, params),
      ...(read && {
        body: read.isForm && isObject(read.value) ? parseForm(document, schemaOf(type), read.value) : read.value,
      }),
    }
    const mistakes = mistakesOf(compiledFor(read ? type : undefined), values)
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

/** Parses the body so that a schema can check it; `undefined` for other media types. */
async function readBody(exchange: Exchange) {
  const { 'content-encoding': encoding } = exchange.headers
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encodedContent(encoding)
  const contentType = contentTypeOf(exchange.headers)
  if (mayBeJson(contentType)) return { value: modestJsonBody(exchange.body ?? Buffer.of()), isForm: false }
  if (/^(multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(contentType))
    return { value: await bodyOf(exchange), isForm: true }
  return /^text\/plain\b/i.test(contentType) ? { value: exchange.body?.toString(), isForm: false } : undefined
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

/** For a body of a type that an OpenAPI document does not describe. */
const bodyNotDescribed = (contentType: string, types: readonly string[]) =>
  refusal(
    415,
    'unsupported_media_type',
    `The Content-Type is ${quotedStart(contentType)}. Send ${alternatives(types)}.`,
  )
