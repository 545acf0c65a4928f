/** Decides what is forwarded between the client and the live platform: which paths and which headers. */
import type { IncomingHttpHeaders } from 'node:http'
import { headerIn } from '../../core/http.js'
import { withoutScope } from '../../scopes/baggage.js'

// Headers that are meant for a single connection (RFC 9110 §7.6.1).
const hopByHop = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
// The body was already read, so `expect` has no meaning. Host and length are set again. The others carry credentials
// for Standin.
const notForwarded = new Set([...hopByHop, 'expect', 'host', 'content-length', 'authorization', 'apikey', 'cookie'])

/** The prefix of headers that control this stand-in. They are not forwarded. */
const OWN_PREFIX = 'x-standin-'

const none: ReadonlySet<string> = new Set()

/** Further hop-by-hop headers, named by `Connection`. */
const namedIn = (connection: string | undefined): ReadonlySet<string> =>
  connection === undefined || connection === 'keep-alive' || connection === 'close'
    ? none
    : new Set(
        connection
          .toLowerCase()
          .split(',')
          .map(name => name.trim()),
      )

/** The request headers to forward, without any credential. */
export function forwardedHeaders(headers: IncomingHttpHeaders, body: Buffer | undefined): IncomingHttpHeaders {
  const named = namedIn(headers.connection)
  const forwarded: IncomingHttpHeaders = {}
  for (const name in headers) {
    if (!notForwarded.has(name) && !named.has(name) && !name.startsWith(OWN_PREFIX)) forwarded[name] = headers[name]
  }
  if (forwarded.baggage !== undefined) {
    const baggage = withoutScope(String(forwarded.baggage))
    if (baggage === '') delete forwarded.baggage
    else forwarded.baggage = baggage
  }
  // An empty body is sent with its length; a request without a body, like most GETs, without one.
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  if (body && hasBody) forwarded['content-length'] = String(body.length)
  return forwarded
}

/** The headers of an answer exactly as they arrived, as node's flat array, without hop-by-hop headers. */
export function withoutHopByHop(headers: readonly string[]): string[] {
  const named = namedIn(headerIn(headers, 'connection'))
  return headers.filter((_text, i) => {
    const name = headers[i - (i % 2)]?.toLowerCase() ?? ''
    return !hopByHop.has(name) && !named.has(name)
  })
}

/** Returns a copy in which `ours` replace headers of the same name. Names in `ours` must be lower-case. */
export function replaceHeaders(headers: readonly string[], ours: readonly string[]): string[] {
  if (ours.length === 0) return [...headers]
  const names = new Set(ours.filter((_, i) => i % 2 === 0))
  return [...headers.filter((_, i) => !names.has(headers[i - (i % 2)]?.toLowerCase() ?? '')), ...ours]
}

// RFC 3986 §6.2.2.3 removes dot segments. Before that, some servers treat %2f, %5c and "\" as slashes, servlets cut off
// everything after a ";", and others cut off everything after an encoded "#" or "?".
const slash = String.raw`(?:[/\\]|%2f|%5c)`
const dotSegment = new RegExp(`${slash}(?:\\.|%2e){1,2}(?:(?:[;#]|%3b|%23|%3f).*|${slash}.*)?$`, 'is')
/** A percent sign that was encoded several times. A server may decode it as often. */
const encodedPercent = /%(?:25)+/g

/** Whether an undecoded path contains `..` or similar segments in any encoding, or does not begin with a slash. */
export const isTraversal = (path: string): boolean =>
  !path.startsWith('/') || dotSegment.test(path.includes('%25') ? path.replace(encodedPercent, '%') : path)
