/** Writes one operation as OpenAPI has it. */
import type { AnswerDescription, EndpointDescription, EventDescription, JsonSchema } from '../../core/exchange.js'
import type { Forms } from './forms.js'
import { errorForm, errorsOf, type Placed, sourced } from './surface.js'

export async function writeOperation(placed: Placed, forms: Forms): Promise<object> {
  const { part, operation, security } = placed
  const { id, does, more, section } = operation
  const parameters = await parametersOf(placed, forms)
  return {
    operationId: id,
    tags: [part],
    summary: does,
    ...(more !== undefined && { description: more }),
    ...sourced(section),
    security,
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && { requestBody: await requestBodyOf(operation, forms) }),
    responses: { ...(await answersOf(operation, forms)), ...errorAnswers(placed) },
  }
}

async function parametersOf(
  { path, operation: { query, headers = {} } }: Placed,
  forms: Forms,
): Promise<readonly object[]> {
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text })),
    ...(query ? queryParameters(await forms.of(query)) : []),
    ...Object.entries(headers).map(([name, description]) => ({ name, in: 'header', description, schema: text })),
  ]
}

const text: JsonSchema = { type: 'string' }

function queryParameters({ properties = {}, required = [] }: JsonSchema): readonly object[] {
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    ...((required as readonly string[]).includes(name) && { required: true }),
    schema,
  }))
}

async function requestBodyOf(
  { id, body, isBodyOptional, narrowed, section, fields }: EndpointDescription,
  forms: Forms,
) {
  if (!body) return undefined
  const form = `${id.charAt(0).toUpperCase()}${id.slice(1)}Body`
  const reference = await forms.named([form, body], { section: fields && requestSection(section), fields })
  const schema = narrowed ? { allOf: [reference, narrowed] } : reference
  return { required: isBodyOptional !== true, content: { 'application/json': { schema } } }
}

/** The table of the request's fields has a section of its own. */
const requestSection = (section: string | undefined) =>
  section === undefined ? undefined : 'Chat completion request (JSON body)'

async function answersOf({ answers }: EndpointDescription, forms: Forms): Promise<object> {
  const written = Object.entries(answers).map(async ([status, said]) => {
    const all = [said].flat()
    const contents = await Promise.all(all.map(one => contentOf(one, forms)))
    const content = Object.fromEntries(contents.flat())
    return [
      status,
      {
        description: all.map(({ what }) => what).join(' '),
        ...sourced(all[0]?.section),
        ...(contents.flat().length > 0 && { content }),
      },
    ] as const
  })
  return Object.fromEntries(await Promise.all(written))
}

type Content = readonly (readonly [type: string, content: object])[]

async function contentOf(
  { schema, form, type, events, section, fields }: AnswerDescription,
  forms: Forms,
): Promise<Content> {
  if (form) return [['application/json', { schema: await forms.named(form, { section, fields }) }]]
  if (schema) return [['application/json', { schema: await forms.of(schema) }]]
  if (type === undefined) return []
  const told = events && (await Promise.all(events.map(event => eventOf(event, forms))))
  return [[type, { schema: { ...text, ...(told && { 'x-standin-events': told }) } }]]
}

/** OpenAPI 3.1 has no word of its own for what is in a stream. */
async function eventOf({ what, name, data }: EventDescription, forms: Forms): Promise<object> {
  return {
    description: what,
    ...(name !== undefined && { event: name }),
    data: await dataOf(data, forms),
  }
}

function dataOf(data: EventDescription['data'], forms: Forms): Promise<JsonSchema> | JsonSchema {
  if (typeof data === 'string') return { const: data }
  return '~run' in data ? forms.of(data) : forms.named(data)
}

function errorAnswers(placed: Placed): object {
  const told = Object.entries(errorsOf(placed)).map(([status, { what, section }]) => {
    const schema = { $ref: `#/components/schemas/${errorForm(placed.part, status)}` }
    return [status, { description: what, ...sourced(section), content: { 'application/json': { schema } } }] as const
  })
  return Object.fromEntries(told)
}
