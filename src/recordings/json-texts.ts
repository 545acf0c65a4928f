/** Finds the positions of texts and numbers in a JSON document. */
import { closingQuote } from '../core/json.js'

/** A field name or a value. */
export interface JsonText {
  /** A text: without its quotes. */
  readonly start: number
  readonly end: number
  readonly kind: 'text' | 'number'
  /** The path of the value; empty for names, and for values that nest too deep. */
  readonly path: readonly (string | number)[]
}

/** The current position in an object or array. */
interface Container {
  readonly isList: boolean
  place: string | number
  /** Whether a name comes next. */
  awaitsName: boolean
}

const DEEPEST_PATH = 16

const objectBegun = (): Container => ({ isList: false, place: '', awaitsName: true })

function goOn(inside: Container | undefined): void {
  if (inside?.isList) inside.place = Number(inside.place) + 1
  else if (inside) inside.awaitsName = true
}

/** `json` must be valid, because mistakes are not detected. */
export function* jsonTexts(json: string): Generator<JsonText, void, void> {
  const open: Container[] = []
  const signs = /["{}[\],]|-?\d[\d.eE+-]*/g

  function path(): JsonText['path'] {
    return open.length > DEEPEST_PATH ? [] : open.map(({ place }) => place)
  }

  function textAt(start: number, end: number, inside: Container | undefined): JsonText {
    if (!inside?.awaitsName) return { start, end, kind: 'text', path: path() }
    inside.awaitsName = false
    inside.place = JSON.parse(json.slice(start - 1, end + 1))
    return { start, end, kind: 'text', path: [] }
  }

  for (let sign = signs.exec(json); sign; sign = signs.exec(json)) {
    const start = sign.index
    switch (sign[0]) {
      case '{':
      case '[':
        open.push(sign[0] === '{' ? objectBegun() : { isList: true, place: 0, awaitsName: false })
        break
      case '}':
      case ']':
        open.pop()
        break
      case ',':
        goOn(open.at(-1))
        break
      case '"': {
        const end = closingQuote(json, start + 1)
        signs.lastIndex = end + 1
        yield textAt(start + 1, end, open.at(-1))
        break
      }
      default:
        yield { start, end: signs.lastIndex, kind: 'number', path: path() }
    }
  }
}
