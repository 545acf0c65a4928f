/** Finds a request's scope by more than its headers and its caller. */
import { anonymous, type Caller, type Exchange } from '../core/exchange.js'
import { isObject, jsonOf } from '../core/json.js'
import { asksAnyModel } from '../core/paths.js'
import type { Identify } from '../keys/identify.js'
import type { Scopes } from '../scopes/index.js'

export interface ScopeParts {
  readonly scopes: Scopes
  /** Identifies callers where access requires no caller, as at the auth backend, whose endpoints look for themselves. */
  readonly identifyAnyway?: Identify | undefined
}

/** Finds the endpoint among those of all scopes, since the caller may decide otherwise than the headers. */
export function enterAnyScope(
  exchange: Exchange,
  surface: { enter(exchange: Exchange): Caller | Promise<Caller> },
): Caller | Promise<Caller> {
  const { scope } = exchange
  exchange.scope = ''
  try {
    return surface.enter(exchange)
  } finally {
    exchange.scope = scope
  }
}

/** Finds the scope by the user that the body of a call to a model names, and by a credential that access did not require. */
export async function scopeByMore(exchange: Exchange, { scopes, identifyAnyway }: ScopeParts): Promise<void> {
  const { headers, authorization, caller } = exchange
  const said = scopes.users.areAny() ? usersIn(exchange) : []
  const identify = authorization !== undefined && caller.kind === 'anonymous' ? identifyAnyway : undefined
  if (said.length === 0 && !identify) return
  // Without a state there is no scope to find, and the request is refused elsewhere if it needs one.
  if (said.length > 0 && !said.some(scopes.users.scopeOf)) await scopes.users.lookUp().catch(() => {})
  const holder = async () => identify?.(authorization) ?? caller
  scopes.decide(exchange, { headers, said, caller: await holder().catch(() => anonymous) })
}

/** OpenAI's `safety_identifier`, and `user`, its predecessor. */
function usersIn({ method, path, endpoint, body }: Exchange): readonly string[] {
  if (!body || endpoint?.isConfigured || !asksAnyModel(method, path)) return []
  const sent = jsonOf(body)
  if (!isObject(sent)) return []
  return [sent.safety_identifier, sent.user].filter(said => typeof said === 'string' && said !== '') as string[]
}
