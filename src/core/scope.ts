/** Keeps tests that share one server apart: each is a scope, and a request belongs to one. */
import type { Exchange } from './exchange.js'

const HEADER = 'x-standin-scope'

export interface Scopes {
  /** The scope that the request's header names, or the one of its API key; the empty one where neither does. */
  of(exchange: Pick<Exchange, 'headers' | 'caller'>): string
  /** From now on requests with this API key belong to `scope`. */
  bind(keyId: string, scope: string): void
}

export function createScopes(): Scopes {
  const byKey = new Map<string, string>()
  return {
    of({ headers, caller }) {
      const named = headers[HEADER]
      if (typeof named === 'string') return named
      return (byKey.size > 0 && caller.kind === 'apiKey' ? byKey.get(caller.id) : undefined) ?? ''
    },
    bind: (keyId, scope) => void byKey.set(keyId, scope),
  }
}
