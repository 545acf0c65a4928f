/**
 * Reads the body of an auth request as Go's JSON reader does: wrong types are refused with Go's message, unknown fields
 * are ignored.
 */
import type { Exchange } from '../../core/exchange.js'
import type { Json } from '../../core/state.js'
import { badJson, validationFailed } from '../errors.js'
import { kindOf } from '../tokens.js'

/** The types of fields. A missing or null field is empty: '', {}, false. With `?` it is undefined instead. */
type Kind = 'string' | 'string?' | 'object' | 'object?' | 'boolean' | 'boolean?'

interface Values {
  string: string
  'string?': string | undefined
  object: Json
  'object?': Json | undefined
  boolean: boolean
  'boolean?': boolean | undefined
}

export type Fields = Readonly<Record<string, Kind>>

/** The values of the fields. */
export type Params<F extends Fields> = { readonly [K in keyof F]: Values[F[K]] }

const empty = { string: '', object: {}, boolean: false } as const
const goType = { string: 'string', object: 'map[string]interface {}', boolean: 'bool' } as const

/**
 * Reads the fields of the body. `name` is Supabase's name for the parameters. Throws a 400 if the body is no JSON
 * object or a field has the wrong type.
 */
export function readParams<const F extends Fields>({ body }: Exchange, name: string, fields: F): Params<F> {
  const value = parseJson(body?.toString('utf8') ?? '')
  if (value !== null && kindOf(value) !== 'object') {
    throw badJson(`json: cannot unmarshal ${kindOf(value)} into Go value of type api.${name}`)
  }
  const given = (value ?? {}) as Record<string, unknown>
  const values = Object.entries(fields).map(([field, kind]) => {
    const type = kind.replace('?', '') as keyof typeof empty
    const found = Object.hasOwn(given, field) ? given[field] : undefined
    if (found === undefined || found === null) return [field, kind.endsWith('?') ? undefined : empty[type]]
    if (kindOf(found) === (type === 'boolean' ? 'bool' : type)) return [field, storable(found)]
    throw badJson(
      `json: cannot unmarshal ${kindOf(found)} into Go struct field ${name}.${field} of type ${goType[type]}`,
    )
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
const DEEPEST = 500

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
  if (depth > DEEPEST) throw badJson('exceeded max depth')
  if (Array.isArray(value)) return value.map(item => storable(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storable(key), storable(item, depth + 1)] as const),
  )
}

export const queryOf = ({ query }: Exchange) => new URLSearchParams(query)
