/** Defines the auth backend's endpoints: who may call them, and how they answer. */
import { methodNotAllowed } from '../../core/errors.js'
import { type Caller, type Endpoint, type Exchange, jsonReply, type Reply, userCaller } from '../../core/exchange.js'
import { AUTH } from '../../core/paths.js'
import type { MessageRow, Tables, UserRow } from '../../core/state.js'
import type { UserAddress } from '../addresses.js'
import { authenticate, requireAdmin, type SignedIn } from '../authenticate.js'
import type { Backend } from '../backend.js'
import { redirectTo } from '../destinations.js'
import type { UserWithMessages } from '../letters.js'
import { type Grant, tokenResponse } from '../sessions.js'
import { queryOf } from './params.js'
import { type About, operationOf } from './says.js'

/** Method and path below /auth/v1: `GET /user`. */
export type MethodAndPath = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`

type Answer = (exchange: Exchange) => Reply | Promise<Reply>

/** An endpoint for any caller that the gateway lets through. */
export const forAnyone = (at: MethodAndPath, about: About, reply: Answer): Endpoint => endpoint(at, about, [], reply)

/** `access` lists the kinds of caller that pass the endpoint's own check. */
function endpoint(at: MethodAndPath, about: About, access: readonly string[], reply: Answer): Endpoint {
  const [method, path] = at.split(' ') as [string, string]
  return {
    ...{ method, path: `${AUTH}${path}`, access: 'anyone', takesBody: method !== 'GET' },
    describe: () => operationOf(at, about, access),
    reply(exchange) {
      // Supabase does not support HEAD, and previewing a link must not use it up.
      if (exchange.method === 'HEAD') throw methodNotAllowed('HEAD', [method])
      return reply(exchange)
    },
  }
}

/** An endpoint for callers with a user token. Access is checked before anything is read. */
export const forUser =
  (backend: Backend) =>
  (at: MethodAndPath, about: About, reply: (exchange: Exchange, who: SignedIn) => Reply | Promise<Reply>): Endpoint =>
    endpoint(at, about, ['user'], async exchange => {
      const who = await authenticate(backend, exchange.authorization)
      exchange.caller = callerOf(who.user)
      return reply(exchange, who)
    })

/** An endpoint for callers with the service key, or another token with an admin role. */
export const forAdmin =
  (backend: Backend) =>
  (at: MethodAndPath, about: About, reply: Answer): Endpoint =>
    endpoint(at, about, ['service'], async exchange => {
      await requireAdmin(backend, exchange.authorization)
      // The development keys are public, and with the public secret any page can create tokens.
      backend.origins.requireOwnAdmin(exchange.headers)
      exchange.caller = { kind: 'service' }
      return reply(exchange)
    })

const callerOf = ({ id, email }: UserRow): Caller => userCaller(id, email)

/** The session that a user gets after signing in, with headers that identify the user. `extra` is merged into the body. */
export async function sessionReply(
  backend: Backend,
  exchange: Exchange,
  grant: Grant,
  extra: object = {},
): Promise<Reply> {
  const { user, session, refreshToken } = grant
  exchange.caller = callerOf(user)
  const headers = [
    ...['sb-auth-user-id', user.id],
    ...['sb-auth-session-id', session.id],
    ...['sb-auth-refresh-token-prefix', refreshToken.slice(0, 5)],
  ]
  return { ...jsonReply({ ...(await tokenResponse(backend, grant)), ...extra }), headers }
}

/** Where the link in this request's email redirects to. */
export function redirectOf({ settings }: Backend, exchange: Exchange): string {
  const { redirect_to: header, referer } = exchange.headers
  return redirectTo(settings, [header ? String(header) : (queryOf(exchange).get('redirect_to') ?? undefined), referer])
}

/** Announces messages that have been committed to the outbox. */
export function announce(backend: Backend, messages: readonly MessageRow[]): void {
  for (const message of messages) backend.announce(message)
}

/** Sends messages to the user with this address, if there is one, and announces them. */
export async function sendTo(
  backend: Backend,
  address: UserAddress,
  send: (tables: Tables, user: UserRow) => Promise<UserWithMessages | undefined>,
): Promise<readonly MessageRow[]> {
  const sent = await backend.state.write(async tables => {
    const [user] = await tables.users.find(address)
    return user && send(tables, user)
  })
  announce(backend, sent?.messages ?? [])
  return sent?.messages ?? []
}

/** A reply without a body. */
export const emptyReply = (status: number, headers: readonly string[] = []): Reply => ({
  kind: 'reply',
  status,
  contentType: '',
  body: '',
  headers,
})

/** Redirects a browser. Characters beyond ASCII, which a header cannot contain, are encoded. */
export const redirectReply = (address: string): Reply =>
  emptyReply(303, ['location', address.replace(/[^\x21-\x7e]+/g, encodeURIComponent)])
