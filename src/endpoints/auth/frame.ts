/** The form of the auth backend's endpoints: who may ask, and how they answer. */

import { redirectTo } from '../../auth/addresses.js'
import { authenticate, requireAdmin, type SignedIn } from '../../auth/authenticate.js'
import type { Backend } from '../../auth/backend.js'
import { type Grant, tokenResponse } from '../../auth/sessions.js'
import type { Endpoint, Exchange, Reply } from '../../core/exchange.js'
import { AUTH } from '../../core/reserved.js'
import { jsonReply } from '../json-reply.js'
import { queryOf } from './params.js'

type Method = Endpoint['method']

/** An endpoint that anybody may ask who got past the gateway. */
export const forAnyone = (
  method: Method,
  path: string,
  reply: (exchange: Exchange) => Reply | Promise<Reply>,
): Endpoint => ({ method, path: `${AUTH}${path}`, access: 'anyone', takesBody: method !== 'GET', reply })

/** An endpoint for whoever sends a user token; refusals come before anything is read. */
export const forUser =
  (backend: Backend) =>
  (method: Method, path: string, reply: (exchange: Exchange, who: SignedIn) => Promise<Reply>): Endpoint =>
    forAnyone(method, path, async exchange => {
      const who = await authenticate(backend, exchange.authorization)
      const { id, email } = who.user
      exchange.caller = email === null ? { kind: 'user', id } : { kind: 'user', id, email }
      return reply(exchange, who)
    })

/** An endpoint for whoever sends the service key, or another token with an admin role. */
export const forAdmin =
  (backend: Backend) =>
  (method: Method, path: string, reply: (exchange: Exchange) => Promise<Reply>): Endpoint =>
    forAnyone(method, path, async exchange => {
      await requireAdmin(backend, exchange.authorization)
      exchange.caller = { kind: 'service' }
      return reply(exchange)
    })

/** What somebody who has signed in gets, with the headers that say who it is. */
export async function granted(backend: Backend, grant: Grant, more: GrantedMore = {}): Promise<Reply> {
  const { user, session, refreshToken } = grant
  const body = { ...(await tokenResponse(backend, grant)), ...more.body }
  const headers = [
    ...['sb-auth-user-id', user.id],
    ...['sb-auth-session-id', session.id],
    ...['sb-auth-refresh-token-prefix', refreshToken.slice(0, 5)],
    ...(more.headers ?? []),
  ]
  return { ...jsonReply(body), headers }
}

interface GrantedMore {
  readonly body?: object
  readonly headers?: readonly string[]
}

/** Where a link of this request's mail leads back to. */
export function redirectOf({ settings }: Backend, exchange: Exchange): string {
  const { redirect_to: header, referer } = exchange.headers
  return redirectTo(settings, [queryOf(exchange).get('redirect_to'), String(header ?? ''), referer])
}

/** The last part of the path, which stands for an id. */
export const idIn = ({ path }: Exchange) => decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))

/** A reply without a body. */
export const emptyReply = (status: number, headers: readonly string[] = []): Reply => ({
  kind: 'reply',
  status,
  contentType: '',
  body: '',
  headers,
})
