/** Finds values by path patterns. A path is looked up segment by segment, however many patterns there are. */
import type { Route } from './route.js'

interface Node<T> {
  readonly literals: Map<string, Node<T>>
  param?: Node<T>
  /** The values whose pattern ends here, and those whose pattern ends here with `*`. */
  readonly values: T[]
  readonly rest: T[]
}

const newNode = <T>(): Node<T> => ({ literals: new Map(), values: [], rest: [] })

export function createPathTree<T>() {
  const root = newNode<T>()
  return {
    put({ segments }: Pick<Route, 'segments'>, value: T): void {
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
    /** The values whose pattern matches, the most specific first: a literal segment before a parameter, and that before `*`. */
    find(steps: readonly string[]): readonly T[] {
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
