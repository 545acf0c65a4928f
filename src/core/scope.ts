/** Scopes separate tests that share one server: the header that names the scope of a request, and a value for each scope. */
import type { Exchange } from './exchange.js'

/** The request header that names its scope. */
export const SCOPE_HEADER = 'x-standin-scope'

/** Whether an exchange began before the last reset of its scope, for example in a test that has ended. */
export type IsFromBeforeReset = (exchange: Pick<Exchange, 'scope' | 'startedMs'>) => boolean

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
