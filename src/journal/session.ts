/** Which session of Supabase Auth a request belongs to, and which tokens it used or got, without the tokens. */
import type { Exchange } from '../core/exchange.js'
import { bearerTokenIn, headerIn, replyBytes } from '../core/http.js'
import { isObject, jsonOf, unverifiedFields } from '../core/json.js'
import { AUTH, isAuth } from '../core/paths.js'
import { digestOf } from '../core/secrets.js'

/** Tells tokens apart, and is of no other use: a part of the digest of a random text. */
const MARK_LENGTH = 12
const markOf = (token: string) => digestOf(token).slice(0, MARK_LENGTH)

/** Whatever else a token says is not shown, since nobody has verified it. */
const isId = (value: unknown): value is string => typeof value === 'string' && /^[\da-f-]{36}$/i.test(value)
const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined)

function tokenFacts(token: string) {
  const { session_id: id, sub: user, exp } = unverifiedFields(token.split('.')[1])
  if (!isId(id) || !isId(user)) return undefined
  return { id, user, token: markOf(token), expiresAt: Number.isSafeInteger(exp) ? Number(exp) : 0 }
}

/** The session that an answer grants: in its JSON, or in the fragment of the address to which it redirects. */
function grantIn({ path, outcome }: Exchange) {
  const { answer } = outcome ?? {}
  if (!isAuth(path) || !answer || (outcome?.status ?? 0) >= 400) return undefined
  const location = headerIn(answer.headers ?? [], 'location')
  const bytes = answer.kind === 'upstream' ? Buffer.concat(answer.beginning) : replyBytes(answer)
  const fields =
    location === undefined ? jsonOf(bytes) : Object.fromEntries(new URLSearchParams(location.split('#')[1]))
  if (!isObject(fields) || typeof fields.access_token !== 'string') return undefined
  const refreshToken = textIn(fields.refresh_token) ?? ''
  const facts = tokenFacts(fields.access_token)
  return facts && { ...facts, refreshToken: markOf(refreshToken) }
}

/** `undefined` for a request without a session. */
export function sessionOf(exchange: Exchange) {
  const { path, authorization, body } = exchange
  const used = tokenFacts(bearerTokenIn(authorization))
  const params = path === `${AUTH}/token` && body ? jsonOf(body) : undefined
  const refreshToken = isObject(params) ? textIn(params.refresh_token) : undefined
  const granted = grantIn(exchange)
  if (!used && refreshToken === undefined && !granted) return undefined
  return {
    ...(used && { used }),
    ...(refreshToken !== undefined && { refreshToken: markOf(refreshToken) }),
    ...(granted && { granted }),
  }
}
