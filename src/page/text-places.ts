/** Lines and columns in a text, and where it stops being valid JSON (RFC 8259). Not all browsers report that. */

interface JsonMistake {
  /** Both count from 1. */
  readonly line: number
  readonly column: number
  readonly sentence: string
}

/** The parsed value of a text, or the place of the first error. */
export function readJson(text: string): { readonly value: unknown } | { readonly mistake: JsonMistake } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    const place = placeOfMistake(text)
    // Errors that only the browser finds, such as too deep nesting, have no place.
    return { mistake: place === undefined ? unplaced(error) : mistakeAt(text, place) }
  }
}

const unplaced = (error: unknown): JsonMistake => ({ line: 1, column: 1, sentence: `It cannot be read: ${error}.` })

function mistakeAt(text: string, place: number): JsonMistake {
  const before = text.slice(0, place).split('\n')
  const line = before.length
  const column = (before.at(-1)?.length ?? 0) + 1
  const met = [...text.slice(place, place + 2)][0]
  const what = met === undefined ? 'it ends too early' : `${named(met)} cannot stand here${advice(text, place, met)}`
  return { line, column, sentence: `Line ${line}, column ${column}: ${what}.` }
}

const named = (letter: string) => (letter === '\n' || letter === '\r' ? 'a line end' : JSON.stringify(letter))

function advice(text: string, place: number, met: string): string {
  if (met === "'") return '; texts stand between double quotes'
  if (met === '/' || met === '#') return '; JSON has no comments'
  if ((met === '}' || met === ']') && /,\s*$/.test(text.slice(0, place))) return '; the comma before it is one too many'
  return ''
}

const space = /[ \t\n\r]*/y
const word = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids these characters.
const plain = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y

/** The end of the pattern's match at `place`. */
function passed(pattern: RegExp, text: string, place: number): number {
  pattern.lastIndex = place
  return place + (pattern.exec(text)?.[0].length ?? 0)
}

type Kind = '{' | '}' | '[' | ']' | ',' | ':' | 'text' | 'word'
/** What may come next: a value, a key, or what follows one in an object, in a list or at the top level. */
type Awaited = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'after {' | 'after [' | 'after all'
type Steps = { readonly [kind in Kind]?: Awaited | 'after' }

const value: Steps = { '{': 'first key', '[': 'first value', text: 'after', word: 'after' }
const steps: Readonly<Record<Awaited, Steps>> = {
  value,
  'first value': { ...value, ']': 'after' },
  key: { text: 'colon' },
  'first key': { text: 'colon', '}': 'after' },
  colon: { ':': 'value' },
  'after {': { ',': 'key', '}': 'after' },
  'after [': { ',': 'value', ']': 'after' },
  'after all': {},
}

const kindAt = (letter: string): Kind =>
  letter === '"' ? 'text' : letter !== '' && '{}[],:'.includes(letter) ? (letter as Kind) : 'word'

/** The end of the piece that begins at `at`, and whether it is complete. */
function pieceAt(text: string, at: number, kind: Kind): { readonly end: number; readonly isWhole: boolean } {
  if (kind === 'text') {
    const end = passed(plain, text, at + 1)
    return text.charAt(end) === '"' ? { end: end + 1, isWhole: true } : { end, isWhole: false }
  }
  const end = kind === 'word' ? passed(word, text, at) : at + 1
  return { end, isWhole: end > at }
}

/** Not recursive, so deep nesting is not a problem. `undefined` if the text is valid. */
export function placeOfMistake(text: string): number | undefined {
  const open: string[] = []
  let awaited: Awaited = 'value'
  let at = passed(space, text, 0)
  while (awaited !== 'after all' || at < text.length) {
    const kind = kindAt(text.charAt(at))
    const next: Awaited | 'after' | undefined = steps[awaited][kind]
    if (next === undefined) return at
    const { end, isWhole } = pieceAt(text, at, kind)
    if (!isWhole) return end
    if (kind === '{' || kind === '[') open.push(kind)
    if (kind === '}' || kind === ']') open.pop()
    awaited = next === 'after' ? (`after ${open.at(-1) ?? 'all'}` as Awaited) : next
    at = passed(space, text, end)
  }
  return undefined
}

/** The offset of a line and a column, both counted from 1; the nearest existing place if there is none. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split('\n')
  const above = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  const length = lines[line - 1]?.length ?? 0
  return Math.min(text.length, above + Math.min(column - 1, length))
}
