/** Scopes separate tests that share one server: finds the scope of a request, and keeps a value for each scope. */
import * as v from 'valibot'
import { closed, optional } from '../check/forms.js'
import { uptimeMs } from './clock.js'
import type { Exchange } from './exchange.js'

/** The request header that names its scope. */
export const SCOPE_HEADER = 'x-standin-scope'

/** The schema of a query that names a scope. */
export const scopeQuery = closed({ scope: optional(v.string('a string'), 'The scope; without it, all scopes.') })

export type Scopes = ReturnType<typeof createScopes>

/** `onBound` is called when the first API key is bound to a scope. */
export function createScopes(onBound: () => void = () => {}) {
  /** The scopes of API keys, by the key's id. */
  const byKey = new Map<string, string>()
  let allResetMs = 0
  const resetMs = createByScope(uptimeMs)
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
    /** Notes when a scope is reset; without a scope, when everything is. */
    beginReset(scope?: string): void {
      resetMs.forget(scope)
      if (scope === undefined) allResetMs = uptimeMs()
      else resetMs.get(scope)
    },
    /** Whether an exchange began before the last reset of its scope, for example in a test that has ended. */
    isFromBeforeReset: ({ scope, startedMs }: Pick<Exchange, 'scope' | 'startedMs'>) =>
      startedMs < (resetMs.find(scope) ?? allResetMs),
  }
}

/** Far more than tests run in parallel. */
const MOST_SCOPES = 1000

/** Keeps a value for each scope, at most `most` of them. The least recently used ones are dropped. */
export function createByScope<T>(make: (scope: string) => T, most = MOST_SCOPES) {
  /** The most recently used value is last. */
  const values = new Map<string, T>()
  let last: { readonly scope: string; readonly value: T } | undefined

  /** The value for a scope, if there is one. */
  function find(scope: string): T | undefined {
    // Often the scope is that of the previous call, and nothing has to be moved.
    if (last?.scope === scope) return last.value
    const value = values.get(scope)
    return value === undefined ? undefined : use(scope, value)
  }

  function use(scope: string, value: T): T {
    values.delete(scope)
    values.set(scope, value)
    last = { scope, value }
    return value
  }

  return {
    find,
    /** The value for a scope, created if there is none. */
    get(scope: string): T {
      const value = find(scope)
      if (value !== undefined) return value
      if (values.size >= most) values.delete(values.keys().next().value ?? '')
      return use(scope, make(scope))
    },
    /** Removes the value of one scope, or of all if none is given. */
    forget(scope?: string): void {
      if (scope === undefined) values.clear()
      else values.delete(scope)
      last = undefined
    },
    all: () => values.values(),
    keys: () => values.keys(),
  }
}
