/** Keeps something for each scope; the least recently used ones are forgotten. */

export interface ByScope<T> {
  readonly size: number
  /** What is kept for a scope, if anything is. */
  find(scope: string): T | undefined
  /** The same; where nothing is kept yet it is made. */
  get(scope: string): T
  /** Forgets one scope, or all where none is said. */
  forget(scope?: string): void
  all(): Iterable<T>
  keys(): Iterable<string>
}

/** Far more than tests run side by side. */
const MOST = 1000

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
