/** The one form in which requests are compared: JSON with its keys sorted, a query with its parameters sorted. */

import { jsonTexts } from './redacted/json-texts.js'

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON that nests deeper is kept as text: no platform asks for it, and the stack has an end. */
const DEEPEST = 200

/** What a text says as JSON, with the keys of its objects sorted; nothing where it is none, or nests too deep. */
export function jsonIn(text: string): { readonly value: unknown } | undefined {
  try {
    // RFC 8259 §8.1 lets a reader ignore a byte order mark, and the platform does.
    return { value: sorted(exactly(text.replace(/^\ufeff/, ''))) }
  } catch {
    return undefined
  }
}

/** As `JSON.parse`, but for whole numbers of which it would lose digits: they become texts, so that one is not another. */
function exactly(json: string): unknown {
  const value: unknown = JSON.parse(json)
  if (!/(?:^|[\s:,[])-?\d{16}/.test(json)) return value
  const losing = [...jsonTexts(json)].filter(
    ({ start, end, kind }) => kind === 'number' && losesDigits(json.slice(start, end)),
  )
  if (losing.length === 0) return value
  let open = ''
  let at = 0
  for (const { start, end } of losing) {
    open += `${json.slice(at, start)}"${json.slice(start, end)}"`
    at = end
  }
  return JSON.parse(open + json.slice(at))
}

function losesDigits(number: string): boolean {
  if (!/^-?\d{16,}$/.test(number)) return false
  return !Number.isFinite(Number(number)) || BigInt(number) !== BigInt(Number(number))
}

/** The same value with the keys of its objects sorted. Throws a RangeError where it nests too deep. */
export function sorted(value: unknown, depth = DEEPEST): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) throw new RangeError('This nests too deep.')
  if (Array.isArray(value)) return value.map(item => sorted(item, depth - 1))
  return sortedFields(value as JsonObject, item => sorted(item, depth - 1))
}

/** An object with its keys sorted, and each of its values as `change` makes it. */
export function sortedFields(object: JsonObject, change = (value: unknown) => value): JsonObject {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(object).sort()) put(copy, key, change(object[key]))
  return copy
}

/** Sets a field, whatever it is called. */
export function put(object: Record<string, unknown>, key: string, value: unknown): void {
  // Set as any other it would become the prototype.
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, writable: true })
  else object[key] = value
}

/** A parameter of a query, as it is written there. */
export type Parameter = readonly [name: string, value: string | undefined]

export function parametersIn(query: string): readonly Parameter[] {
  const written = query.split('&').filter(parameter => parameter !== '')
  return written.map(parameter => {
    const end = parameter.indexOf('=')
    return end < 0 ? [parameter, undefined] : [parameter.slice(0, end), parameter.slice(end + 1)]
  })
}

const queryOf = (parameters: readonly Parameter[]): string =>
  parameters.map(([name, value]) => (value === undefined ? name : `${name}=${value}`)).join('&')

/** Sorted by name, then by value. */
export const sortedQuery = (query: string): string => queryOf([...parametersIn(query)].sort(byNameThenValue))

/** Sorted, and with each character encoded in the one way that `encodeURIComponent` encodes it. */
export const normalQuery = (query: string): string =>
  sortedQuery(queryOf(parametersIn(query).map(([name, value]) => [encoded(name), value && encoded(value)])))

const byNameThenValue = ([a, x = '']: Parameter, [b, y = '']: Parameter) => compared(a, b) || compared(x, y)
const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function encoded(written: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(written.replaceAll('+', ' ')))
  } catch {
    return written
  }
}
