/** JSON that keeps every digit of long whole numbers: they are read as BigInts, and written as they were. */
import { randomUUID } from 'node:crypto'

/** Stands in front of the digits of a number that travels as a text. A client cannot guess it. */
const MARK = `${randomUUID()} `

const longNumber = /\d{16}/
/** Texts and numbers as they stand in JSON. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const marked = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

/** Throws a SyntaxError for what is not JSON. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!longNumber.test(text)) return value
  const withMarks = text.replace(token, part => (isBeyondNumbers(part) ? `"${MARK}${part}"` : part))
  if (withMarks === text) return value
  return JSON.parse(withMarks, (_key, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  )
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
