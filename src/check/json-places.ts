/** Finds positions in a JSON text. Loaded, like `jsonc-parser`, only for a file that may have mistakes. */
import { findNodeAtLocation, type JSONVisitor, type Node, parseTree, visit } from 'jsonc-parser'
import type { Mistake, Path } from './check.js'
import { type Problem, ProblemsError } from './problem.js'
import type { Position } from './yaml.js'

/** Parses a JSON file. Throws a ProblemsError without the parser's message, which quotes the text, and that may be a secret. */
export function jsonFrom(
  text: string,
  origin: string,
  files: readonly string[] = [],
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  try {
    return parse(text)
  } catch {
    throw new ProblemsError([{ origin, ...placeOfMistake(text), sentence: 'This is not valid JSON.' }], files)
  }
}

/** Adds file, line and column to mistakes. */
export function withPlaces(mistakes: readonly Mistake[], json: string, origin: string): readonly Problem[] {
  const places = placesOf(
    json,
    mistakes.map(({ path }) => path),
  )
  return mistakes.map(({ sentence }, i) => ({ origin, ...places[i], sentence }))
}

/** The position of the first JSON mistake, which not every message of JSON.parse contains; `undefined` for valid JSON. */
export function placeOfMistake(text: string): Position | undefined {
  let place: Position | undefined
  const onError: JSONVisitor['onError'] = (_code, _offset, _length, line, column) => {
    place ??= { line: line + 1, column: column + 1 }
  }
  ifNotTooDeep(() => visit(text, { onError }, { disallowComments: true }))
  return place
}

/** The positions of the values at these paths, in order. For a missing value, the position of what surrounds it. */
export function placesOf(json: string, paths: readonly Path[]): readonly Position[] {
  const root = paths.length === 0 ? undefined : ifNotTooDeep(() => parseTree(json))
  return paths.map(path => placeAt(json, root ? nearestNode(root, path).offset : 0))
}

/** The library is recursive. In documents that are nested too deeply, mistakes are reported without a position. */
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

function placeAt(text: string, offset: number): Position {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
}
