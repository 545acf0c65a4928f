/** CORS headers for pages of other origins (Fetch standard, "CORS protocol"), which may call the platform, but not the control API or the dashboard. */
import type { IncomingHttpHeaders } from 'node:http'
import { foreignHost, foreignOrigin } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Pages } from '../core/origins.js'

export interface Cors {
  /** Headers for responses to clients that are not web pages, as node's flat array. */
  readonly forNoOrigin: readonly string[]
  /** The CORS headers of a response, as node's flat array. */
  headersFor(origin: string | undefined): readonly string[]
}

const headersForAll = ['access-control-allow-origin', '*', 'access-control-expose-headers', '*']
const headersForNone = ['vary', 'Origin']

/** For the platform. Unless every page is allowed, the response names the origin of the request. */
export const createCors = (isAllowed: Pages): Cors => ({
  forNoOrigin: isAllowed === '*' ? headersForAll : headersForNone,
  headersFor(origin) {
    if (isAllowed === '*') return headersForAll
    if (origin === undefined || !isAllowed(origin)) return headersForNone
    return ['access-control-allow-origin', origin, 'access-control-expose-headers', '*', 'vary', 'Origin']
  },
})

/**
 * For the auth backend, with the headers that Supabase exposes to pages. They are listed by name, because `*` has no
 * meaning for a page that sends cookies (Fetch standard, "CORS protocol and credentials").
 */
export const createAuthCors = (isAllowed: Pages): Cors => ({
  forNoOrigin: headersForNone,
  headersFor(origin) {
    if (origin === undefined || (isAllowed !== '*' && !isAllowed(origin))) return headersForNone
    return [
      'access-control-allow-origin',
      origin,
      'access-control-allow-credentials',
      'true',
      'access-control-expose-headers',
      'X-Total-Count, Link, X-Supabase-Api-Version',
      'vary',
      'Origin',
    ]
  },
})

export const allMethods: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE']

/**
 * The headers of the answer to a preflight. Every path and method is allowed, so that a page can read the 404 of an
 * unknown path and the 405 of an unknown method. No credential is needed, since browsers send none with a preflight.
 */
function preflightHeaders(headers: IncomingHttpHeaders): readonly string[] {
  const requestedHeaders = headers['access-control-request-headers']
  return [
    'access-control-allow-methods',
    allMethods.join(', '),
    ...(requestedHeaders === undefined ? [] : ['access-control-allow-headers', requestedHeaders]),
    // Chromium asks for this before a page from the internet may call a server on this machine (Private Network Access).
    ...('access-control-request-private-network' in headers ? ['access-control-allow-private-network', 'true'] : []),
    'access-control-max-age',
    '600',
  ]
}

/** Whether an OPTIONS request is a browser's preflight. */
const isPreflight = (headers: IncomingHttpHeaders) =>
  headers.origin !== undefined && headers['access-control-request-method'] !== undefined

/** IP addresses and localhost cannot be rebound through DNS. */
const safeHost = /^(localhost|[\w-]+\.localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])(:\d+)?$/i

/**
 * Throws a 403 unless the request names this server by address (or by `ownHost`) and comes from one of our own pages or
 * from no page. A trusted caller, such as a container that sends the control token, may use another host name; a page
 * may not.
 */
export function refuseForeign({ host = '', origin }: IncomingHttpHeaders, ownHost: string, isTrusted = false): void {
  const name = host.replace(/:\d+$/, '')
  const isOwn = safeHost.test(host) || name.toLowerCase() === ownHost.toLowerCase()
  if (!isOwn && !(isTrusted && origin === undefined)) throw foreignHost()
  if (origin === undefined) return
  if (!URL.canParse(origin) || new URL(origin).host !== host) throw foreignOrigin()
}

type Methods = readonly string[] | undefined

/** The headers of the answer to OPTIONS; `undefined` if it is treated like any other request. */
export async function optionsHeaders(
  exchange: Exchange,
  surface: { methodsOf(exchange: Exchange): Methods | Promise<Methods> },
): Promise<Methods> {
  if (isPreflight(exchange.headers)) return preflightHeaders(exchange.headers)
  // RFC 9110 §9.3.7: "*" asks about the server as a whole.
  const methods = exchange.path === '*' ? allMethods : await surface.methodsOf(exchange)
  return methods && ['allow', methods.join(', ')]
}
