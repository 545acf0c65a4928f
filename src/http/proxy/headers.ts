/** Decides which headers are forwarded between the client and the live platform, and which are hop-by-hop. */
import type { IncomingHttpHeaders } from 'node:http'
import type { LiveAnswer } from './live-answer.js'

// RFC 9110 §7.6.1: meant for a single connection.
const hopByHop = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
// The body has already been read, so there is nothing to expect; host and length are set again; the others are
// credentials for us.
const notForwarded = new Set([...hopByHop, 'expect', 'host', 'content-length', 'authorization', 'apikey', 'cookie'])

/** Headers that control this stand-in. They are not forwarded. */
const OURS = 'x-standin-'

const none: ReadonlySet<string> = new Set()

/** Further hop-by-hop headers, named by `Connection`. */
const namedInConnection = ({ connection }: Pick<IncomingHttpHeaders, 'connection'>): ReadonlySet<string> =>
  connection === undefined || connection === 'keep-alive' || connection === 'close'
    ? none
    : new Set(connection.toLowerCase().split(/ *, */))

/** The request headers to forward, without any credential. */
export function outgoing(headers: IncomingHttpHeaders, body: Buffer | undefined): IncomingHttpHeaders {
  const named = namedInConnection(headers)
  const kept: IncomingHttpHeaders = {}
  for (const name in headers) {
    if (!notForwarded.has(name) && !named.has(name) && !name.startsWith(OURS)) kept[name] = headers[name]
  }
  // No body is not the same as an empty one: most methods have no body at all.
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  if (body && hasBody) kept['content-length'] = String(body.length)
  return kept
}

/** The headers of an answer exactly as they arrived, as node's flat array, without hop-by-hop headers. */
export function withoutHops({ rawHeaders, headers }: Pick<LiveAnswer, 'rawHeaders' | 'headers'>): string[] {
  const named = namedInConnection(headers)
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const lower = name.toLowerCase()
    if (!hopByHop.has(lower) && !named.has(lower)) kept.push(name, rawHeaders[i + 1] ?? '')
  }
  return kept
}

/** A copy in which `ours` replace headers of the same name. Names in `ours` are lower-case. */
export function replaced(headers: readonly string[], ours: readonly string[]): string[] {
  if (ours.length === 0) return [...headers]
  const names = new Set(ours.filter((_, i) => i % 2 === 0))
  return [...headers.filter((_, i) => !names.has(headers[i - (i % 2)]?.toLowerCase() ?? '')), ...ours]
}
