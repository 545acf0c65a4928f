/** Defines the auth backend's endpoints: who may call them, how they answer, and where links redirect to. */
import { methodNotAllowed } from '../../core/errors.js'
import { type Access, type Endpoint, type Exchange, userCaller } from '../../core/exchange.js'
import { isLoopback } from '../../core/origins.js'
import { AUTH } from '../../core/paths.js'
import { jsonReply, type Reply } from '../../core/reply.js'
import type { AuthSettings, Backend } from '../backend.js'
import { authenticate, requireAdmin, type SignedIn } from '../callers.js'
import { globExpression } from '../options.js'
import { type Grant, tokenResponse } from '../sessions.js'

type Answer = Reply | Promise<Reply>

/** Method and path below /auth/v1: `GET /user`. */
export type Place = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`

interface Definition {
  readonly at: Place
  reply(backend: Backend, exchange: Exchange): Answer
}

interface UserDefinition extends Pick<Definition, 'at'> {
  reply(backend: Backend, exchange: Exchange, who: SignedIn): Answer
}

export type EndpointMaker = (backend: Backend) => AuthEndpoint

export interface AuthEndpoint extends Endpoint {
  /** The callers that pass its own check. The line lets everyone through to it. */
  readonly admits: Access
}

/** An endpoint for any caller that the gateway lets through. */
export const forAnyone = (definition: Definition): EndpointMaker => endpoint(definition, 'anyone')

/** An endpoint for callers with a user token. Access is checked before anything is read. */
export function forUser({ at, reply }: UserDefinition): EndpointMaker {
  const checked: Definition['reply'] = async (backend, exchange) => {
    const who = await authenticate(backend, exchange.authorization)
    exchange.caller = userCaller(who.user.id, who.user.email)
    return reply(backend, exchange, who)
  }
  return endpoint({ at, reply: checked }, ['user'])
}

/** An endpoint for callers with the service key, or another token with an admin role. */
export function forAdmin({ at, reply }: Definition): EndpointMaker {
  const checked: Definition['reply'] = async (backend, exchange) => {
    await requireAdmin(backend, exchange.authorization)
    // The development keys are public, and with the public secret any page can create tokens.
    backend.origins.requireOwnAdmin(exchange.headers)
    exchange.caller = { kind: 'service' }
    return reply(backend, exchange)
  }
  return endpoint({ at, reply: checked }, ['service'])
}

function endpoint({ at, reply }: Definition, admits: Access): EndpointMaker {
  const [method, path] = at.split(' ') as [string, string]
  return backend => ({
    method,
    path: `${AUTH}${path}`,
    access: 'anyone',
    takesBody: method !== 'GET',
    admits,
    reply(exchange) {
      // Supabase does not support HEAD, and previewing a link must not use it up.
      if (exchange.method === 'HEAD') throw methodNotAllowed('HEAD', [method])
      return reply(noting(backend, exchange), exchange)
    },
  })
}

/** Notes on the exchange which message it sends. */
const noting = (backend: Backend, exchange: Exchange): Backend => ({
  ...backend,
  announce(message) {
    exchange.message ??= message.id
    backend.announce(message)
  },
})

export const queryOf = ({ query }: Exchange) => new URLSearchParams(query)

/** The session that a user gets after signing in, with headers that identify the user. `extra` is merged into the body. */
export async function sessionReply(
  backend: Backend,
  exchange: Exchange,
  grant: Grant,
  extra: object = {},
): Promise<Reply> {
  const { user, session, refreshToken } = grant
  exchange.caller = userCaller(user.id, user.email)
  return {
    ...jsonReply({ ...(await tokenResponse(backend, grant, exchange.ipAddress)), ...extra }),
    headers: [
      ...['sb-auth-user-id', user.id],
      ...['sb-auth-session-id', session.id],
      ...['sb-auth-refresh-token-prefix', refreshToken.slice(0, 5)],
    ],
  }
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
export const redirectReply = (address: string, status = 303): Reply =>
  emptyReply(status, ['location', address.replace(/[^\x21-\x7e]+/g, encodeURIComponent)])

type Destinations = Pick<AuthSettings, 'siteUrl' | 'uriAllowList'>

/** Where the link in this request's email redirects to. */
export function redirectOf({ settings }: Backend, exchange: Exchange): string {
  const { redirect_to: header, referer } = exchange.headers
  return redirectTo(settings, [header ? String(header) : (queryOf(exchange).get('redirect_to') ?? undefined), referer])
}

/** Returns the first of these addresses that a link may redirect to, or else the site's. */
export const redirectTo = (settings: Destinations, candidates: readonly (string | undefined)[]): string =>
  candidates.find(address => address !== undefined && mayRedirectTo(settings, address)) ?? settings.siteUrl

/** Schemes whose URLs run code, contain a document, or read a local file. */
const harmfulSchemes = /^(javascript|data|vbscript|blob|file|filesystem|about|view-source):$/

/** Links may lead to the site, to this machine, and to addresses on the allow list. */
function mayRedirectTo({ siteUrl, uriAllowList }: Destinations, address: string): boolean {
  // Browsers ignore these characters, so they could hide where an address leads.
  if (/[\0-\x20\x7f]/.test(address) || !URL.canParse(address)) return false
  const { protocol, host, hostname, port } = new URL(address)
  if (harmfulSchemes.test(protocol)) return false
  if (protocol === 'http:' || protocol === 'https:') {
    if (!showsItsHost(address, protocol, host)) return false
    const site = new URL(siteUrl)
    if (/^\d+\.\d+\.\d+\.\d+$|^\[/.test(hostname)) return isLoopback(hostname)
    if (site.protocol === protocol && site.hostname === hostname) {
      if (site.port === port || hostname === 'localhost') return true
    }
  }
  const [withoutFragment = ''] = address.split('#', 1)
  return uriAllowList.some(glob => globExpression(glob).test(withoutFragment))
}

/** Whether a web address shows its host openly: no user name before an @, no backslashes, no encoded numbers. */
function showsItsHost(address: string, protocol: string, host: string): boolean {
  const start = `${protocol}//${host}`
  return address.toLowerCase().startsWith(start) && /^(:\d*)?([/?#]|$)/.test(address.slice(start.length))
}
