/** Sends undocumented requests and WebSockets with http-proxy-middleware: the only file that imports it. */
import { type AgentOptions, type ClientRequest, Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Request, Response } from 'express'
import { createProxyMiddleware, type Options, proxyEventsPlugin } from 'http-proxy-middleware'
import { upstreamTimeout } from '../../core/errors.js'
import { noBytes } from '../../core/http.js'
import { type ForwardProxy, proxyFor, proxyRefused, proxyUnreachable } from '../../outgoing/forward-proxy.js'
import { express } from '../express.js'
import { handshakeOf } from '../upgrades.js'
import type { LiveAddress, OnError, ProxiedRequest } from './proxied-request.js'
import { keepForJournal, sendAnswer, setOutcome } from './send-answer.js'

/** The proxied request of each request that the middleware has been given. */
type ProxiedBy = WeakMap<IncomingMessage, ProxiedRequest>

/** Returns a function that sends a proxied request. Unless connections are kept, each request gets its own. */
export function createMiddlewareClient(
  { origin, timeoutMs }: LiveAddress,
  { keepsConnections }: { readonly keepsConnections: boolean },
  onError: OnError,
): (proxied: ProxiedRequest) => void {
  const { protocol, hostname, port, host } = new URL(origin)
  const proxy = proxyFor(origin)
  // Node knows proxies from 22.21 and 24.5 on; its types do not know the option yet.
  const proxyEnv = proxy && { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url }
  const agentOptions = { keepAlive: keepsConnections, timeout: timeoutMs, proxyEnv } as AgentOptions
  const proxiedBy: ProxiedBy = new WeakMap()
  const middleware = createProxyMiddleware({
    agent: protocol === 'https:' ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions),
    // By default, it would ignore this variable, which node's own client honours.
    secure: process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0',
    // The target and path are decided in proxy.ts. A URL has an IPv6 address in brackets; connecting needs it without.
    router: request => ({
      protocol,
      host,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      pathname: proxiedBy.get(request)?.target ?? '',
    }),
    ignorePath: true,
    pathFilter: () => true,
    selfHandleResponse: true,
    // The default plugins write a log, and answers to errors that are not the platform's.
    ejectPlugins: true,
    plugins: [proxyEventsPlugin],
    on: listenersFor({ proxiedBy, timeoutMs, proxy }, onError),
  })
  const app = express().disable('x-powered-by').use(middleware)

  return proxied => {
    const { request, response } = proxied.context
    const handshake = handshakeOf(request)
    proxiedBy.set(request, proxied)
    request.headers = proxied.headers
    if (handshake) middleware.upgrade(request, handshake.socket, noBytes)
    else app(request as Request, response as Response, error => proxied.fail(error))
  }
}

/** The error that names the proxy, if it could not be reached, or gave no connection. */
function errorOfProxy(proxy: ForwardProxy, error: NodeJS.ErrnoException & { readonly statusCode?: number }) {
  const { code, syscall, statusCode } = error
  if (syscall === 'connect' || syscall === 'getaddrinfo') return proxyUnreachable(proxy, code ?? error.message)
  return code === 'ERR_PROXY_TUNNEL' && statusCode !== undefined ? proxyRefused(proxy, statusCode) : undefined
}

interface Listening {
  readonly proxiedBy: ProxiedBy
  readonly timeoutMs: number
  readonly proxy: ForwardProxy | undefined
}

/** The listeners to the middleware's events. It calls them only for requests that it has been given. */
function listenersFor({ proxiedBy, timeoutMs, proxy }: Listening, onError: OnError): NonNullable<Options['on']> {
  const find = (request: IncomingMessage) => proxiedBy.get(request) as ProxiedRequest
  return {
    proxyReq(upstream, request) {
      const proxied = find(request)
      watchConnection(proxied, upstream, timeoutMs)
      upstream.once('upgrade', (_answer, socket) => {
        socket.destroy()
        onError(proxied, new Error('no answer'))
      })
      // The request itself has been read to its end.
      upstream.end(proxied.context.exchange.body)
    },
    proxyRes(answer, request) {
      const proxied = find(request)
      // Only a proxy asks for credentials of its own. Without a tunnel, its answers look like those of the live platform.
      if (proxy && answer.statusCode === 407) onError(proxied, proxyRefused(proxy, 407))
      else forwardAnswer(proxied, answer, onError)
    },
    proxyReqWs(upstream, request) {
      const proxied = find(request)
      watchConnection(proxied, upstream, timeoutMs)
      upstream.once('upgrade', (answer, live) => followWebSocket(proxied, answer, live))
      upstream.once('response', answer => followRefusal(proxied, answer))
    },
    error: (error, request) => onError(find(request), (proxy && errorOfProxy(proxy, error)) ?? error),
  }
}

function watchConnection(proxied: ProxiedRequest, upstream: ClientRequest, timeoutMs: number): void {
  const { response } = proxied.context
  proxied.setConnection(() => upstream.destroy())
  proxied.isConnectionKept = upstream.reusedSocket
  if (proxied.isOver) return void upstream.destroy()
  upstream.on('timeout', () => {
    // The client reads slowly and so holds up the live platform. That does not count as silence.
    if (!response.writableNeedDrain) proxied.breakOff(upstreamTimeout(timeoutMs))
  })
}

function forwardAnswer(proxied: ProxiedRequest, answer: IncomingMessage, onError: OnError): void {
  proxied.hasAnswerBegun = true
  proxied.hasWholeAnswer = () => answer.complete
  answer.once('error', error => onError(proxied, error))
  const { statusCode: status = 0, statusMessage: statusText, rawHeaders: headers } = answer
  const body = sendAnswer(proxied, { status, statusText, headers }, answer)
  answer.on('data', bytes => body?.add(bytes)).on('end', () => body?.end())
}

/** The middleware joins both connections of a WebSocket that the live platform has accepted. */
function followWebSocket(proxied: ProxiedRequest, answer: IncomingMessage, live: Duplex): void {
  const client = proxied.isOver ? undefined : handshakeOf(proxied.context.request)?.takeSocket()
  if (!client) return void live.destroy()
  proxied.setConnection(() => live.destroy())
  setOutcome(proxied, { status: 101, headers: answer.rawHeaders })
  live.once('close', () => client.destroySoon())
  // If neither side ended the connection, the WebSocket was cut off.
  live.once('end', () => endAnswer(proxied))
  client.once('end', () => endAnswer(proxied))
}

/** The middleware sends the answer of a live platform that does not accept a WebSocket. */
function followRefusal(proxied: ProxiedRequest, answer: IncomingMessage): void {
  handshakeOf(proxied.context.request)?.takeSocket()
  proxied.hasWholeAnswer = () => answer.complete
  setOutcome(proxied, { status: answer.statusCode ?? 0, headers: answer.rawHeaders })
  answer.on('data', bytes => keepForJournal(proxied, bytes)).on('end', () => endAnswer(proxied))
}

/** Ends the response beside the socket, which has sent nothing. */
function endAnswer(proxied: ProxiedRequest): void {
  proxied.completeAnswer()
  proxied.context.response.end()
}
