/** Finds the scope of a request: by its caller, its body, W3C baggage and a header. */
import { uptimeMs } from '../core/clock.js'
import type { Caller, Exchange } from '../core/exchange.js'
import { createByScope, type IsFromBeforeReset, SCOPE_HEADER } from '../core/scope.js'
import { scopeInBaggage } from './baggage.js'
import { type FindUsers, type ScopedUser, ScopedUsers } from './users.js'

export type Scopes = ReturnType<typeof createScopes>

/** What may name the scope of a request. `said` is what its body says of the user. */
type Clues = Pick<Exchange, 'caller' | 'headers'> & { readonly said?: readonly string[] }

/** `onSwitched` is called when API keys or users decide for the first time, or no longer. */
export function createScopes(onSwitched: () => void = () => {}, findUsers: FindUsers = async () => []) {
  /** The scopes of API keys, by the key's id. */
  const byKey = new Map<string, string>()
  const users = new ScopedUsers(findUsers)
  let allResetMs = 0
  const resetMs = createByScope(uptimeMs)
  /** A user's scope has other names, too. */
  const named = (name: string | undefined) => name && (users.scopeOf(name) ?? name)

  /** In the order in which they count. */
  const finders: Readonly<Record<string, (clues: Clues) => readonly (string | undefined)[]>> = {
    token: ({ caller }) => tokenHolder(caller).map(users.scopeOf),
    apiKey: ({ caller }) =>
      caller.kind === 'apiKey' ? [byKey.get(caller.id), ...[caller.owner, caller.email].map(users.scopeOf)] : [],
    body: ({ said = [] }) => said.map(users.scopeOf),
    baggage: ({ headers }) => [named(scopeInBaggage(headers.baggage))],
    header: ({ headers }) => [named(headers[SCOPE_HEADER]?.toString())],
  }

  return {
    byKey,
    users,
    /** Whether more than headers can decide. */
    dependOnCaller: () => byKey.size > 0 || users.areAny(),
    /** Sets the scope of a request: the first one that these sources name. */
    decide(exchange: Exchange, clues: Clues = exchange): void {
      const found = Object.entries(finders).flatMap(([by, find]) =>
        find(clues).flatMap(scope => (scope ? [{ by, scope }] : [])),
      )
      const [first] = found
      exchange.scope = first?.scope ?? ''
      const others = found.filter(({ scope }) => scope !== first?.scope)
      exchange.scopeCandidates = first && others.length > 0 ? [first, ...others] : undefined
    },
    /** Assigns the requests of a user to a scope, and returns its name. */
    follow(user: ScopedUser, name?: string): string {
      const scope = users.follow(user, name)
      onSwitched()
      return scope
    },
    /** The requests of its users no longer belong to the scope. */
    unfollow(scope: string): void {
      users.unfollow(scope)
      onSwitched()
    },
    /** Assigns requests with this API key to `scope`. */
    bind(keyId: string, scope: string): void {
      byKey.set(keyId, scope)
      if (byKey.size === 1) onSwitched()
    },
    /** Notes when a scope is reset; without a scope, when everything is. */
    beginReset(scope?: string): void {
      resetMs.forget(scope)
      if (scope === undefined) allResetMs = uptimeMs()
      else resetMs.get(scope)
    },
    isFromBeforeReset: (({ scope, startedMs }) =>
      startedMs < (resetMs.find(scope) ?? allResetMs)) satisfies IsFromBeforeReset,
  }
}

/** The id and the address of the user whose token was sent, also if it was refused. */
function tokenHolder(caller: Caller): readonly (string | undefined)[] {
  if (caller.kind === 'user') return [caller.id, caller.email]
  return caller.kind === 'refused' && caller.tried.kind === 'token' ? [caller.tried.email] : []
}
