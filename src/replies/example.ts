/** Finds the JSON object in a prompt that shows what the answer should look like. */
import { isObject, jsonOf } from '../core/json.js'

/** The last JSON object in a text; of nested objects, the outer one. Reads no character more than a few times. */
export function exampleIn(text: string): object | undefined {
  let last: Found | undefined
  for (let from = 0; ; ) {
    opening.lastIndex = from
    const start = opening.exec(text)?.index
    if (start === undefined) break
    const { found, end } = objectAt(text, start)
    last = found ?? last
    from = end
  }
  const example = last && jsonOf(text.slice(last.start, last.end))
  return isObject(example) ? example : undefined
}

interface Found {
  readonly start: number
  readonly end: number
}

const opening = /\{[ \t\r\n]*"/g
const jsonToken =
  /[ \t\r\n]*(?:("(?:[^"\\\p{Cc}]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/uy

/**
 * Reads JSON from `start` until the object ends, or until it is no JSON. `found` is the object, or the last one inside
 * of it that is entire; `end` is where the next one may begin.
 */
function objectAt(text: string, start: number): { readonly found: Found | undefined; readonly end: number } {
  const open: (Pick<Found, 'start'> & { readonly close: string })[] = []
  let found: Found | undefined
  let expected: 'first key' | 'key' | 'colon' | 'first value' | 'value' | 'more' = 'value'
  let [end, quote] = [start, start]
  for (;;) {
    jsonToken.lastIndex = end
    const [whole = '', string, scalar, mark] = jsonToken.exec(text) ?? []
    const top = open.at(-1)
    const next = end + whole.length
    if (expected.endsWith('value') && (string ?? scalar) !== undefined) expected = 'more'
    else if (expected.endsWith('value') && (mark === '{' || mark === '[')) {
      open.push({ start: next - 1, close: mark === '{' ? '}' : ']' })
      expected = mark === '{' ? 'first key' : 'first value'
    } else if (expected.endsWith('key') && string !== undefined) expected = 'colon'
    else if (expected === 'colon' && mark === ':') expected = 'value'
    else if (expected === 'more' && mark === ',') expected = top?.close === '}' ? 'key' : 'value'
    else if (mark !== undefined && mark === top?.close && (expected === 'more' || expected.startsWith('first'))) {
      if (mark === '}' && expected === 'more') found = { start: top.start, end: next }
      open.pop()
      expected = 'more'
      if (open.length === 0) return { found, end: next }
    } else return { found, end: openingBefore(text, quote) ?? end }
    end = next
    if (string !== undefined) quote = next - 1
  }
}

/** A brace at the end of a text in quotes, which may be an object after a stray quote: `5" screen, so {"size":5}`. */
function openingBefore(text: string, quote: number): number | undefined {
  let at = quote - 1
  while (text[at] === ' ') at--
  return text[at] === '{' && text[quote] === '"' ? at : undefined
}
