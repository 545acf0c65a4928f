/** JSON that keeps every digit of long whole numbers: they are read as BigInts, and written as they were. */
import { randomUUID } from 'node:crypto'

/** Stands in front of the digits of a number that travels as a text. A client cannot guess it. */
const MARK = `${randomUUID()} `

const longNumber = /\d{16}/
/** A text without escapes, and a number, as they stand in JSON. */
const plainText = /"[^"\\]*"/y
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
    if (letter === 0x22) i = endOfText(text, i)
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

/** Where the text ends that begins at `start`. */
function endOfText(text: string, start: number): number {
  plainText.lastIndex = start
  if (plainText.test(text)) return plainText.lastIndex - 1
  let i = start + 1
  for (; i < text.length && text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++
  return i
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
