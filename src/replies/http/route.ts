/** The route of a rule: a method and a path pattern, such as `POST /builder/projects/:id/deploy`. */
import type { Caller } from '../../core/exchange.js'
import { AUTH, CONTROL, DASHBOARD, percentDecoded } from '../../core/paths.js'
import { chatCompletions } from '../../endpoints/chat-completions.js'
import { isDocumentedPath } from '../../endpoints/index.js'

/** The route of rules without `on`: chat completions. */
export const CHAT_ROUTE: string = `${chatCompletions.method} ${chatCompletions.path}`

const routeMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** One segment of a pattern: a text, any one segment (`:id`, or `{id}` as in OpenAPI), or all that follow (`*`, `*path`). */
export interface Segment {
  readonly kind: 'literal' | 'param' | 'rest'
  /** The text, or the name of the parameter; empty for a bare `*`. */
  readonly text: string
}

export interface Route {
  readonly method: string
  readonly segments: readonly Segment[]
}

/** The segments of a path, decoded. */
export const stepsOfPath = (path: string): readonly string[] => path.slice(1).split('/').map(percentDecoded)

/** Parses `on`, which must have passed `whyInvalidRoute`. */
export function routeOf(on: string): Route {
  const [method = '', path = ''] = on.split(' ')
  return { method, segments: stepsOfPath(path).map(segmentOf) }
}

function segmentOf(step: string): Segment {
  const [isParam, name, inBraces = ''] = /^:(.*)$|^\{(\w+)\}$/s.exec(step) ?? []
  if (isParam !== undefined) return { kind: 'param', text: name ?? inBraces }
  return step.startsWith('*') ? { kind: 'rest', text: step.slice(1) } : { kind: 'literal', text: step }
}

/** The path in the form of endpoints: `/builder/projects/{id}`. */
export const pathOf = ({ segments }: Route): string =>
  segments.map(({ kind, text }) => `/${kind === 'literal' ? text : `{${text || 'rest'}}`}`).join('')

/** The parameters of a route, read from the segments of a path. */
export function paramsIn({ segments }: Route, steps: readonly string[]): Readonly<Record<string, string>> {
  const named = segments.flatMap(({ kind, text }, i) => {
    if (kind === 'literal') return []
    return [[text || '*', kind === 'rest' ? steps.slice(i).join('/') : (steps[i] ?? '')] as const]
  })
  return Object.fromEntries(named)
}

/** Whether the pattern matches a path with these segments. */
export function matchesSteps({ segments }: Route, steps: readonly string[]): boolean {
  const isOpen = segments.at(-1)?.kind === 'rest'
  if (isOpen ? steps.length < segments.length : steps.length !== segments.length) return false
  return segments.every(({ kind, text }, i) =>
    kind === 'literal' ? text === steps[i] : kind === 'rest' || steps[i] !== '',
  )
}

const kindsInOrder: readonly Segment['kind'][] = ['literal', 'param', 'rest']

/** Sorts patterns that match the same path: a literal segment before a parameter, and that before `*`. */
export function bySpecificity(a: Route, b: Route): number {
  const rankOf = ({ segments }: Route, i: number) => kindsInOrder.indexOf(segments[i]?.kind ?? 'rest')
  const differing = a.segments.findIndex((_, i) => rankOf(a, i) !== rankOf(b, i))
  return differing < 0 ? 0 : rankOf(a, differing) - rankOf(b, differing)
}

/** Whether both patterns match some path and neither is more specific: `/a/:x` and `/:y/b`. */
export function areAmbiguous({ method, segments }: Route, other: Route): boolean {
  if (method !== other.method) return false
  const [mine, theirs] = [segments, other.segments]
  const isLonger = (one: readonly Segment[], other: readonly Segment[]) =>
    one.length > other.length && other.at(-1)?.kind !== 'rest'
  if (isLonger(mine, theirs) || isLonger(theirs, mine)) return false
  let [first, second] = [0, 0]
  for (let i = 0; i < Math.min(mine.length, theirs.length); i++) {
    const [a, b] = [mine[i], theirs[i]]
    if (!a || !b) break
    if (a.kind === 'literal' && b.kind === 'literal' && a.text !== b.text) return false
    if (a.kind === 'rest' || b.kind === 'rest') break
    if (a.kind === 'literal' && b.kind === 'param') first++
    if (a.kind === 'param' && b.kind === 'literal') second++
  }
  return first > 0 && second > 0
}

const standinPrefixes = [CONTROL, DASHBOARD, AUTH]

/** Whether the platform's document defines the path of a route. */
export const isDocumented = (on: string): boolean => isDocumentedPath(on.slice(on.indexOf(' ') + 1))

/** Why `on` is not a valid route, as the rest of a sentence that begins with it; `undefined` if it is valid. */
export function whyInvalidRoute(on: string): string | undefined {
  const [method = '', path = '', ...more] = on.split(' ')
  if (path.includes('?')) return 'has a query'
  if (more.length > 0 || !path.startsWith('/') || path.includes('#')) return 'is not a method and a path'
  if (!routeMethods.some(known => known === method)) return `does not begin with one of ${routeMethods.join(', ')}`
  const { segments } = routeOf(on)
  const names = segments.flatMap(({ kind, text }) => (kind === 'literal' ? [] : [text]))
  if (segments.some(({ kind, text }) => kind === 'param' && !/^\w+$/.test(text)))
    return 'has a parameter without a name'
  if (segments.some(({ kind, text }) => kind === 'literal' && /[{}]/.test(text))) return 'has braces in a segment'
  if (new Set(names).size < names.length) return 'has two parameters with the same name'
  if (segments.slice(0, -1).some(({ kind }) => kind === 'rest')) return 'has something after *'
  const prefix = standinPrefixes.find(prefix => path === prefix || path.startsWith(`${prefix}/`))
  if (prefix !== undefined) return `is below ${prefix}, which is Standin's own`
  // A pattern that matches every path would take over Standin's own.
  const [first] = segments
  return first?.kind === 'literal' || segments.length > 1 || first?.kind === 'param' ? undefined : 'matches every path'
}

/** A request for `standin replies try`. It is never sent. */
export interface TriedRequest {
  readonly method: string
  /** May include the query. */
  readonly path: string
  readonly query?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A text, or a value that becomes JSON. */
  readonly body?: unknown
  /** By default, a caller with access. */
  readonly caller?: Caller | undefined
  readonly scope?: string | undefined
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>
  param?: Node<T>
  /** The values whose pattern ends here, and those whose pattern ends here with `*`. */
  readonly values: T[]
  readonly rest: T[]
}

const newNode = <T>(): Node<T> => ({ literals: new Map(), values: [], rest: [] })

/** Finds values by path patterns. A path is looked up segment by segment, however many patterns there are. */
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
