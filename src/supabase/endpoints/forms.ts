/** Reads the fields of requests to the auth backend. */
import type { Exchange } from '../../core/exchange.js'
import { isObject } from '../../core/json.js'
import type { Json } from '../../state/rows.js'
import { badJson, validationFailed } from '../errors.js'

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

type Fields = Readonly<Record<string, FieldKind>>

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
