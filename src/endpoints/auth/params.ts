/** Reads what an auth request carries, as Go's JSON reader would: wrong types are told in its words, unknown fields passed over. */
import { kindOf } from '../../auth/claims.js'
import { badJson, validationFailed } from '../../core/auth-errors.js'
import type { Exchange } from '../../core/exchange.js'
import type { Json } from '../../core/state.js'
import { mistakeIn } from './json-mistakes.js'

/** What a field may be. A field that is missing or null is empty: '', {}, false; what ends in `?` stays undefined. */
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

/** The fields as they are read. */
export type Params<F extends Fields> = { readonly [K in keyof F]: Values[F[K]] }

const empty = { string: '', object: {}, boolean: false } as const
const goType = { string: 'string', object: 'map[string]interface {}', boolean: 'bool' } as const

/** The fields of the body; `name` is what Supabase calls them together. Throws a 400 for what is no JSON object, or a field of a wrong type. */
export function readParams<const F extends Fields>({ body }: Exchange, name: string, fields: F): Params<F> {
  const value = parsed(body?.toString('utf8') ?? '')
  if (value !== null && kindOf(value) !== 'object') {
    throw badJson(`json: cannot unmarshal ${kindOf(value)} into Go value of type api.${name}`)
  }
  const given = (value ?? {}) as Record<string, unknown>
  const read = Object.entries(fields).map(([field, kind]) => {
    const wanted = kind.replace('?', '') as keyof typeof empty
    const found = Object.hasOwn(given, field) ? given[field] : undefined
    if (found === undefined || found === null) return [field, kind.endsWith('?') ? undefined : empty[wanted]]
    if (kindOf(found) === (wanted === 'boolean' ? 'bool' : wanted)) return [field, keepable(found)]
    throw badJson(
      `json: cannot unmarshal ${kindOf(found)} into Go struct field ${name}.${field} of type ${goType[wanted]}`,
    )
  })
  return Object.fromEntries(read)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw badJson(mistakeIn(text, (error as Error).message))
  }
}

/** Deeper is nobody's metadata. Go reads on until 10000, where JavaScript has long lost its way. */
const DEEPEST = 500

/** The value as it can be kept: half a character becomes U+FFFD, as Go reads it; U+0000 is refused, as PostgreSQL does. */
function keepable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw validationFailed('Text with the character U+0000 cannot be kept')
    return value.replace(/\p{Surrogate}/gu, '\ufffd')
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) throw badJson('exceeded max depth')
  if (Array.isArray(value)) return value.map(item => keepable(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [keepable(key), keepable(item, depth + 1)] as const),
  )
}

export const queryOf = ({ query }: Exchange) => new URLSearchParams(query)
