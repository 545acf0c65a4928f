/** Tells JSON that would take too long to read, or is nested so deeply that whatever goes through it by recursion runs out of stack. */
import { tooDeep, tooManyValues } from './errors.js'

/** A little more than the metadata of a user may have, and far less than a stack bears. */
export const MOST_LEVELS = 1100

/**
 * Texts, commas and brackets: 8,500 messages, say. To read and check so many takes some 40 ms; the largest honest requests have a few
 * thousand, up to 25,000 with 128 tools of large schemas.
 */
export const MOST_VALUES = 60_000

/** More than a thousand rules in one call. To make so many ready takes some 50 ms. */
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
        i = endOfText(body, i)
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

/** Where the text ends that begins at `start`. Most have no quotes inside, and then it is found without a look at each byte. */
function endOfText(body: Buffer, start: number): number {
  const end = body.indexOf(QUOTE, start + 1)
  if (end < 0) return body.length
  if (body[end - 1] !== BACKSLASH) return end
  for (let i = start + 1; i < body.length; i++) {
    if (body[i] === BACKSLASH) i++
    else if (body[i] === QUOTE) return i
  }
  return body.length
}
