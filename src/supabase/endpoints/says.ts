/**
 * Describes the auth backend's endpoints for the OpenAPI document. The platform's own document contains none of them.
 */
import type { AnswerDescription, EndpointDescription, JsonSchema, NamedSchema } from '../../core/exchange.js'
import { operationId } from '../../core/paths.js'
import type { Fields } from './params.js'

/** How an endpoint describes itself. */
export interface About {
  /** Defaults to an id made of method and path. */
  readonly id?: string
  readonly does: string
  /** Descriptions of the query parameters. */
  readonly query?: Readonly<Record<string, string>>
  /** The fields of the body. */
  readonly fields?: Fields
  readonly isBodyOptional?: true
  readonly answer: Answer
}

/** The usual responses; `none` if the endpoint only refuses. */
type Answer =
  | 'user'
  | 'session'
  | 'session or user'
  | 'session or message'
  | 'link'
  | 'object'
  | 'list'
  | 'no body'
  | 'redirect'
  | 'none'

/** `at` is the endpoint's method and path: `GET /user`. */
export async function operationOf(at: string, about: About, access: readonly string[]): Promise<EndpointDescription> {
  const { id = idOf(at), does, query, fields, isBodyOptional, answer } = about
  return {
    ...{ id, does, access },
    ...(query && { query: { type: 'object', properties: mapped(query, description => ({ ...text, description })) } }),
    ...(fields && { body: { type: 'object', properties: mapped(fields, kind => fieldOf(kind)) } }),
    ...(isBodyOptional && { isBodyOptional }),
    answers: await answersOf(answer),
  }
}

/** For example `getAuthFactorsId` for `GET /factors/{id}`. */
const idOf = (at: string) => operationId(at.replace(/^\w+/, method => `${method.toLowerCase()} auth`))

const text: JsonSchema = { type: 'string' }

function mapped<T>(record: Readonly<Record<string, T>>, make: (value: T) => JsonSchema) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, make(value)]))
}

/** Null counts as missing. */
const fieldOf = (kind: Fields[string]): JsonSchema => ({ type: [kind.replace('?', ''), 'null'] })

const sessionOrUser: NamedSchema = [
  'SessionOrUser',
  { anyOf: [{ $ref: '#/components/schemas/Session' }, { $ref: '#/components/schemas/User' }] },
]

const sessionOrMessage: NamedSchema = [
  'SessionOrMessage',
  {
    anyOf: [
      { $ref: '#/components/schemas/Session' },
      { type: 'object', properties: { code: text, msg: text }, required: ['code', 'msg'] },
    ],
  },
]

async function answersOf(answer: Answer): Promise<Readonly<Record<number, AnswerDescription>>> {
  const { linkAnswer, sessionAnswer, userAnswer } = await import('../answers.js')
  const session = 'The session with its tokens and user.'
  const unconfirmed = 'The session, or only the user if the address has to be confirmed first.'
  const halfWay = 'The session, or a message if the other address of a change has to be confirmed as well.'
  const answers: Readonly<Record<Answer, Readonly<Record<number, AnswerDescription>>>> = {
    user: { 200: { what: 'The user.', form: ['User', userAnswer] } },
    session: { 200: { what: session, form: ['Session', sessionAnswer] } },
    'session or user': { 200: { what: unconfirmed, form: sessionOrUser } },
    'session or message': { 200: { what: halfWay, form: sessionOrMessage } },
    link: { 200: { what: 'The user, and the link.', form: ['Link', linkAnswer] } },
    object: { 200: { what: 'An object.', schema: { type: 'object' } } },
    list: { 200: { what: 'A list.', schema: { type: 'array' } } },
    'no body': { 204: { what: 'The request succeeded.' } },
    redirect: { 303: { what: 'Redirects the browser back to the app, with the result.' } },
    none: {},
  }
  return answers[answer]
}
