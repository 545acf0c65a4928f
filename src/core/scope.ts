/** Keeps tests that share one server apart: each is a scope, and a request belongs to one. */
import type { IncomingHttpHeaders } from 'node:http'
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import type { Exchange } from './exchange.js'

/** The header of a request that names its scope. */
export const SCOPE_HEADER = 'x-standin-scope'

/** Names a scope in a query. */
export const scopeQuery = closed({ scope: optional(v.string('text'), 'The scope; all of them without it.') })

/** What is to be forgotten. */
export const resetCall = closed({
  scope: optional(v.string('text'), 'The scope; all of them without it.'),
  state: optional(v.boolean('true or false'), 'False to keep users, sessions, keys and messages.'),
})

/** The scope that a request's header names; the empty one without it. */
export function scopeNamed({ [SCOPE_HEADER]: named }: IncomingHttpHeaders): string {
  return typeof named === 'string' ? named : ''
}

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
