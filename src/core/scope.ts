/** Scopes separate tests that share one server: which scope a request belongs to, and what is kept for each. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import { passedMs } from './clock.js'
import type { Exchange } from './exchange.js'

/** The request header that names its scope. */
export const SCOPE_HEADER = 'x-standin-scope'

/** Names a scope in a query. */
export const scopeQuery = closed({ scope: optional(v.string('text'), 'The scope; without it, all scopes.') })

export type Scopes = ReturnType<typeof createScopes>

/** `onBound` is called when the first key is bound. */
export function createScopes(onBound: () => void = () => {}) {
  /** The scopes of API keys, by the key's id. */
  const byKey = new Map<string, string>()
  let allSinceMs = 0
  const sinceMs = createByScope(passedMs)
  return {
    byKey,
    /** The scope from the request's header, or that of its API key; empty if there is neither. */
    of({ scope, caller }: Pick<Exchange, 'scope' | 'caller'>): string {
      if (scope !== '') return scope
      return (caller.kind === 'apiKey' ? byKey.get(caller.id) : undefined) ?? ''
    },
    /** Assigns requests with this API key to `scope`. */
    bind(keyId: string, scope: string): void {
      byKey.set(keyId, scope)
      if (byKey.size === 1) onBound()
    },
    /** Notes that a reset of a scope begins; without one, that of everything. */
    begin(scope?: string): void {
      sinceMs.forget(scope)
      if (scope === undefined) allSinceMs = passedMs()
      else sinceMs.get(scope)
    },
    /** Whether an exchange began before its scope was last reset, as one that a test has left behind. */
    isPast: ({ scope, startedMs }: Pick<Exchange, 'scope' | 'startedMs'>) =>
      startedMs < (sinceMs.find(scope) ?? allSinceMs),
  }
}

/** Far more than tests run in parallel. */
const MOST = 1000

/** Keeps a value for each scope. The least recently used ones are dropped. */
export function createByScope<T>(make: (scope: string) => T, most = MOST) {
  /** The most recently used one is last. */
  const kept = new Map<string, T>()
  let last: { readonly scope: string; readonly value: T } | undefined

  /** The value for a scope, if there is one. */
  function find(scope: string): T | undefined {
    // Often it is the scope of the previous call, and nothing has to be moved.
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
    find,
    /** The value for a scope, created if there is none. */
    get(scope: string): T {
      const there = find(scope)
      if (there !== undefined) return there
      if (kept.size >= most) kept.delete(kept.keys().next().value ?? '')
      return use(scope, make(scope))
    },
    /** Removes the value of one scope, or of all if none is given. */
    forget(scope?: string): void {
      if (scope === undefined) kept.clear()
      else kept.delete(scope)
      last = undefined
    },
    all: () => kept.values(),
    keys: () => kept.keys(),
  }
}
