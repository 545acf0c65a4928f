/** JSON from outside: limits on its depth and size, numbers with many digits, and where its strings end. */
import { randomUUID } from 'node:crypto'
import { tooDeep, tooManyValues } from './errors.js'

/** A little more than the metadata of a user may have, and far less than a stack bears. */
export const MOST_LEVELS = 1100

/**
 * Texts, commas and brackets: 8,500 messages, say. Reading and checking that many takes some 40 ms; the largest honest requests have a few
 * thousand, up to 25,000 with 128 tools of large schemas.
 */
export const MOST_VALUES = 60_000

/** More than a thousand rules in one call. Making that many ready takes some 50 ms. */
export const MOST_VALUES_OF_RULES = 20_000

/** Whether objects and arrays stand inside one another more than `levels` times. */
export const isTooDeep = (value: unknown, levels = MOST_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(inner => isTooDeep(inner, levels - 1)))

const [QUOTE, BACKSLASH] = [0x22, 0x5c]

/**
 * Throws a 400 for JSON of too many levels, or of too many values. Looks at bytes, before anything is parsed, and at none of a body
 * that is too short for either. What is no JSON passes, for the parser to refuse.
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

/** Where the string ends whose first character is at `start`: at a quote without an odd number of backslashes before it. Of a text that is cut, its length. */
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

/** Stands in front of the digits of a number that travels as a text. A client cannot guess it. */
const MARK = `${randomUUID()} `

const longNumber = /\d{16}/
/** A number as it stands in JSON. */
const number = /-?\d[\d.eE+-]*/y
const marked = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

/** Throws a SyntaxError for what is not JSON. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!longNumber.test(text)) return value
  const withMarks = marking(text)
  if (withMarks === text) return value
  return JSON.parse(withMarks, (_key, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  )
}

/** One expression for all of it would run out of stack at a text of a million escapes. */
function marking(text: string): string {
  const parts: string[] = []
  let done = 0
  for (let i = 0; i < text.length; i++) {
    const letter = text.charCodeAt(i)
    if (letter === QUOTE) i = closingQuote(text, i + 1)
    else if (letter === 0x2d || (letter >= 0x30 && letter <= 0x39)) {
      number.lastIndex = i
      const [written] = number.exec(text) ?? ['-']
      if (isBeyondNumbers(written)) {
        parts.push(text.slice(done, i), `"${MARK}${written}"`)
        done = i + written.length
      }
      i += written.length - 1
    }
  }
  return done === 0 ? text : parts.join('') + text.slice(done)
}

const isBeyondNumbers = (part: string) => /^-?\d{16,}$/.test(part) && !Number.isSafeInteger(Number(part))

/** As JSON.stringify, with BigInts written as numbers. */
export function stringifyExact(value: unknown, space?: number): string {
  try {
    return JSON.stringify(value, null, space)
  } catch (error) {
    // Only BigInts, which are rare, are worth the second way.
    if (!(error instanceof TypeError)) throw error
    const text = JSON.stringify(value, (_key, inside) => (typeof inside === 'bigint' ? MARK + inside : inside), space)
    return text.replace(marked, '$1')
  }
}

/** The text of a JSON body. RFC 8259 §8.1 lets a reader ignore a byte order mark, and some editors put one in front of a file that curl then sends. */
export const jsonText = (body: Buffer): string =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.toString('utf8', 3) : body.toString('utf8')

/** The value of a JSON text or body; `undefined` for what is not JSON. */
export function jsonOf(json: string | Buffer): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : jsonText(json))
  } catch {
    return undefined
  }
}

export const isJson = (text: string): boolean => jsonOf(text) !== undefined

/** Regular expressions as files write them. */
export function withoutExpressions(value: unknown): unknown {
  if (value instanceof RegExp) return String(value)
  if (Array.isArray(value)) return value.map(withoutExpressions)
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isPlain
    ? Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, withoutExpressions(inside)]))
    : value
}
