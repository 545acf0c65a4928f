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
  } catch (error) {
    throw badJson(mistakeIn(text, (error as Error).message))
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

const UNEXPECTED_END = 'unexpected end of JSON input'

/** The ends of Go's messages, by the beginning of V8's. */
const messageEnds: readonly (readonly [RegExp, string])[] = [
  [/^Expected (property name|double-quoted)/, 'looking for beginning of object key string'],
  [/^Expected ':'/, 'after object key'],
  [/^Expected .* after property value/, 'after object key:value pair'],
  [/^Expected .* after array element/, 'after array element'],
  [/^Unexpected non-whitespace/, 'after top-level value'],
  [/^Unexpected number/, 'after object key:value pair'],
  [/^Bad control/, 'in string literal'],
  [/^Bad escaped/, 'in string escape code'],
  [/^Bad Unicode/, 'in \\u hexadecimal character escape'],
  [/^No number/, 'in numeric literal'],
  [/^Unterminated fractional/, 'after decimal point in numeric literal'],
  [/^Exponent/, 'in exponent of numeric literal'],
]

/** Go's message for `text`, given the message with which JSON.parse failed. */
function mistakeIn(text: string, message: string): string {
  const [, token] = /^Unexpected token '(.)'/su.exec(message) ?? []
  if (token !== undefined) return `invalid character ${quoted(token)} looking for beginning of value`
  const [, position] = /at position (\d+)/.exec(message) ?? []
  const [character] = text.slice(Number(position ?? text.length))
  if (character === undefined || /^Unterminated string/.test(message)) return UNEXPECTED_END
  const [, end = 'looking for beginning of value'] = messageEnds.find(([beginning]) => beginning.test(message)) ?? []
  return `invalid character ${quoted(character)} ${end}`
}

/** A character as Go quotes it. */
function quoted(character: string): string {
  if (character === "'") return "'\\''"
  if (character === '"') return `'"'`
  return `'${JSON.stringify(character).slice(1, -1)}'`
}
