/** Says which headers pass between the client and the live side, and which are for neighbours only. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

// RFC 9110 §7.6.1: between two neighbours only.
const hopByHop = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
// The body is here already, so there is nothing to expect; host and length are set again; the rest are credentials for us.
const notForwarded = new Set([...hopByHop, 'expect', 'host', 'content-length', 'authorization', 'apikey', 'cookie'])

/** Headers that steer this stand-in; the live platform does not get them. */
const OURS = 'x-standin-'

const none: ReadonlySet<string> = new Set()

/** Further headers that are meant for the neighbour alone. */
const namedInConnection = ({ connection }: IncomingHttpHeaders): ReadonlySet<string> =>
  connection === undefined || connection === 'keep-alive' || connection === 'close'
    ? none
    : new Set(connection.toLowerCase().split(/ *, */))

/** The headers of a request as the live platform is to see them, without any credential. */
export function outgoing(headers: IncomingHttpHeaders, body: Buffer | undefined): IncomingHttpHeaders {
  const named = namedInConnection(headers)
  const kept: IncomingHttpHeaders = {}
  for (const name in headers) {
    if (!notForwarded.has(name) && !named.has(name) && !name.startsWith(OURS)) kept[name] = headers[name]
  }
  // Nothing is not the same as an empty body: most methods have no body at all.
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  if (body && hasBody) kept['content-length'] = String(body.length)
  return kept
}

/** The headers of an answer exactly as they came, as node's flat array, without those that were meant for us alone. */
export function withoutHops({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = namedInConnection(headers)
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const lower = name.toLowerCase()
    if (!hopByHop.has(lower) && !named.has(lower)) kept.push(name, rawHeaders[i + 1] ?? '')
  }
  return kept
}

/** A copy of node's flat array without the headers of these names, which are in small letters. */
export const without = (headers: readonly string[], names: ReadonlySet<string>): string[] =>
  headers.filter((_, i) => !names.has(headers[i - (i % 2)]?.toLowerCase() ?? ''))

/** A copy with `ours` in place of those that have the same names; ours are in small letters. */
export function replaced(headers: readonly string[], ours: readonly string[]): string[] {
  if (ours.length === 0) return [...headers]
  return [...without(headers, new Set(ours.filter((_, i) => i % 2 === 0))), ...ours]
}
