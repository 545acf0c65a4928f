/** Scopes keep tests apart that share one server: which scope a request belongs to, and what is kept for each. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import type { Exchange } from './exchange.js'

/** The header of a request that names its scope. */
export const SCOPE_HEADER = 'x-standin-scope'

/** Names a scope in a query. */
export const scopeQuery = closed({ scope: optional(v.string('text'), 'The scope; all of them without it.') })

export interface Scopes {
  /** Whether any API key belongs to a scope. */
  areBound(): boolean
  /** The scope that the request's header has named, or the one of its API key; the empty one where neither does. */
  of(exchange: Pick<Exchange, 'scope' | 'caller'>): string
  /** From now on requests with this API key belong to `scope`. */
  bind(keyId: string, scope: string): void
}

/** `onBound` is called when the first key is bound. */
export function createScopes(onBound: () => void = () => {}): Scopes {
  const byKey = new Map<string, string>()
  return {
    of({ scope, caller }) {
      if (scope !== '') return scope
      return (caller.kind === 'apiKey' ? byKey.get(caller.id) : undefined) ?? ''
    },
    areBound: () => byKey.size > 0,
    bind(keyId, scope) {
      byKey.set(keyId, scope)
      if (byKey.size === 1) onBound()
    },
  }
}

export interface ByScope<T> {
  readonly size: number
  /** What is kept for a scope, if anything is. */
  find(scope: string): T | undefined
  /** The same; where nothing is kept yet it is made. */
  get(scope: string): T
  /** Forgets one scope, or all if none is given. */
  forget(scope?: string): void
  all(): Iterable<T>
  keys(): Iterable<string>
}

/** Far more than tests run side by side. */
const MOST = 1000

/** Keeps something for each scope; the least recently used ones are forgotten. */
export function createByScope<T>(make: (scope: string) => T, most = MOST): ByScope<T> {
  /** The one that was used last stands last. */
  const kept = new Map<string, T>()
  let last: { readonly scope: string; readonly value: T } | undefined

  function find(scope: string): T | undefined {
    // Often it is the scope of the call before, and then nothing has to be moved.
    if (last?.scope === scope) return last.value
    const value = kept.get(scope)
    return value === undefined ? undefined : use(scope, value)
  }

  function use(scope: string, value: T): T {
    kept.delete(scope)
    kept.set(scope, value)
    last = { scope, value }
    return value
  }

  return {
    get size() {
      return kept.size
    },
    find,
    get(scope) {
      const there = find(scope)
      if (there !== undefined) return there
      if (kept.size >= most) kept.delete(kept.keys().next().value ?? '')
      return use(scope, make(scope))
    },
    forget(scope) {
      if (scope === undefined) kept.clear()
      else kept.delete(scope)
      last = undefined
    },
    all: () => kept.values(),
    keys: () => kept.keys(),
  }
}
