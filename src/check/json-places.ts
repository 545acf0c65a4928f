/** Where something stands in a text of JSON. Like `jsonc-parser` itself, only loaded for a file that may be wrong. */
import { findNodeAtLocation, type JSONVisitor, type Node, parseTree, visit } from 'jsonc-parser'
import type { Path } from './check.js'

/** Both count from 1. */
interface TextPlace {
  readonly line: number
  readonly column: number
}

/** Where a text stops being JSON: not every message of JSON.parse says so. `undefined` for JSON. */
export function placeOfMistake(text: string): TextPlace | undefined {
  let place: TextPlace | undefined
  const onError: JSONVisitor['onError'] = (_code, _offset, _length, line, column) => {
    place ??= { line: line + 1, column: column + 1 }
  }
  ifNotTooDeep(() => visit(text, { onError }, { disallowComments: true }))
  return place
}

/** Where the value at each path stands in a JSON document, or what is around it if there is none; in their order. */
export function placesOf(json: string, paths: readonly Path[]): readonly TextPlace[] {
  const root = paths.length === 0 ? undefined : ifNotTooDeep(() => parseTree(json))
  return paths.map(path => placeAt(json, root ? nearestNode(root, path).offset : 0))
}

/** The library follows a document by recursion. In one nested too deeply for that, a mistake is named without its place. */
function ifNotTooDeep<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function nearestNode(root: Node, path: Path): Node {
  const found = findNodeAtLocation(root, [...path])
  return found ?? nearestNode(root, path.slice(0, -1))
}

function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
}
