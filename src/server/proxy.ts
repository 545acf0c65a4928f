/** Carries requests to the live platform and its answers back. The one door of the package `http-proxy-middleware`. */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { pipeline } from 'node:stream'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { type PlatformError, upstreamTimeout, upstreamUnreachable } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'

export interface Upstream {
  /**
   * Carries one request over. Calls back once: with an error when nothing was sent to the client yet, with nothing when the
   * answer has left or was cut off. The exchange's outcome says which.
   */
  forward(request: IncomingMessage, response: ServerResponse, exchange: Exchange, done: Done): void
}

type Done = (error?: PlatformError) => void

export interface ProxyOptions {
  readonly baseUrl: string
  /** Sent instead of the caller's credential on /v1; the app never holds the live one. */
  readonly apiKey: string
  /** Sent instead of the caller's credential on /api/v1. */
  readonly anonKey: string
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  /** What goes on an answer that names no origins itself, as node's flat array. */
  corsFor(origin: string | undefined): readonly string[]
}

// RFC 9110 §7.6.1: between two neighbours only. `expect` too: the body is here already; `host` is the live platform's own.
const hopByHop = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
const notForwarded = new Set([...hopByHop, 'expect', 'host', 'content-length', 'authorization', 'apikey', 'cookie'])

interface Passage {
  readonly exchange: Exchange
  readonly done: Done
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
    agent: new Agent({ keepAlive: true }),
    selfHandleResponse: true,
    on: {
      proxyReq(upstream, request) {
        const passage = passages.get(request)
        if (!passage) return
        passage.upstream = upstream
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
        passage.done(passage.timedOut ? upstreamTimeout(firstByteTimeoutMs) : upstreamUnreachable(code))
      },
    },
  })

  function carryBack(
    answer: IncomingMessage,
    request: IncomingMessage,
    response: ServerResponse,
    passage: Passage,
  ): void {
    const { exchange, done } = passage
    const outcome = { status: answer.statusCode ?? 502, source: 'live', error: undefined, complete: false }
    exchange.outcome = outcome
    // From here on it is silence that counts, and every byte ends it.
    clearTimeout(passage.timer)
    passage.timer = setTimeout(() => {
      // A client that reads slowly holds the live platform up: that is not its silence.
      if (response.writableNeedDrain) passage.timer.refresh()
      else answer.destroy()
    }, idleTimeoutMs)
    answer.on('data', () => passage.timer.refresh())

    const headers = withoutHops(answer)
    if (answer.headers['access-control-allow-origin'] === undefined) {
      headers.push(...options.corsFor(request.headers.origin))
    }
    response.sendDate = answer.headers.date === undefined
    response.writeHead(outcome.status, answer.statusMessage, headers)
    // Not with the first byte of the body: the first token of a stream may be seconds away.
    // Empty bytes rather than flushHeaders(), which would write the headers' letters as UTF-8 instead of as they came.
    response.write(Buffer.alloc(0))
    pipeline(answer, response, error => {
      outcome.complete = !error
      done()
    })
  }

  return {
    forward(request, response, exchange, done) {
      let settled = false
      const passage: Passage = {
        exchange,
        done: error => {
          if (settled) return
          settled = true
          clearTimeout(passage.timer)
          done(error)
        },
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
      const query = request.url?.indexOf('?') ?? -1
      request.url = query < 0 ? exchange.path : exchange.path + request.url?.slice(query)
      passages.set(request, passage)
      request.headers = outgoing(request, exchange, options)
      middleware(request, response, () => {})
    },
  }
}

/** The headers of a request as the live platform is to see them: its own credential in place of the caller's. */
function outgoing({ headers }: IncomingMessage, { path, body }: Exchange, { apiKey, anonKey }: ProxyOptions) {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/ *, */),
  )
  const kept = Object.entries(headers).filter(([name]) => !notForwarded.has(name) && !named.has(name))
  const credential = path.startsWith('/v1/') ? apiKey : anonKey
  return {
    ...Object.fromEntries(kept),
    ...(body && { 'content-length': String(body.length) }),
    ...(credential !== '' && { authorization: `Bearer ${credential}` }),
  }
}

/** The headers of an answer exactly as they came, without those that were meant for us alone. */
function withoutHops({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/ *, */),
  )
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const lower = name.toLowerCase()
    if (!hopByHop.has(lower) && !named.has(lower)) kept.push(name, rawHeaders[i + 1] ?? '')
  }
  return kept
}
