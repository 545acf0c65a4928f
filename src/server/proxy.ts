/** Carries requests to the live platform and its answers back. The one door of the package `http-proxy-middleware`. */
import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { pipeline } from 'node:stream'
import { createProxyMiddleware } from 'http-proxy-middleware'
import {
  adminStaysHere,
  type PlatformError,
  upstreamTimeout,
  upstreamUnreachable,
  upstreamUnreadable,
} from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'

export interface Upstream {
  /**
   * Carries one request over. Calls back once: with an error when nothing was sent to the client yet, with nothing when the
   * answer has left or was cut off. The exchange's outcome says which. `ours` are headers that go onto the answer in place of
   * live ones of the same name.
   */
  forward(request: IncomingMessage, response: ServerResponse, exchange: Exchange, done: Done, ours?: Ours): void
}

type Done = (error?: PlatformError) => void

/** Node's flat array, asked for when the answer is there. */
type Ours = () => readonly string[]

export interface ProxyOptions {
  readonly baseUrl: string
  readonly credentials: Credentials
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  /** What goes on an answer that names no origins itself, as node's flat array. */
  corsFor(origin: string | undefined): readonly string[]
}

/** How a request shows the live side who asks. */
interface Shown {
  /** In place of the caller's own. */
  readonly headers: Readonly<Record<string, string>>
  /** What stands behind the `?`, where it is not as it came. */
  readonly query?: string
}

export type Credentials = (exchange: Exchange) => Shown

/** The platform's: the live key in place of the caller's, by path; the app never holds it. None where the document shows none. */
export const platformCredentials =
  ({ apiKey, anonKey }: { readonly apiKey: string; readonly anonKey: string }): Credentials =>
  ({ path }) => {
    const credential = path.startsWith('/v1/') ? apiKey : path.startsWith('/api/v1') ? anonKey : ''
    return { headers: credential === '' ? {} : { authorization: `Bearer ${credential}` } }
  }

interface AuthKeys {
  /** Keys of this stand-in that mean no user. */
  readonly local: readonly string[]
  /** Keys of this stand-in's own admins. They stay here. */
  readonly admin: readonly string[]
  /** The live anon key; empty to leave every key as it came. */
  readonly live: string
}

/** The auth backend's: users show their own tokens, and the live anon key stands where the local one stood. Throws a 403 for admins'. */
export const authCredentials = ({ local, admin, live }: AuthKeys): Credentials => {
  const swapped = (key: string) => {
    if (admin.includes(key)) throw adminStaysHere()
    return live !== '' && local.includes(key) ? live : key
  }
  return ({ headers: { apikey, authorization }, query }) => ({
    headers: {
      ...(apikey !== undefined && { apikey: swapped(String(apikey)) }),
      ...(authorization !== undefined && {
        authorization: authorization.replace(/^bearer +(\S+)/i, (_whole, key) => `Bearer ${swapped(key)}`),
      }),
    },
    // Kong takes the key from the query as well.
    query: query.replace(/(?<=^|&)(apikey=)([^&]*)/g, (_whole, name, key) => name + swapped(decoded(key))),
  })
}

const decoded = (text: string) => new URLSearchParams(`key=${text}`).get('key') ?? text

// RFC 9110 §7.6.1: between two neighbours only.
const hopByHop = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
// The body is here already, so there is nothing to expect; host and length are written anew; the rest are credentials for us.
const notForwarded = new Set([...hopByHop, 'expect', 'host', 'content-length', 'authorization', 'apikey', 'cookie'])

/** Headers that tell this stand-in what to do; the live platform is none. */
const OURS = 'x-standin-'

/** How long a connection to the live platform is kept for the next request. */
const IDLE_CONNECTION_MS = 10_000

interface Passage {
  readonly exchange: Exchange
  readonly done: Done
  readonly ours: Ours | undefined
  upstream: ClientRequest | undefined
  timer: NodeJS.Timeout
  timedOut: boolean
}

/** Makes the way to `baseUrl`, and only there. */
export function createProxy(options: ProxyOptions): Upstream {
  const { baseUrl, firstByteTimeoutMs, idleTimeoutMs } = options
  const passages = new WeakMap<IncomingMessage, Passage>()
  const Agent = baseUrl.startsWith('https:') ? HttpsAgent : HttpAgent

  const middleware = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target: baseUrl,
    changeOrigin: true,
    // An idle connection ends by itself: nothing else ends those of a proxy that a reload has replaced.
    agent: new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS }),
    selfHandleResponse: true,
    on: {
      proxyReq(upstream, request) {
        const passage = passages.get(request)
        if (!passage) return
        passage.upstream = upstream
        // What ends without an answer and without an error: a change of protocol that nobody asked for, for one.
        upstream.once('close', () => {
          if (!passage.exchange.outcome) passage.done(reasonOf(passage, 'no answer'))
        })
        // The bytes exactly as they came; the request itself has been read to its end.
        upstream.end(passage.exchange.body)
      },
      proxyRes(answer, request, response) {
        const passage = passages.get(request)
        if (passage) carryBack(answer, request, response, passage)
      },
      error(error, request) {
        const passage = passages.get(request)
        if (!passage) return
        const { code = error.message } = error as NodeJS.ErrnoException
        passage.done(reasonOf(passage, code))
      },
    },
  })

  function reasonOf({ timedOut }: Passage, why: string): PlatformError {
    if (timedOut) return upstreamTimeout(firstByteTimeoutMs)
    // "HPE" is how node's parser begins the names of its errors.
    return why.startsWith('HPE_') ? upstreamUnreadable(why) : upstreamUnreachable(why)
  }

  function carryBack(
    answer: IncomingMessage,
    request: IncomingMessage,
    response: ServerResponse,
    passage: Passage,
  ): void {
    const { exchange, done } = passage
    const { statusCode: status = 0, statusMessage = '' } = answer
    // Node's parser lets pass what node's writer throws at.
    if (status < 200) {
      answer.destroy()
      return done(upstreamUnreadable(`status ${status}`))
    }
    const outcome = { status, source: 'live', error: undefined, complete: false }
    exchange.outcome = outcome
    // From here on it is silence that counts, and every byte ends it.
    clearTimeout(passage.timer)
    passage.timer = setTimeout(() => {
      // A client that reads slowly holds the live platform up: that is not its silence.
      if (response.writableNeedDrain) passage.timer.refresh()
      else answer.destroy()
    }, idleTimeoutMs)
    answer.on('data', () => passage.timer.refresh())

    const headers = replaced(withoutHops(answer), passage.ours?.() ?? [])
    if (answer.headers['access-control-allow-origin'] === undefined) {
      headers.push(...options.corsFor(request.headers.origin))
    }
    response.sendDate = answer.headers.date === undefined
    response.writeHead(status, statusMessage.replace(/[^\t\x20-\x7e\x80-\xff]/g, ''), headers)
    // Not with the first byte of the body: the first token of a stream may be seconds away.
    // Empty bytes rather than flushHeaders(), which would write the headers' letters as UTF-8 instead of as they came.
    response.write(Buffer.alloc(0))
    pipeline(answer, response, error => {
      outcome.complete = !error
      done()
    })
  }

  return {
    forward(request, response, exchange, done, ours) {
      const { headers, query = exchange.query } = options.credentials(exchange)
      let settled = false
      const passage: Passage = {
        exchange,
        done: error => {
          if (settled) return
          settled = true
          clearTimeout(passage.timer)
          done(error)
        },
        ours,
        upstream: undefined,
        timedOut: false,
        timer: setTimeout(() => {
          passage.timedOut = true
          passage.upstream?.destroy(new Error('first byte timeout'))
        }, firstByteTimeoutMs),
      }
      response.once('close', () => {
        // The client left before there was an answer; the middleware ends the request to the live platform.
        if (!exchange.outcome) passage.done()
      })
      // Eleven parties listen for its end: this file, httpxy, http-proxy-middleware and node's own pipeline.
      response.setMaxListeners(20)
      // The body is at hand, and `proxyReq` writes it: there is nothing that httpxy could pipe.
      request.pipe = destination => destination
      request.resume()
      request.url = request.url?.includes('?') ? `${exchange.path}?${query}` : exchange.path
      passages.set(request, passage)
      request.headers = { ...outgoing(request, exchange), ...headers }
      middleware(request, response, () => {})
    },
  }
}

/** Further headers that are meant for the neighbour alone. */
const namedInConnection = ({ connection = '' }: IncomingHttpHeaders) => new Set(connection.toLowerCase().split(/ *, */))

/** The headers of a request as the live platform is to see them, without any credential. */
function outgoing({ headers }: IncomingMessage, { body }: Exchange) {
  const named = namedInConnection(headers)
  const isForwarded = (name: string) => !notForwarded.has(name) && !named.has(name) && !name.startsWith(OURS)
  const kept = Object.entries(headers).filter(([name]) => isForwarded(name))
  return {
    ...Object.fromEntries(kept),
    ...(body && { 'content-length': String(body.length) }),
  }
}

/** The headers of an answer exactly as they came, without those that were meant for us alone. */
function withoutHops({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = namedInConnection(headers)
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const lower = name.toLowerCase()
    if (!hopByHop.has(lower) && !named.has(lower)) kept.push(name, rawHeaders[i + 1] ?? '')
  }
  return kept
}

/** Headers with `ours` in place of those that have the same names; ours are in small letters. */
function replaced(headers: string[], ours: readonly string[]): string[] {
  if (ours.length === 0) return headers
  const names = new Set(ours.filter((_, i) => i % 2 === 0))
  const isKept = (i: number) => !names.has(headers[i - (i % 2)]?.toLowerCase() ?? '')
  return [...headers.filter((_, i) => isKept(i)), ...ours]
}
