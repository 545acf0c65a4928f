/** Parses JSON from outside: limits its depth and size, and keeps numbers with many digits. */
import { randomUUID } from 'node:crypto'
import { encodedContent, notJson, tooDeep, tooManyValues } from './errors.js'

/** The deepest nesting of objects and arrays. A user's metadata may have a little less; the stack can hold far more. */
export const MOST_LEVELS = 1100

/**
 * At most this many strings, commas and opening brackets: about 8,500 messages, which take about 40 ms to parse and
 * check. The largest real requests have a few thousand, and up to 25,000 with 128 tools with large schemas.
 */
export const MOST_VALUES = 60_000

/** The same limit for rules: over a thousand in one request, which take about 50 ms to compile. */
export const MOST_VALUES_OF_RULES = 20_000

/** Whether objects and arrays are nested deeper than `levels`. */
export const isTooDeep = (value: unknown, levels = MOST_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(inner => isTooDeep(inner, levels - 1)))

const [QUOTE, BACKSLASH] = [0x22, 0x5c]

/**
 * Throws a 400 for JSON with too many levels or values. Looks at the bytes before anything is parsed, and skips bodies
 * that are too short for either. Invalid JSON passes; the parser will refuse it.
 */
export function requireModestJson(body: Buffer, mostValues = MOST_VALUES): void {
  if (body.length <= MOST_LEVELS) return
  let levels = 0
  let values = 0
  for (let i = 0; i < body.length; i++) {
    switch (body[i]) {
      case QUOTE:
        values++
        i = closingQuote(body, i + 1)
        break
      case 0x2c: // ,
        values++
        break
      case 0x5b: // [
      case 0x7b: // {
        values++
        if (++levels > MOST_LEVELS) throw tooDeep(MOST_LEVELS)
        break
      case 0x5d: // ]
      case 0x7d: // }
        levels--
    }
    if (values > mostValues) throw tooManyValues(mostValues)
  }
}

/**
 * Finds the end of the string whose first character is at `start`: the next quote without an odd number of backslashes
 * before it. If the text is cut, returns its length.
 */
export function closingQuote(json: string | Buffer, start: number): number {
  for (let quote = nextQuote(json, start); quote >= 0; quote = nextQuote(json, quote + 1)) {
    let first = quote
    while (first > start && isBackslash(json, first - 1)) first--
    if ((quote - first) % 2 === 0) return quote
  }
  return json.length
}

const nextQuote = (json: string | Buffer, from: number) =>
  typeof json === 'string' ? json.indexOf('"', from) : json.indexOf(QUOTE, from)

const isBackslash = (json: string | Buffer, i: number) =>
  (typeof json === 'string' ? json.charCodeAt(i) : json[i]) === BACKSLASH

/** The prefix of a string that stands for a number with many digits. Clients cannot guess it. */
const MARK = `${randomUUID()} `

const longNumber = /\d{16}/
/** A number in JSON. */
const number = /-?\d[\d.eE+-]*/y
const markedNumber = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

/** Parses JSON, and keeps long whole numbers as BigInts. Throws a SyntaxError for invalid JSON. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!longNumber.test(text)) return value
  const withMarks = markLongNumbers(text)
  if (withMarks === text) return value
  return JSON.parse(withMarks, (_key, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  )
}

/**
 * Writes long whole numbers as strings that begin with MARK. A single regular expression for the whole text would
 * overflow the stack with a million escapes.
 */
function markLongNumbers(text: string): string {
  const parts: string[] = []
  let done = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = closingQuote(text, i + 1)
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      number.lastIndex = i
      const [digits] = number.exec(text) ?? ['-']
      if (losesDigits(digits)) {
        parts.push(text.slice(done, i), `"${MARK}${digits}"`)
        done = i + digits.length
      }
      i += digits.length - 1
    }
  }
  return done === 0 ? text : parts.join('') + text.slice(done)
}

/** Longer numbers stay what JSON.parse makes of them, like 1e400, since creating a BigInt takes quadratic time. */
const losesDigits = (digits: string) => /^-?\d{16,500}$/.test(digits) && !Number.isSafeInteger(Number(digits))

/** Like JSON.stringify, but writes BigInts as numbers. */
export function stringifyExact(value: unknown, space?: number): string {
  try {
    return JSON.stringify(value, null, space)
  } catch (error) {
    // JSON.stringify refuses BigInts. They are rare, so the usual case is tried first.
    if (!(error instanceof TypeError)) throw error
    const text = JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? MARK + part : part), space)
    return text.replace(markedNumber, '$1')
  }
}

/**
 * The text of a JSON body. RFC 8259 §8.1 allows readers to ignore a byte order mark, which some editors add to files
 * that curl then sends.
 */
export const jsonText = (body: Buffer): string =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.toString('utf8', 3) : body.toString('utf8')

/** Parses a JSON text or body; `undefined` if it is invalid. */
export function jsonOf(json: string | Buffer): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : jsonText(json))
  } catch {
    return undefined
  }
}

/** The same, with long whole numbers as BigInts. */
export function exactJsonOf(json: string): unknown {
  try {
    return parseExact(json)
  } catch {
    return undefined
  }
}

/** The fields in the header or the payload of a JWT whose signature is not checked; none if it is not readable. */
export function unverifiedFields(part = ''): Readonly<Record<string, unknown>> {
  const fields = jsonOf(Buffer.from(part, 'base64url'))
  return isObject(fields) ? fields : {}
}

/** Whether a value of JSON is an object: neither a list nor null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isJson = (text: string): boolean => jsonOf(text) !== undefined

/** The value of a request's body. Throws a 400 if it is not JSON. */
export function jsonBody(body: Buffer): unknown {
  try {
    return JSON.parse(jsonText(body))
  } catch (error) {
    throw notJson((error as Error).message)
  }
}

/** The same. Also throws a 400 for a body with too many levels or values. */
export function modestJsonBody(body: Buffer): unknown {
  requireModestJson(body)
  return jsonBody(body)
}

/** The same, with long whole numbers as BigInts. */
export function exactJsonBody(body: Buffer): unknown {
  requireModestJson(body)
  try {
    return parseExact(jsonText(body))
  } catch (error) {
    throw notJson((error as Error).message)
  }
}

/** Whether a Content-Type is that of JSON. Formats based on JSON have the suffix "+json" (RFC 6839). */
export const isJsonType = (contentType: string): boolean =>
  /^application\/([\w.-]+\+)?json[ \t]*(;|$)/i.test(contentType)

/** Whether a request's body with this Content-Type is read as JSON. text/json is common, though not registered. */
export const mayBeJson = (contentType: string): boolean => isJsonType(contentType.replace(/^text\//i, 'application/'))

/** Throws a 415 for a request body that is compressed. */
export function requireUnencoded(contentEncoding: string | undefined): void {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity')
    throw encodedContent(contentEncoding)
}
