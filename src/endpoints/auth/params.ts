/** Reads what an auth request carries, as Go's JSON reader would: wrong types are told in its words, unknown fields passed over. */
import { badJson } from '../../core/auth-errors.js'
import type { Exchange } from '../../core/exchange.js'
import type { Json } from '../../core/state.js'

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

type Fields = Readonly<Record<string, Kind>>

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
    if (kindOf(found) === (wanted === 'boolean' ? 'bool' : wanted)) return [field, found]
    throw badJson(
      `json: cannot unmarshal ${kindOf(found)} into Go struct field ${name}.${field} of type ${goType[wanted]}`,
    )
  })
  return Object.fromEntries(read)
}

/** What Go calls the kind of a JSON value. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const [, character] = /Unexpected (?:token|non-whitespace character) '?(.)/.exec((error as Error).message) ?? []
    throw badJson(
      character === undefined || text.trim() === ''
        ? 'unexpected end of JSON input'
        : `invalid character '${character}' looking for beginning of value`,
    )
  }
}

export const queryOf = ({ query }: Exchange) => new URLSearchParams(query)
