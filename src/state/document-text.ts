/** The state's document as JSON text, read and written a few rows at a time: other requests have their turn in between. */
import { requireModestJson } from '../core/json.js'
import { inSlices, type Sliced } from '../core/work.js'

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
/** Parsed, or written, before others have their turn. */
const ROWS = 100
/** The same for rows that are long. */
const BYTES = 65_536

/** The same as JSON.parse for an object of lists. Rejects with a SyntaxError for invalid JSON, with a 400 for a row of too many values or levels. */
export const parseDocument = (body: Buffer): Promise<unknown> => inSlices(parsed(body))

/** The JSON of a document, in pieces. */
export function* documentText(document: object): Generator<string> {
  yield '{'
  for (const [i, [name, value]] of Object.entries(document).entries()) {
    yield `${i === 0 ? '' : ','}${JSON.stringify(name)}:`
    if (Array.isArray(value)) yield* listText(value)
    else yield JSON.stringify(value)
  }
  yield '}'
}

function* listText(rows: readonly unknown[]): Generator<string> {
  for (let from = 0; from < rows.length; from += ROWS) {
    yield (from === 0 ? '[' : ',') + JSON.stringify(rows.slice(from, from + ROWS)).slice(1, -1)
  }
  yield rows.length === 0 ? '[]' : ']'
}

/**
 * Takes the rows of each list out of the text and parses them in groups. What is left is a small object in which each list holds its
 * number; the rows are put there once it is parsed as well.
 */
function* parsed(body: Buffer): Sliced<unknown> {
  const lists: unknown[][] = []
  const left: string[] = []
  let leftFrom = 0
  let level = 0
  let groupFrom = -1
  let rows = 0
  let nextPause = BYTES

  function endGroup(end: number): void {
    const list = lists.at(-1) ?? []
    const group = parsedPart(`[${body.toString('utf8', groupFrom, end)}]`) as readonly unknown[]
    if (group.length === 0 && list.length > 0) throw new SyntaxError('Unexpected comma at the end of a list')
    list.push(...group)
    groupFrom = end + 1
    rows = 0
  }

  for (let i = 0; i < body.length; i++) {
    if (i > nextPause) {
      nextPause = i + BYTES
      yield
    }
    switch (body[i]) {
      case QUOTE:
        i = endOfText(body, i)
        break
      case COMMA:
        if (level === 2 && groupFrom >= 0 && (++rows === ROWS || i - groupFrom > BYTES)) {
          endGroup(i)
          yield
        }
        break
      case 0x5b: // [
        if (++level === 2 && groupFrom < 0) {
          left.push(`${body.toString('utf8', leftFrom, i + 1)}${lists.length}`)
          lists.push([])
          groupFrom = i + 1
        }
        break
      case 0x7b: // {
        level++
        break
      case 0x5d: // ]
        if (--level === 1 && groupFrom >= 0) {
          endGroup(i)
          groupFrom = -1
          leftFrom = i
        }
        break
      case 0x7d: // }
        level--
    }
  }
  left.push(body.toString('utf8', leftFrom))
  return withLists(parsedPart(left.join('')), lists)
}

function parsedPart(text: string): unknown {
  requireModestJson(Buffer.from(text))
  return JSON.parse(text)
}

/** Puts each list in the place of its number. */
function withLists(left: unknown, lists: readonly unknown[][]): unknown {
  if (typeof left !== 'object' || left === null || Array.isArray(left)) return left
  return Object.fromEntries(
    Object.entries(left).map(([name, value]) => [name, Array.isArray(value) ? lists[value[0] as number] : value]),
  )
}

/** Where the text ends that begins at `start`. */
function endOfText(body: Buffer, start: number): number {
  for (let end = body.indexOf(QUOTE, start + 1); end >= 0; end = body.indexOf(QUOTE, end + 1)) {
    let backslashes = 0
    while (body[end - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return body.length
}
