/** The stages of the line that find a request's scope by what its headers do not say. Only on the line while there are scopes of users. */
import type { Exchange } from '../core/exchange.js'
import { isObject, jsonOf } from '../core/json.js'
import { callsModel, isAuth } from '../core/paths.js'
import type { Identify } from '../keys/identify.js'
import type { Scopes } from '../scopes/index.js'
import type { ScopeSource } from '../scopes/options.js'
import type { Stage } from './stage.js'

export interface ScopeParts {
  readonly scopes: Scopes
  /** What may name a scope, in this order. */
  readonly scopesBy: readonly ScopeSource[]
  /** Identifies a user of the emulated auth backend, whose endpoints do this later, and for themselves. */
  readonly identifyUser?: Identify | undefined
}

/** Finds the scope of a request to the auth backend by its token. */
export const scopeByToken =
  ({ scopes, scopesBy, identifyUser }: ScopeParts): Stage =>
  (next, { when }) =>
  context => {
    const { exchange } = context
    const { authorization } = exchange
    if (!identifyUser || !authorization || !isAuth(exchange.path)) return next(context)
    const identified = (async () => identifyUser(authorization))().catch(() => exchange.caller)
    when(context, identified, caller => {
      scopes.decide(exchange, scopesBy, { headers: exchange.headers, caller })
      next(context)
    })
  }

/** Finds the scope of a call to a model by the user that its body names. */
export const scopeByBody =
  ({ scopes, scopesBy }: ScopeParts): Stage =>
  (next, { when }) =>
  context => {
    const { exchange } = context
    const said = scopesBy.includes('body') ? usersIn(exchange) : []
    if (said.length === 0) return next(context)
    // Without a state there is no scope to find, and the request is refused elsewhere if it needs one.
    const known = said.some(scopes.users.scopeOf) ? undefined : scopes.users.lookUp().catch(() => {})
    when(context, known, () => {
      scopes.decide(exchange, scopesBy, { headers: exchange.headers, caller: exchange.caller, said })
      next(context)
    })
  }

/** OpenAI's `safety_identifier`, and `user`, its predecessor. */
function usersIn({ method, path, endpoint, body }: Exchange): readonly string[] {
  if (!body || endpoint?.isConfigured || !callsModel(method, path)) return []
  const sent = jsonOf(body)
  if (!isObject(sent)) return []
  return [sent.safety_identifier, sent.user].filter(said => typeof said === 'string' && said !== '') as string[]
}
