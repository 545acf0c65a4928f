/** The fields of requests and the forms of answers: reads the first, and describes both for the OpenAPI document. */
import * as v from 'valibot'
import { open, text } from '../../check/forms.js'
import type {
  AnswerDescription,
  DocumentedSchema,
  EndpointDescription,
  Exchange,
  JsonSchema,
} from '../../core/exchange.js'
import { isObject } from '../../core/json.js'
import { operationId } from '../../core/paths.js'
import type { Json } from '../../state/rows.js'
import { badJson, validationFailed } from '../errors.js'
import { userForm } from '../operations.js'

/** The types of fields. A missing or null field is empty: '', {}, false. With `?` it is undefined instead. */
type FieldKind = 'string' | 'string?' | 'object' | 'object?' | 'boolean' | 'boolean?'

interface Values {
  string: string
  'string?': string | undefined
  object: Json
  'object?': Json | undefined
  boolean: boolean
  'boolean?': boolean | undefined
}

export type Fields = Readonly<Record<string, FieldKind>>

/** The values of the fields. */
export type Params<F extends Fields> = { readonly [K in keyof F]: Values[F[K]] }

const empty = { string: '', object: {}, boolean: false } as const

/**
 * Reads the fields of the body; unknown fields are ignored. Throws a 400 if the body is no JSON object or a field has the
 * wrong type.
 */
export function readParams<const F extends Fields>({ body }: Pick<Exchange, 'body'>, fields: F): Params<F> {
  const given = parseJson(body?.toString('utf8') ?? '') ?? {}
  if (!isObject(given)) throw badJson('it must be an object')
  const values = Object.entries(fields).map(([field, kind]) => {
    const type = kind.replace('?', '') as keyof typeof empty
    const found = Object.hasOwn(given, field) ? given[field] : undefined
    if (found === undefined || found === null) return [field, kind.endsWith('?') ? undefined : empty[type]]
    if (type === 'object' ? !isObject(found) : typeof found !== type) throw badJson(`${field} must be of type ${type}`)
    return [field, storable(found)]
  })
  return Object.fromEntries(values)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Node's message repeats part of the text, which may have a password in it.
    throw badJson(text === '' ? 'unexpected end of JSON input' : 'it is not valid JSON')
  }
}

/** Real metadata is never deeper. Go's limit of 10000 is far more than JavaScript can recurse. */
const DEEPEST_METADATA = 500

/**
 * Returns the value in a form that can be stored: a lone surrogate becomes U+FFFD, as in Go; U+0000 is refused, as by
 * PostgreSQL.
 */
function storable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw validationFailed('Text with the character U+0000 cannot be kept')
    return value.toWellFormed()
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST_METADATA) throw badJson('exceeded max depth')
  if (Array.isArray(value)) return value.map(item => storable(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storable(key), storable(item, depth + 1)] as const),
  )
}

const wholeSeconds = v.pipe(v.number(), v.integer())

const sessionForm = open({
  access_token: text,
  token_type: v.literal('bearer'),
  expires_in: wholeSeconds,
  expires_at: wholeSeconds,
  refresh_token: text,
  user: userForm,
  weak_password: v.optional(open({ reasons: v.array(text), message: v.optional(text) })),
})

/** The errors of the backend in the older format, for clients that send no version, in the newer, of the gateway, and of OAuth. */
export const authRefusal = v.union([
  open({ code: v.pipe(v.number(), v.integer()), error_code: text, msg: text, error_id: v.optional(text) }),
  open({ code: text, message: text }),
  open({ message: text }),
  open({ error: text, error_description: text }),
])

const answered = (what: string, name: string, form: DocumentedSchema): AnswersByStatus => ({
  200: { what, form: [name, form] },
})

const described = (what: string): AnswersByStatus => ({ 200: { what, schema: { type: 'object' } } })

type AnswersByStatus = Readonly<Record<number, AnswerDescription>>

const noSignIn = { what: 'Redirects the browser to the site: no sign-in is waiting.' }

/** The usual responses; `none` if the endpoint only refuses. */
const answers = {
  user: answered('The user.', 'User', userForm),
  session: answered('The session with its tokens and user.', 'Session', sessionForm),
  'session or user': described('The session, or only the user if the address has to be confirmed first.'),
  'session or message': described(
    'The session, or a message if the other address of a change has to be confirmed as well.',
  ),
  link: described('The user, and the link.'),
  object: described('An object.'),
  list: { 200: { what: 'A list.', schema: { type: 'array' } } },
  'no body': { 204: { what: 'The request succeeded.' } },
  redirect: { 303: { what: 'Redirects the browser back to the app, with the result.' } },
  'to the provider': { 302: { what: 'Redirects the browser to the page of the provider.' } },
  'back from the provider': { 302: { what: 'Redirects the browser back to the app, with the result.' }, 303: noSignIn },
  page: { 200: { what: 'The page.', type: 'text/html' }, 303: noSignIn },
  none: {},
} as const satisfies Record<string, AnswersByStatus>

/** How an endpoint describes itself. */
export interface About {
  /** Method and path below /auth/v1: `GET /user`. */
  readonly at: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`
  /** Defaults to an id made of method and path, such as `getAuthFactorsId` for `GET /factors/{id}`. */
  readonly id?: string
  readonly does: string
  /** Descriptions of the query parameters. */
  readonly query?: Readonly<Record<string, string>>
  /** The fields of the body. */
  readonly fields?: Fields
  readonly isBodyOptional?: true
  readonly answer: keyof typeof answers
}

export function operationOf(about: About, access: readonly string[]): EndpointDescription {
  const { at, does, query, fields, isBodyOptional, answer } = about
  const id = about.id ?? operationId(at.replace(/^\w+/, method => `${method.toLowerCase()} auth`))
  return {
    id,
    does,
    access,
    ...(query && { query: propertiesOf(query, description => ({ type: 'string', description })) }),
    // Null counts as missing.
    ...(fields && { body: propertiesOf(fields, kind => ({ type: [kind.replace('?', ''), 'null'] })) }),
    ...(isBodyOptional && { isBodyOptional }),
    answers: answers[answer],
  }
}

function propertiesOf<T>(record: Readonly<Record<string, T>>, schemaOf: (value: T) => JsonSchema): JsonSchema {
  const properties = Object.entries(record).map(([name, value]) => [name, schemaOf(value)] as const)
  return { type: 'object', properties: Object.fromEntries(properties) }
}
