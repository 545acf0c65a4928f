/** Finds the positions of texts and numbers in a JSON document. */
import { closingQuote } from '../core/json.js'

/** A field name or a value. */
export interface JsonText {
  /** A text: without its quotes. */
  readonly start: number
  readonly end: number
  readonly kind: 'text' | 'number'
  /** The path of the value; empty for names, and for values that are nested too deeply. */
  readonly path: readonly (string | number)[]
}

/** An object or array that has not ended yet, and the position in it. */
interface Container {
  readonly isList: boolean
  step: string | number
  /** Whether a name comes next. */
  awaitsName: boolean
}

const DEEPEST_PATH = 16

const newObject = (): Container => ({ isList: false, step: '', awaitsName: true })

function nextItem(container: Container | undefined): void {
  if (container?.isList) container.step = Number(container.step) + 1
  else if (container) container.awaitsName = true
}

/** `json` must be valid JSON. Errors in it are not detected. */
export function* jsonTexts(json: string): Generator<JsonText, void, void> {
  const containers: Container[] = []
  const signs = /["{}[\],]|-?\d[\d.eE+-]*/g

  function path(): JsonText['path'] {
    return containers.length > DEEPEST_PATH ? [] : containers.map(({ step }) => step)
  }

  function textAt(start: number, end: number, container: Container | undefined): JsonText {
    if (!container?.awaitsName) return { start, end, kind: 'text', path: path() }
    container.awaitsName = false
    container.step = JSON.parse(json.slice(start - 1, end + 1))
    return { start, end, kind: 'text', path: [] }
  }

  for (let sign = signs.exec(json); sign; sign = signs.exec(json)) {
    const start = sign.index
    switch (sign[0]) {
      case '{':
      case '[':
        containers.push(sign[0] === '{' ? newObject() : { isList: true, step: 0, awaitsName: false })
        break
      case '}':
      case ']':
        containers.pop()
        break
      case ',':
        nextItem(containers.at(-1))
        break
      case '"': {
        const end = closingQuote(json, start + 1)
        signs.lastIndex = end + 1
        yield textAt(start + 1, end, containers.at(-1))
        break
      }
      default:
        yield { start, end: signs.lastIndex, kind: 'number', path: path() }
    }
  }
}
