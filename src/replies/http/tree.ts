/** Finds values by patterns of paths: a path is looked up step by step, however many patterns there are. */
import type { Route } from './route.js'

export interface PathTree<T> {
  put(route: Pick<Route, 'segments'>, value: T): void
  /** The values whose pattern a path has: a step that is written out comes before a parameter, and that before all that follow. */
  at(steps: readonly string[]): readonly T[]
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>
  param?: Node<T>
  /** Those whose pattern ends here, and those that end here with `*`. */
  readonly values: T[]
  readonly rest: T[]
}

const newNode = <T>(): Node<T> => ({ literals: new Map(), values: [], rest: [] })

export function createPathTree<T>(): PathTree<T> {
  const root = newNode<T>()
  return {
    put({ segments }, value) {
      let node = root
      for (const { kind, text } of segments) {
        if (kind === 'rest') return void node.rest.push(value)
        let next = kind === 'param' ? node.param : node.literals.get(text)
        if (!next) {
          next = newNode()
          if (kind === 'param') node.param = next
          else node.literals.set(text, next)
        }
        node = next
      }
      node.values.push(value)
    },
    at(steps) {
      const found: T[] = []
      collect(root, steps, 0, found)
      return found
    },
  }
}

function collect<T>({ literals, param, values, rest }: Node<T>, steps: readonly string[], i: number, found: T[]): void {
  const step = steps[i]
  if (step === undefined) return void found.push(...values)
  const literal = literals.get(step)
  if (literal) collect(literal, steps, i + 1, found)
  if (param && step !== '') collect(param, steps, i + 1, found)
  found.push(...rest)
}
